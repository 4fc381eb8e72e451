"""What the options are that many commands share, for `--help` and the page made from it."""

from __future__ import annotations

__all__ = ["ABOUT"]

ABOUT = {
    "action": "print the entries, or walk the hash chain",
    "assemblies": "how many random assemblies",
    "audience": "who reads the answer; patient must be switched on in the settings",
    "condition": "only knowledge about this condition",
    "conditions": "conditions, separated by commas",
    "document": "a file to attach first",
    "drug": "only knowledge about this drug",
    "drugs": "drugs, separated by commas",
    "end": "end of the span, in code points, exclusive",
    "files": "PDF, DOCX, HTML, Markdown, text, or a scanned image",
    "host": "address to serve on",
    "id": "the id of the document or source",
    "limit": "most hits, 1 to 10",
    "mode": "response mode; otherwise the question decides",
    "name": "which schema",
    "paths": "files or folders",
    "patient": "a patient's id",
    "port": "port to serve on",
    "published": "date as YYYY-MM-DD",
    "query": "what to look for",
    "question": "the question",
    "repair": "close turns whose process died, and mend what can be mended",
    "retriever": "by words, by vectors, or both",
    "revision": "which revision; otherwise the newest",
    "select": "a document that is always represented",
    "session": "go on with this conversation",
    "since": "only knowledge published since this date",
    "specialty": "a specialty",
    "start": "start of the span, in code points",
    "suite": "what to measure",
    "supersedes": "the document that this one replaces",
    "title": "its title",
    "type": "its type",
}
"""By the option's name; a command that means something else by it says so itself."""
