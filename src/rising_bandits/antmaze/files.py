"""Files of arrays (npz): written whole, and read as if a stranger had written them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from rising_bandits._files import replacing
from rising_bandits.errors import InputError

MOST_RESULT = 64 * 2**20
"""How many bytes the arrays of a result may take. A run of 3000 episodes takes less than one million."""
MOST_CHECKPOINT = 2**30
"""How many bytes the arrays of a checkpoint may take."""
_MOST_META = 16 * 2**20
_MOST_ARRAYS = 10_000


def write_npz(path: Path, arrays: dict[str, Any], *, small: bool) -> None:
    """Write arrays to a file, compressed if ``small``."""
    with replacing(path) as aside, aside.open("wb") as file:
        (np.savez_compressed if small else np.savez)(file, **arrays)


def read_npz(path: Path, most: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of a file, and the plain data that is stored with them.

    The sizes that the file states are checked before memory is asked for, and it cannot hold more than it states.

    Parameters
    ----------
    path
        The file.
    most
        How many bytes its arrays may take together.
    """
    with path.open("rb") as file:
        _check_sizes(file, most)
        file.seek(0)
        with np.load(file, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
    meta = arrays.get("meta")
    if meta is None or meta.dtype.kind != "U" or meta.shape != () or meta.nbytes > _MOST_META:
        raise InputError("it holds no settings of a run")
    found = json.loads(str(meta))
    if not isinstance(found, dict):
        raise InputError("its settings must be a table")
    return arrays, found


def _check_sizes(file: Any, most: int) -> None:
    """Refuse a file whose arrays take more than ``most`` bytes, by their own headers."""
    total = 0
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > _MOST_ARRAYS:
            raise InputError(f"it must hold at most {_MOST_ARRAYS} arrays, got {len(members)}")
        for member in members:
            if not member.filename.endswith(".npy"):
                raise InputError(f"it must hold arrays only, got {member.filename!r}")
            with archive.open(member) as stream:
                version = np.lib.format.read_magic(stream)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(stream)
            size = dtype.itemsize * int(np.prod([float(side) for side in shape]))
            if dtype.hasobject or size > member.file_size:
                raise InputError(f"its array {member.filename!r} must hold plain numbers, as many as it states")
            total += member.file_size
            if total > most:
                raise InputError(f"its arrays would take more than {most >> 20} MiB of memory")
