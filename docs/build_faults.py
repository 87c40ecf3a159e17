"""Write the table of ``docs/faults.md`` anew: ``python docs/build_faults.py``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.faults.table import refreshed

PAGE = Path(__file__).parent / "faults.md"

if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
