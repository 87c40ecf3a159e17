"""What it is built of: the lists are those of the lock file, and nothing but pinned files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks import ROOT

LOCK = (ROOT / "requirements/base.txt").read_text(encoding="utf-8")
PINNED = set(re.findall(r"^([a-z0-9-]+)(?:\[[^\]]*\])?==([^ \\\n]+)", LOCK, re.MULTILINE))
FREE = {
    *(
        "MIT",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "0BSD",
        "MIT-0",
        "ISC",
        "Apache-2.0",
        "Zlib",
        "CC0-1.0",
    ),
    *("PSF-2.0", "CNRI-Python", "MPL-2.0", "LGPL-2.1-or-later", "LGPL-3.0-only", "OFL-1.1"),
}
"""What IEIM may be handed on with."""


def test_the_licences_are_those_of_the_lock_file_and_allow_to_hand_it_on() -> None:
    page = ROOT / "docs/licences.md"
    built = subprocess.run(
        [sys.executable, str(ROOT / "docs/build_licences.py")], check=True, capture_output=True
    ).stdout.decode()
    assert built == page.read_text(encoding="utf-8"), "run docs/build_licences.py"
    rows = re.findall(r"^\| (\S+) \| ([^|]+) \|$", built, re.MULTILINE)
    assert {name for name, _ in rows} > {"django", "govuk-frontend"}
    for name, licence in rows[1:]:
        # Of what one may choose from, one is enough.
        parts = [set(part.split(" OR ")) for part in licence.split(" AND ")]
        assert all(part & FREE for part in parts), (name, licence)


def test_every_package_is_pinned_by_hash() -> None:
    entries = re.split(r"^(?=[a-z])", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) >= len(PINNED) > 50
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.whole  # it installs the program, which has a virtual environment of its own
def test_the_bill_of_materials_names_what_a_server_installs(tmp_path: Path) -> None:
    file = tmp_path / "bom.json"
    python = str(tmp_path / "venv/bin/python")
    install = ("-m", "pip", "install", "--quiet", "--require-hashes", "--requirement")
    list_packages = ("-m", "cyclonedx_py", "requirements", str(ROOT / "requirements/base.txt"))
    for command in (
        (sys.executable, "-m", "venv", str(tmp_path / "venv")),
        (python, *install, str(ROOT / "requirements/sbom.txt")),
        (python, *list_packages, "-o", str(file)),
    ):
        subprocess.run(command, check=True, capture_output=True)
    bom = json.loads(file.read_text(encoding="utf-8"))
    assert bom["bomFormat"] == "CycloneDX"
    assert {(entry["name"], entry["version"]) for entry in bom["components"]} == PINNED
    for entry in bom["components"]:
        hashes = [result["hashes"] for result in entry["externalReferences"] if "hashes" in result]
        assert hashes, entry["name"]


def test_what_the_documents_name_is_there() -> None:
    """The threat model is worth what its tests are: none of them may have gone."""
    for document in ("docs/threat-model.md", "docs/supply-chain.md", "SECURITY.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for path in re.findall(r"`((?:tests|benchmarks|docs|deploy|ieim)/[\w./-]+)`", text):
            assert (ROOT / path).exists(), (document, path)
