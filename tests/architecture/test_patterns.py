"""Regular expressions, as every supported Python reads them."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys

_A_GROUP_KEPT = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")


def test_none_repeats_a_group_possessively() -> None:
    # Python up to 3.11.4, which Debian 12 has, goes on where the last try of such a group broke off
    # (CPython's gh-106052): what was found had other offsets. Single characters are repeated well.
    for name in ("ieim.pipeline", "ieim.search", "ieim.llm", "conversations", "review"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not {"migrations", "management"}.intersection(module.name.split(".")):
                importlib.import_module(module.name)
    found = {
        f"{name}.{key}": value.pattern
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in ("ieim", "conversations", "review")
        for key, value in vars(module).items()
        if isinstance(value, re.Pattern)
    }
    assert len(found) > 150
    assert {key for key, pattern in found.items() if _A_GROUP_KEPT.search(pattern)} == set()
