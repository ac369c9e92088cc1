"""Parquet files whose pages ask for more memory than their footer says are refused before they are read."""

import io
import random
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rising_bandits as rb
from rising_bandits._parquet import check_pages
from rising_bandits.errors import InputError
from rising_bandits.experiments.stored import read_run
from rising_bandits.problems import curve_files

TABLE = pa.table(
    {
        "arm": ["a", "b"] * 5_000,
        "play": np.arange(10_000) % 97,
        "mean": np.linspace(0.0, 1.0, 10_000),
        "lists": [[1, 2], [3]] * 5_000,
        "gaps": [None, 1.5] * 5_000,
    }
)


def varint(value):
    """A number as Thrift writes it, of five bytes."""
    value <<= 1
    return bytes([value >> 7 * place & 0x7F | (0x80 if place < 4 else 0) for place in range(5)])


def lying(content, column, size):
    """The file with another size of the first page of a column in memory."""
    chunk = pq.read_metadata(pa.BufferReader(content)).row_group(0).column(column)
    at = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    assert content[at] == 0x15
    at += 1
    while content[at] & 0x80:
        at += 1
    at += 2
    end = at
    while content[end] & 0x80:
        end += 1
    return content[:at] + varint(size)[: end - at] + bytes([varint(size)[end - at] & 0x7F]) + content[end + 1 :]


def written(table=TABLE, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def check(content, columns=None):
    check_pages(io.BytesIO(content), pq.read_metadata(pa.BufferReader(content)), columns)


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "lz4", "none"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_whole_files_pass(compression, version, dictionary):
    content = written(
        compression=compression,
        data_page_version=version,
        use_dictionary=dictionary,
        data_page_size=2_000,
        row_group_size=3_000,
        write_page_index=dictionary,
        write_page_checksum=True,
    )
    check(content)
    check(content, ["mean"])


def test_files_of_other_writers_pass(tmp_path):
    import polars

    path = tmp_path / "a.parquet"
    polars.from_arrow(TABLE).write_parquet(path, statistics="full")
    check(path.read_bytes())
    check(written(TABLE.slice(0, 0)))
    check(written(pa.table({"text": ["x" * 30_000, "y"]})))


def test_a_page_that_says_more_than_the_footer_is_refused(tmp_path):
    content = written(use_dictionary=False, compression="none")
    large = lying(content, 2, 2_000_000)
    assert len(large) == len(content)
    with pytest.raises(InputError, match="its column mean holds more than"):
        check(large)
    check(large, ["arm", "play"])
    path = tmp_path / "curves.parquet"
    path.write_bytes(large)
    with pytest.raises(InputError, match="its column mean holds more than"):
        curve_files.read(path)


def test_a_stored_run_whose_page_says_more_is_refused(tmp_path):
    spec = rb.experiments.RunSpec(task="two-arms", policy="cucb", seed=0, horizon=50)
    rb.experiments.run_plan([spec], tmp_path, workers=1)
    (path,) = (tmp_path / "runs").glob("*.parquet")
    run = read_run(path)
    assert run.label == "cucb"
    content = path.read_bytes()
    place = pq.read_schema(path).names.index("regret")
    path.write_bytes(lying(content, place, 8_000))
    with pytest.raises(InputError, match="is not one"):
        read_run(path)


@pytest.mark.parametrize(("first", "size"), [(-1, 10), (0, -10), (2**62, 10), (0, 2**62)])
def test_a_column_outside_the_file_is_refused(first, size):
    chunk = SimpleNamespace(
        path_in_schema="mean",
        total_compressed_size=size,
        total_uncompressed_size=100,
        has_dictionary_page=False,
        data_page_offset=first,
        num_values=1,
    )
    row_group = SimpleNamespace(num_columns=1, column=lambda place: chunk)
    footer = SimpleNamespace(num_row_groups=1, row_group=lambda group: row_group)
    with pytest.raises(InputError, match="column mean must be inside the file, which has 5 bytes"):
        check_pages(io.BytesIO(b"PAR1 "), footer)


def test_edited_files_are_read_or_refused():
    rng = random.Random(1)
    content = written(TABLE.slice(0, 400), data_page_size=300)
    metadata = pq.read_metadata(pa.BufferReader(content))
    refused = 0
    for _ in range(2_000):
        edited = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            edited[rng.randrange(len(content))] = rng.randrange(256)
        try:
            check_pages(io.BytesIO(bytes(edited)), metadata)
        except InputError:
            refused += 1
    assert 100 < refused < 2_000
