"""Parquet files that are damaged, encrypted, or have very many columns."""

import base64
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from combinations import every
from fastlsh.io import InputError, read, read_blocks, write_rows
from fastlsh.io.blocks.row_groups import decoded_size
from files import put

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TABLE = pa.table({"text": ["one text", "a text", "middle", "one text"], "more": list("wxyz")})


@pytest.mark.parametrize("compression", ["none", "snappy"])
@pytest.mark.parametrize("dictionary", [False, True])
def test_a_flipped_bit_in_a_page_with_a_checksum(run, here, compression, dictionary):
    parquet.write_table(
        TABLE, "a.parquet", compression=compression, use_dictionary=dictionary,
        write_page_checksum=True,
    )  # fmt: skip
    data = bytearray(Path("a.parquet").read_bytes())
    data[data.index(b"middle") + 2] ^= 1  # which no statistics contain
    put("a.parquet", bytes(data))
    status, _, err = run("dedup", "a.parquet", "-o", "b.parquet")
    assert (status, len(err)) == (2, 1)
    assert err[0].startswith("fastlsh: a.parquet: ")
    assert "CRC checksum verification failed" in err[0]
    assert not Path("b.parquet").exists()


@pytest.mark.parametrize("plaintext_footer", [False, True])
def test_encrypted_files(here, plaintext_footer):
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):
        def __init__(self, _):
            super().__init__()

        def wrap_key(self, key, _):
            return base64.b64encode(key)

    factory = encryption.CryptoFactory(Keys)
    properties = factory.file_encryption_properties(
        encryption.KmsConnectionConfig(),
        encryption.EncryptionConfiguration(
            footer_key="footer", column_keys={"c": ["text"]}, plaintext_footer=plaintext_footer
        ),
    )
    with parquet.ParquetWriter(
        "a.parquet", TABLE.schema, encryption_properties=properties
    ) as writer:
        writer.write_table(TABLE)
    with pytest.raises(InputError, match=r"a\.parquet: encrypted Parquet cannot be read: decrypt"):
        read("a.parquet")


def test_dictionaries_of_many_columns_are_read_from_one_open_file(here):
    # To open a file takes time for each of its columns.
    values = pa.array(["a long value " * 50] * 20)
    parquet.write_table(pa.table({f"c{i}": values for i in range(30)}), "a.parquet")
    opened = []

    def file(metadata, **more):
        opened.append(parquet.ParquetFile("a.parquet", metadata=metadata, **more))
        return opened[-1]

    with parquet.ParquetFile("a.parquet") as whole:
        decoded = decoded_size(whole.metadata, 0, 1, file, whole.schema_arrow.names)
    assert decoded.most == pytest.approx(30 * 650, rel=0.1)
    assert len(opened) == 1


@pytest.mark.parametrize("engine", every(2, ["memory", "disk"], 1))
@pytest.mark.parametrize("name", ["a\nb", 'a"b', "😀", "a.b", "a,b"])
def test_odd_names_of_columns(run, here, name, engine):
    table = TABLE.rename_columns([name, "more"])
    parquet.write_table(table, "a.parquet")
    assert run("dedup", "a.parquet", "-o", "b.parquet", "--text", name, "--engine", engine)[0] == 0
    assert parquet.read_table("b.parquet").equals(table.filter(np.array([True, True, True, False])))


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary", "coded"])
@pytest.mark.parametrize("bad", [False, True])
def test_texts_in_memory_are_not_read_again(here, monkeypatch, kind, bad):
    """Whatever the texts are, the kept rows are those of the file."""
    texts = pa.array(["a", None, "", "b", "long " * 9, "c"] * 4)
    coded = kind == "coded"
    texts = texts.dictionary_encode() if coded else texts.cast(pa.type_for_alias(kind))
    ids = [None if bad and n == 7 else f"i{n}" for n in range(24)]
    table = pa.table({"more": range(24), "text": texts, "id": ids}, metadata={"of": "mine"})
    parquet.write_table(table, "a.parquet", row_group_size=6)
    found = read("a.parquet", id="id", on_error="skip")
    asked = []
    whole = parquet.ParquetFile.read_row_groups

    def recorded(file, groups, columns=None, **keywords):
        asked.append(columns)
        return whole(file, groups, columns=columns, **keywords)

    monkeypatch.setattr(parquet.ParquetFile, "read_row_groups", recorded)
    kept = np.arange(len(found)) % 3 != 1
    write_rows(found, kept, "b.parquet")
    rows = [n for n in range(24) if ids[n] is not None]
    written, all_rows = parquet.read_table("b.parquet"), table.to_pylist()
    assert written.schema.equals(parquet.read_schema("a.parquet"), check_metadata=True)
    wanted = [all_rows[row] for row, stays in zip(rows, kept, strict=True) if stays]
    assert written.to_pylist() == wanted
    as_it_is = kind in ("string", "large_string", "string_view") and not bad
    assert asked == ([["more", "id"]] if as_it_is else [None])


@pytest.mark.parametrize("layout", ["parts", "alone"])
def test_texts_in_memory_of_other_layouts(here, layout, monkeypatch):
    """A row group that is read in parts, and a file with nothing but texts."""
    texts = [f"{n} {'text ' * 200}" for n in range(2_000)]
    table = pa.table({"text": texts} if layout == "alone" else {"id": range(2_000), "text": texts})
    parquet.write_table(table, "a.parquet", row_group_size=2_000)
    monkeypatch.setattr("fastlsh.io.reading.read_blocks", partial(read_blocks, size=1 << 18))
    found = read("a.parquet")
    assert len(found.parts[0].extents) > 1
    kept = np.arange(2_000) % 5 != 2
    write_rows(found, kept, "b.parquet", threads=2)
    assert parquet.read_table("b.parquet").equals(table.filter(pa.array(kept)))
