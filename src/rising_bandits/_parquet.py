"""Whether the pages of a Parquet file are as large as its footer says.

A reader asks for as much memory as the head of a page names, and the footer can be checked before that. So a file whose
pages name more than its footer is refused. Heads of pages are written in Thrift's compact protocol; see the Parquet
format, https://parquet.apache.org/docs/file-format/.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, BinaryIO

from rising_bandits.errors import InputError

_USUAL_HEAD, _MOST_HEAD = 1 << 12, 1 << 20
"""How much is read of the head of a page, and the most that it may have. It may hold the least and greatest values."""
_BESIDE = 1 << 26
_TIMES = 1000
"""A column chunk may stand for so many bytes, and for so many times its own bytes more."""
_STRUCT = 12
_DEEPEST = 8


def check_pages(source: BinaryIO, metadata: Any, columns: Collection[str] | None = None) -> None:
    """Refuse a Parquet file that asks for more memory than its footer says, or than its size makes likely.

    Parameters
    ----------
    source
        The file, open for reading bytes.
    metadata
        Its footer, a `pyarrow.parquet.FileMetaData`.
    columns
        The names of the columns that will be read; by default all.
    """
    length = source.seek(0, 2)
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for place in range(row_group.num_columns):
            chunk = row_group.column(place)
            name = chunk.path_in_schema
            if columns is not None and name.partition(".")[0] not in columns:
                continue
            size, said = chunk.total_compressed_size, chunk.total_uncompressed_size
            if said > _BESIDE + _TIMES * max(0, size):
                raise InputError(f"its column {name} would take {said} bytes of memory, made from {size}")
            first = chunk.data_page_offset
            if chunk.has_dictionary_page and chunk.dictionary_page_offset > 0:
                # A chunk without values has no data page, and says that it is at 0.
                first = min(chunk.dictionary_page_offset, first or chunk.dictionary_page_offset)
            if not 0 <= first <= first + size <= length:
                raise InputError(f"its column {name} must be inside the file, which has {length} bytes")
            taken, pages, at = 0, 0, first
            while at < first + size:
                large, far = _sizes(source, at, first + size)
                taken += large
                pages += 1
                if taken > said or pages > chunk.num_values + 2:
                    raise InputError(f"its column {name} holds more than the {said} bytes that it says")
                at += far


def _sizes(source: BinaryIO, at: int, end: int) -> tuple[int, int]:
    """The bytes of a page in memory, and those of it and its head in the file."""
    for most in (_USUAL_HEAD, _MOST_HEAD):
        source.seek(at)
        head = _Head(source.read(min(most, end - at)))
        try:
            large, small = head.sizes()
        except InputError:
            if most == _MOST_HEAD:
                raise
            continue
        if large < 0 or small < 0:
            break
        return large, head.at + small
    raise InputError("it has a page that does not say its size")


class _Head:
    """The head of a page.

    >>> head = _Head(bytes([0x15, 0, 0x15, 20, 0x15, 24, 0]))
    >>> head.sizes(), head.at
    ((10, 12), 7)
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def sizes(self) -> tuple[int, int]:
        """The bytes of the page in memory and in the file; then ``at`` is the length of the head."""
        found = {2: -1, 3: -1}
        self._struct(0, found)
        return found[2], found[3]

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise InputError("it has a page without a whole head")
        self.at += 1
        return self.data[self.at - 1]

    def _number(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise InputError("it has a page whose head holds no number")

    def _signed(self) -> int:
        value = self._number()
        return (value >> 1) ^ -(value & 1)

    def _struct(self, depth: int, wanted: dict[int, int] | None = None) -> None:
        """Read a struct up to its end, and write the values of the wanted 32-bit fields."""
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._signed()
            if wanted is not None and field in wanted and head & 15 == 5:
                wanted[field] = self._signed()
            else:
                self._skip(head & 15, depth, inside=False)

    def _skip(self, kind: int, depth: int, inside: bool) -> None:
        """Read a value and forget it; truth values have a byte of their own inside lists only."""
        if depth > _DEEPEST:
            raise InputError("it has a page whose head is nested too deeply")
        if kind in (1, 2):
            self.at += inside
        elif kind == 3:
            self.at += 1
        elif kind in (4, 5, 6):
            self._number()
        elif kind == 7:
            self.at += 8
        elif kind == 8:
            size = self._number()
            self.at += size
        elif kind in (9, 10):
            head = self._byte()
            for _ in range(head >> 4 if head >> 4 < 15 else self._number()):
                self._element(head & 15, depth)
        elif kind == 11:
            if size := self._number():
                kinds = self._byte()
                for _ in range(size):
                    self._element(kinds >> 4, depth)
                    self._element(kinds & 15, depth)
        elif kind == _STRUCT:
            self._struct(depth + 1)
        else:
            raise InputError("it has a page whose head holds a value of no kind")

    def _element(self, kind: int, depth: int) -> None:
        if self.at >= len(self.data):
            raise InputError("it has a page without a whole head")
        self._skip(kind, depth + 1, inside=True)
