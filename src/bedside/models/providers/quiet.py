"""The SDKs log whole requests at the debug level; patient text never goes into logs."""

from __future__ import annotations

import logging

__all__ = ["quiet"]

_TALKATIVE = (
    "anthropic",
    "openai",
    "boto3",
    "botocore",
    "urllib3",
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2",
)


def quiet() -> None:
    """Raise the SDKs' loggers to warnings, where they stand lower; ours say what is needed."""
    for name in _TALKATIVE:
        logger = logging.getLogger(name)
        if logger.getEffectiveLevel() < logging.WARNING:
            logger.setLevel(logging.WARNING)
