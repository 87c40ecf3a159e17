"""What is made of an administration's web pages, by their headings and by scripted models.

    python benchmarks/bench_webpages.py --repositories FOLDER [--json]

FOLDER holds clones (bare ones too) of the three repositories of webpages/rendering.py, named as
``git clone`` names them: vagov-content, ReductionOfHallucinations, cat-proc. A site whose clone is
missing is skipped, and said to be; without FOLDER nothing is measured.

Twenty pages a site, of which three are about no service, chosen by path (webpages/README.md). What
they say was written down before anything was measured, as short phrases: a field is right with all
of its phrases, wrong where they stand in another field, else missing. Invented is what does not
stand in the page: an amount or other fact, a figure, or for headings any line. A field that takes
too much is no better for it: the mean of their characters stands beside what is right.

The competent model answers with what a person wrote for twenty of the pages; the careless one with
these answers and a fault in each. Both go through the checks of draft_entry_v1 as a real one does.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.webpages.rendering import SITES, Missing, html

if TYPE_CHECKING:
    from ieim.studio.webpages.reading import Page

DATA = Path(__file__).parent / "webpages"
AGENCY = "finance"
"""An agency of the demo, whose entries the pages become."""

Entry = Mapping[str, Any]
Row = dict[str, Any]
Key = tuple[str, str]


def rows(name: str) -> list[Row]:
    """Return the lines of a file of webpages/."""
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def load(folder: Path) -> tuple[dict[Key, Page], dict[Key, Row]]:
    """Return the pages of every site whose clone is there, and what is right of each."""
    from ieim.studio.webpages.reading import read

    pages: dict[Key, Page] = {}
    right: dict[Key, Row] = {}
    for name, site in SITES.items():
        try:
            for row in rows(name):
                path = row["page"]
                address = f"https://{name}.example/{path}"
                pages[name, path] = read(html(site, folder, path), address)
                right[name, path] = row
        except Missing as error:
            print(f"SKIPPED {name}: {error}", file=sys.stderr)
    return pages, right


def judged(entry: Entry | None, row: Row, page: Page, *, is_verbatim: bool) -> Counter[str]:
    """Return what becomes of the fields of a page, by name and verdict, and how much is invented.

    ``is_verbatim``: every line has to stand in the page.
    """
    fields = {f["field"]: f for f in entry["fields"]} if entry else {}
    texts = {name: _folded("\n".join(field["lines"])) for name, field in fields.items()}
    count = Counter({"kind right": int((entry or {}).get("kind") == row["kind"])})
    for name, phrases in row["fields"].items():
        wanted = [_folded(phrase) for phrase in phrases]
        holding = {name for name, text in texts.items() if all(p in text for p in wanted)}
        count["right" if name in holding else "wrong" if holding - {"name"} else "missing"] += 1
    if row["kind"] == "neither":
        count["fields of no service"] += len(fields)
    for field in fields.values():
        count["invented"] += any(_invented(field["lines"], page, is_verbatim))
        count["fields"] += 1
        count["characters"] += len("\n".join(field["lines"]))
    return count


def _folded(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split())


def _invented(lines: list[str], page: Page, is_verbatim: bool) -> Iterator[str]:
    from ieim.pipeline.evidence import locate
    from ieim.pipeline.facts import facts, figures, matches

    source, stated = f"{page.title}\n{page.text}", "\n".join(lines)
    yield from set(figures(stated)) - set(figures(source))
    yield from (fact.text for fact in facts(stated) if not matches(fact, facts(source)))
    if is_verbatim:
        parts = (part for line in stated.splitlines() for part in line.split(" · "))
        yield from (part for part in parts if locate(source, part) is None)


def by_headings(pages: Mapping[Key, Page], right: Mapping[Key, Row]) -> dict[str, Counter[str]]:
    """Return what headings alone make of all pages, by site."""
    from ieim.studio.webpages.headings import entry_of

    verdicts = {
        key: judged(entry_of(page), right[key], page, is_verbatim=True)
        for key, page in pages.items()
    }
    return _by_site(verdicts)


def by_models(
    pages: Mapping[Key, Page], right: Mapping[Key, Row]
) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """Return what the competent model makes of its pages, by site, and by fault how many answers
    of the careless one were stopped, in a database of this process's own."""
    from django.core.management import call_command
    from django.db import transaction

    from benchmarks.webpages.careless import faults
    from ieim.studio.webpages.drafting import draft
    from tests.model_server import client_of, served

    call_command("migrate", verbosity=0)
    call_command("load_knowledge", "ieim/knowledge/demo", publish=True, verbosity=0)
    answers = {(row["site"], row["page"]): row["answer"] for row in rows("by_hand")}
    answers = {key: answer for key, answer in answers.items() if key in pages}
    said: dict[str, Any] = {}
    with served(lambda _: (200, json.dumps(said))) as base_url, transaction.atomic():
        model = client_of(base_url)

        def passed(answer: Entry, page: Page) -> tuple[Entry | None, list[str]]:
            said.clear()
            said.update(answer)
            entry, details = draft(page, agency=AGENCY, model=model)
            return entry, details.get("messages", [])

        verdicts = {}
        for key, answer in answers.items():
            entry, messages = passed(answer, pages[key])
            verdicts[key] = judged(entry, right[key], pages[key], is_verbatim=False)
            verdicts[key]["answers stopped"] = int(entry is None)
            for message in messages:
                print(f"{key[1]}: {message}", file=sys.stderr)
        careless: dict[str, Counter[str]] = {}
        for key in answers:
            for fault, wrong, page in faults(key, answers, pages[key]):
                entry, _ = passed(wrong, page)
                count = careless.setdefault(fault, Counter())
                count["stopped" if entry is None else "passed"] += 1
                if entry is not None:
                    print(f"PASSED {fault}: {key[1]}", file=sys.stderr)
    return _by_site(verdicts), careless


def _by_site(verdicts: Mapping[Key, Counter[str]]) -> dict[str, Counter[str]]:
    sites: dict[str, Counter[str]] = {}
    for (site, _), count in verdicts.items():
        for name in (site, "all"):
            sites.setdefault(name, Counter()).update(count)
            sites[name]["pages"] += 1
    return sites


def _table(title: str, sites: Mapping[str, Counter[str]]) -> None:
    shares = ("right", "wrong", "missing")
    heads = ("pages", "kind right", "wanted", *shares, "invented", "characters", "of no service")
    print(f"\n{title:20}", *(f"{head:>13}" for head in heads))
    for name in (*(name for name in sites if name != "all"), "all"):
        count = sites[name]
        wanted = sum(count[share] for share in shares)
        mean = count["characters"] / max(count["fields"], 1)
        values = (
            *(str(value) for value in (count["pages"], count["kind right"], wanted)),
            *(f"{count[share] / max(wanted, 1):.2f}" for share in shares),
            *(str(count["invented"]), f"{mean:.0f}", str(count["fields of no service"])),
        )
        print(f"{name:20}", *(f"{value:>13}" for value in values))


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repositories", type=Path, help="the folder that holds the clones")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    if options.repositories is None:
        print("SKIPPED: name the folder of the clones with --repositories FOLDER (see --help).")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in ("DATABASE_URL", "REDIS_URL"):
            os.environ.pop(name, None)
        os.environ |= {"DJANGO_SETTINGS_MODULE": "ieim.config.settings", "IEIM_DATA_DIR": folder}
        import django

        django.setup()
        logging.disable(logging.WARNING)
        pages, right = load(options.repositories)
        if not pages:
            print("SKIPPED: there is none of the repositories.")
            return
        headings = by_headings(pages, right)
        competent, careless = by_models(pages, right)
    if options.json:
        print(json.dumps({"headings": headings, "competent": competent, "careless": careless}))
        return
    _table("headings alone", headings)
    _table("a competent model", competent)
    print(f"\n{'a careless model':52}{'stopped':>9}{'passed':>9}")
    for fault, count in careless.items():
        print(f"{fault:52}{count['stopped']:>9}{count['passed']:>9}")


if __name__ == "__main__":
    main()
