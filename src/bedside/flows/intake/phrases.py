"""What the rules say, by language, from `data/phrases.yaml`. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bedside.flows.intake.lexicon import data

__all__ = ["SPOKEN", "document_words", "joined", "phrase", "provider_name"]

SPOKEN = ("en", "ar", "hi")
"""The languages of the templates, English first."""


def phrase(name: str, language: str = "en", **more: object) -> str:
    """The phrase of that name, in English where the language has none."""
    table = data("phrases")
    words: str = table.get(language, {}).get(name) or table["en"][name]
    return words.format(**more) if more else words


def document_words(kind: str, label: str, language: str) -> str:
    """A document's name: the contract's label in English, else the phrase for its type.

    A type without a phrase of its own (a deployer's) is "medical reports" in the language.
    """
    if language == "en":
        return label
    table = data("phrases").get(language, {})
    return str(table.get(f"document_{kind}") or table.get("document_other") or label)


def joined(parts: Sequence[str], language: str = "en") -> str:
    """Join as in "a, b and c"; the Arabic "and" is written on to the last word."""
    if len(parts) < 2:  # noqa: PLR2004 - nothing to join
        return "".join(parts)
    link = phrase("and", language)
    comma = "، " if language == "ar" else ", "
    space = "" if language == "ar" and parts[-1][:1] > "~" else " "
    return f"{comma.join(parts[:-1])} {link}{space}{parts[-1]}"


def provider_name(name: str, language: str = "en") -> str:
    """A provider's name, with the mark of a sample said in the language."""
    return name.replace("(sample)", phrase("sample", language))
