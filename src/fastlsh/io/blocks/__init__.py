"""Blocks: whole rows of a file, cut one after the other and cheaply, parsed by whichever thread.

    before = identity(source)
    for block in read_blocks(source):                  # in one thread
        documents = block.documents()          # in any thread; `parallel.ordered_map` does that
    ...
    with rows_writer(path, kind, compression, head) as writer:   # head: of the first file
        for block in reread_blocks(source, extents, bad, before):
            writer.write(block.rows(kept))     # rows() in any thread, write in order

A file gives at least one block, if only to carry its `Head`: the header of a CSV file, the schema
of a Parquet file. Bad rows are known by their numbers: `reread_blocks` is given
``{error.row for error in documents.bad}`` of all blocks of a file as `bad`, and flags are over the
other rows.

What is wrong with a file as a whole raises an `InputError` in `read_blocks`, after the blocks
before it: a truncated archive, a quote that is never closed, a missing column, a change while it
was read.
"""
