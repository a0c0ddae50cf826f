"""Arrow files that are written."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastlsh.io.arrays import BatchWriter, Chunks, Dictionary, remade
from fastlsh.io.errors import pyarrow
from fastlsh.io.outputs import nameless_file, open_output


@contextmanager
def arrow_writer(path: str, schema: Any) -> Iterator[BatchWriter]:
    """Open an Arrow file for writing tables, whose rows make batches as `BatchWriter` says.

    Parameters and result as those of `parquet_writer`.

    Notes
    -----
    A file has one dictionary for each column, before all batches. So batches with dictionaries wait
    in a file without a name beside the output, and the values are kept in memory, without
    repetition.
    """
    pa, ipc = pyarrow(path), pyarrow(path, "pyarrow.ipc")
    dictionaries = {
        number: Dictionary(field.type)
        for number, field in enumerate(schema)
        if pa.types.is_dictionary(field.type)
    }
    plain = schema  # with the codes in dictionaries instead of the values
    for number in dictionaries:
        plain = plain.set(number, schema.field(number).with_type(pa.int64()))

    def batch(columns: Chunks) -> Any:
        arrays = [
            dictionaries[number].codes(chunks)
            if number in dictionaries
            else remade(chunks, fill=True)
            for number, chunks in enumerate(columns)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=plain)

    with open_output(path, None) as file, ipc.new_file(file, schema) as writer:
        if not dictionaries:
            batches = BatchWriter(lambda columns: writer.write_batch(batch(columns)))
            yield batches
            batches.flush()
            return
        with nameless_file(path) as waiting:
            with ipc.new_stream(waiting, plain) as stream:
                batches = BatchWriter(lambda columns: stream.write_batch(batch(columns)))
                yield batches
                batches.flush()
            waiting.seek(0)
            for columnar_batch in ipc.open_stream(waiting):
                arrays = columnar_batch.columns
                for number, dictionary in dictionaries.items():
                    arrays[number] = dictionary.array(arrays[number])
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
