"""HTML to text: headings, paragraphs, lists, tables. Scripts, styles and hidden parts fall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a C module
from lxml import html as lxml_html

from bedside.core.errors import BadInput
from bedside.knowledge.parse.parsed import Parsed, TextBuilder

__all__ = ["parse_html"]

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SKIP = frozenset(
    ["script", "style", "noscript", "template", "svg", "nav", "iframe", "object", "head"]
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hr",
        "html",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "ul",
        "tr",
        "td",
        "th",
    ]
)
_OWN_LINE = _BLOCKS | _HEADINGS.keys()
_DEEPEST = 200


def parse_html(data: bytes, *, name: str) -> Parsed:
    """Text of a page with its headings as sections.

    Raises:
        BadInput: No text in it, or not HTML.
    """
    parser = lxml_html.HTMLParser(
        encoding=None if b"charset" in data[:2048].lower() else "utf-8",
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        huge_tree=False,
    )
    try:
        root = lxml_html.document_fromstring(data, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise BadInput(name, why="it is not HTML that can be read") from error
    builder = TextBuilder()
    _walk(root, builder, 0)
    titles = root.xpath("//head/title")
    title = " ".join(titles[0].text_content().split()) if titles else ""
    result = builder.parsed(media_type="text/html", title=title)
    if not result.text.strip():
        raise BadInput(name, why="it holds no text")
    return result


def _walk(node: Any, builder: TextBuilder, depth: int) -> None:
    """Blocks one after the other; inline text between blocks is a paragraph of its own."""
    if depth > _DEEPEST or _hidden(node):
        return
    inline: list[str] = [node.text or ""]
    for child in node:
        tag = child.tag if isinstance(child.tag, str) else ""
        if tag == "br":
            inline.append("\n")
        elif tag in _OWN_LINE or _holds_blocks(child):
            builder.paragraph(_collapse("".join(inline)))
            inline.clear()
            _block(child, tag, builder, depth)
        elif tag and not _hidden(child):
            inline.append(child.text_content())
        inline.append(child.tail or "")
    builder.paragraph(_collapse("".join(inline)))


def _block(node: Any, tag: str, builder: TextBuilder, depth: int) -> None:
    """One element that stands on lines of its own."""
    if _hidden(node):
        return
    if tag in _HEADINGS:
        builder.heading(node.text_content(), level=_HEADINGS[tag])
    elif tag == "table":
        builder.table([_cells(row) for row in node.iter("tr")])
    elif tag in {"ul", "ol"}:
        builder.paragraph("\n".join(_items(node, 0)))
    elif tag == "pre":
        builder.paragraph(node.text_content().strip("\n"))
    else:
        _walk(node, builder, depth + 1)


def _holds_blocks(node: Any) -> bool:
    return any(child.tag in _OWN_LINE for child in node.iterdescendants())


def _hidden(node: Any) -> bool:
    tag = node.tag if isinstance(node.tag, str) else ""
    style = (node.get("style") or "").replace(" ", "").lower()
    return (
        tag in _SKIP
        or node.get("hidden") is not None
        or "display:none" in style
        or "visibility:hidden" in style
    )


def _cells(row: Any) -> list[str]:
    return [cell.text_content() for cell in row if cell.tag in {"td", "th"}]


def _items(listing: Any, depth: int) -> Iterator[str]:
    number = 0
    for item in listing:
        if item.tag != "li":
            continue
        number += 1
        mark = f"{number}." if listing.tag == "ol" else "-"
        nested = [child for child in item if child.tag in {"ul", "ol"}]
        own = item.text or ""
        for child in item:
            own += ("" if child in nested else child.text_content()) + (child.tail or "")
        words = " ".join(own.split())
        if words:
            yield f"{'  ' * depth}{mark} {words}"
        if depth < _DEEPEST:
            for child in nested:
                yield from _items(child, depth + 1)


def _collapse(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.split("\n") if line.strip())
