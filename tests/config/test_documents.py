"""What the documents show works as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from ieim.pipeline.topology import STAGES
from tests.checks import ROOT
from tests.fixtures import DEMO


def test_the_gate_by_itself_judges_without_django(tmp_path: Path) -> None:
    document = (ROOT / "docs" / "integrating.md").read_text(encoding="utf-8")
    section = document.partition("## The gate by itself")[2].partition("\n## ")[0]
    (example,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    (tmp_path / "bundle").symlink_to(DEMO)
    done = subprocess.run(
        [sys.executable, "-c", f"{example}\nprint([each.code for each in judgement.findings])"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "json" in done.stdout.lower()


def test_the_documented_beat_writes_nothing_into_the_checkout() -> None:
    document = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    (beat,) = re.findall(r"`(celery -A ieim.config beat[^`]*)`", document)
    assert " --schedule /tmp/" in beat


def test_the_table_of_the_contracts_names_has_every_stage_with_its_files() -> None:
    document = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = document.partition("## The contracts' names")[2].partition("\n## ")[0]
    assert all(f"`{stage}.md`" in section for stage in STAGES)
    for folder, ending in (("prompts", "md"), ("contracts", "schema.json"), ("stages", "py")):
        for name in set(re.findall(rf"`(\w+\.{re.escape(ending)})`", section)):
            if not name.startswith("prompt_"):  # the contract's own name of it
                assert (ROOT / "ieim" / "pipeline" / folder / name).is_file(), name
