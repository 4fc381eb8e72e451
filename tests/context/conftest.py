"""The independent tokenizer, and shapes of input that every property is tried on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rs_bpe.bpe import openai


@pytest.fixture(scope="session")
def bare() -> Callable[[str], int]:
    """The o200k tokenizer without anything of ours around it."""
    encoder = openai.o200k_base()
    return lambda text: int(encoder.count(text))
