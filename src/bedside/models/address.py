"""Where a provider is reached. Pure."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from bedside.core.errors import InvalidArgument
from bedside.models.config import ProviderConfig

__all__ = ["address_of", "is_local", "is_loopback"]

_PUBLIC = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}


def address_of(name: str, config: ProviderConfig) -> str:
    """The base address: the configured one, else the provider's public one.

    Raises:
        InvalidArgument: an address that is not http(s), or a Bedrock without region or address.
    """
    url = config.base_url
    if url is None and name == "bedrock":
        if not config.region:
            raise InvalidArgument("bedrock region", found=config.region, want="a region or address")
        end = "amazonaws.com.cn" if config.region.startswith("cn-") else "amazonaws.com"
        url = f"https://bedrock-runtime.{config.region}.{end}"
    if url is None:
        url = _PUBLIC.get(name)
    if url is None:
        raise InvalidArgument(f"{name} base address", found=None, want="set: it has no public one")
    split = urlsplit(url)
    if split.scheme not in {"http", "https"} or not split.hostname:
        raise InvalidArgument(f"{name} base address", found=split.scheme, want="http(s)://host")
    return url


def is_local(name: str, config: ProviderConfig) -> bool:
    """True where that provider is reached on this machine; one without an address is remote."""
    if config.base_url is None:
        return False
    return is_loopback(address_of(name, config))


def is_loopback(url: str) -> bool:
    """True where the address is this machine by its very name: 127.0.0.0/8, ::1 or localhost.

    No name is looked up: a name that merely resolves to loopback today counts as remote.
    """
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
