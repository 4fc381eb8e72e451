"""Images as input: the door beside the prompt, since an assembly holds text only."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import field
from typing import Literal

from bedside.core.errors import InvalidArgument
from bedside.core.value import value

__all__ = ["Image", "Media"]

Media = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
_SIGNS: tuple[tuple[bytes, Media], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
_MOST = 5_000_000


@value
class Image:
    """One picture that goes with the last user message. `data` is the file's bytes, not base64."""

    media: Media
    data: bytes = field(repr=False)

    @classmethod
    def of(cls, data: bytes) -> Image:
        """Read the media type from the bytes' own signature.

        Raises:
            InvalidArgument: not PNG, JPEG, WebP or GIF, or over 5,000,000 bytes.
        """
        if len(data) > _MOST:
            raise InvalidArgument("image", found=f"{len(data)} bytes", want=f"at most {_MOST}")
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return cls(media="image/webp", data=data)
        for sign, media in _SIGNS:
            if data.startswith(sign):
                return cls(media=media, data=data)
        raise InvalidArgument("image", found="other bytes", want="PNG, JPEG, WebP or GIF")

    @property
    def base64(self) -> str:
        """The bytes in base64, as the wire protocols want them."""
        return b64encode(self.data).decode("ascii")
