"""Parquet files that are damaged, encrypted, or have very many columns."""

import base64
from pathlib import Path

import numpy as np
import pytest

from fastlsh.io import InputError, read
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
        decoded = decoded_size(whole.metadata, 0, 1, file)
    assert decoded.most == pytest.approx(30 * 650, rel=0.1)
    assert len(opened) == 1


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize("name", ["a\nb", 'a"b', "😀", "a.b", "a,b"])
def test_odd_names_of_columns(run, here, name, engine):
    table = TABLE.rename_columns([name, "more"])
    parquet.write_table(table, "a.parquet")
    assert run("dedup", "a.parquet", "-o", "b.parquet", "--text", name, "--engine", engine)[0] == 0
    assert parquet.read_table("b.parquet").equals(table.filter(np.array([True, True, True, False])))
