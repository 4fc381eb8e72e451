"""The software bill of materials of an installation, from its lock: CycloneDX 1.6, as JSON.

    python scripts/sbom.py [requirements/app.txt]

Every pinned package is a component with the digests that an installer accepts. Nothing is fetched.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import version
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]
_PIN = re.compile(
    r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?==(?P<version>[^\s;\\]+)(?P<rest>(?:\\\n|[^\n])*)", re.MULTILINE
)  # fmt: skip
_DIGEST = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def bill(lock: Path) -> str:
    """The bill of what a lock pins."""
    made = Bom()
    made.metadata.component = Component(
        name="bedside", version=version("bedside"), type=ComponentType.APPLICATION
    )
    for pin in _PIN.finditer(lock.read_text(encoding="utf-8")):
        made.components.add(
            Component(
                name=pin["name"],
                version=pin["version"],
                type=ComponentType.LIBRARY,
                purl=PackageURL("pypi", name=pin["name"].lower(), version=pin["version"]),
                bom_ref=f"{pin['name']}=={pin['version']}",
                hashes=[
                    HashType(alg=HashAlgorithm.SHA_256, content=digest)
                    for digest in _DIGEST.findall(pin["rest"])
                ],
            )
        )
    made.register_dependency(made.metadata.component, made.components)
    return make_outputter(made, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1)


if __name__ == "__main__":
    print(bill(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "requirements/app.txt"))
