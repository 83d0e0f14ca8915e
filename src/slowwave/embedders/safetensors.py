"""Reads model weights as memory-mapped arrays. A safetensors file is a length, a JSON header and the numbers."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from slowwave.errors import SettingsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES: Final = {"F16": np.float16, "F32": np.float32}


def mapped(path: Path) -> "dict[str, NDArray[np.floating]]":
    """The floating-point tensors of a safetensors file by name, memory-mapped: only the rows in use are read.

    Raises:
        SettingsError: it is no safetensors file.
    """
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = file.read(length) if length <= path.stat().st_size else b""
        data = np.memmap(path, np.uint8, "r", 8 + length).view(np.ndarray)
        return {
            name: data[slice(*tensor["data_offsets"])].view(_TYPES[tensor["dtype"]]).reshape(tensor["shape"])
            for name, tensor in json.loads(header).items()
            if name != "__metadata__" and tensor["dtype"] in _TYPES
        }
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise SettingsError(f"{path} is no safetensors file, or is damaged") from error


def folders(package: str) -> list[Path]:
    """The folders of an installed package, without importing it; empty if it is not installed."""
    spec = find_spec(package)
    return [Path(folder) for folder in (spec.submodule_search_locations if spec else None) or ()]
