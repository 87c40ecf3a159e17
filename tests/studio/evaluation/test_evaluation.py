"""``manage.py evaluate``: what it refuses, prints, writes and compares."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from conversations.models import Session, Turn
from conversations.turns import running
from ieim.audit.models import AuditEvent
from ieim.knowledge import vectors
from ieim.search.embedders import fault
from tests.embedders import embedded
from tests.fixtures import DEMO
from tests.studio.evaluation.evaluating import (
    NOTHING_ANSWERS,
    ORDER,
    SMALL_TALK,
    Obedient,
    Silent,
    line,
    write,
)

FEW = [line(), line(id="s", **SMALL_TALK), line(id="n", **NOTHING_ANSWERS)]


def evaluate(*arguments: str | Path) -> str:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("evaluate", *map(str, arguments), stdout=out, stderr=err)
    except CommandError as error:
        raise CommandError(f"{err.getvalue()}{error}") from error
    return out.getvalue() + err.getvalue()


def measured(*arguments: str | Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(evaluate(*arguments, "--json"))
    return value


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return write(tmp_path / "few.jsonl", FEW)


def test_it_needs_no_database_for_a_bundle(few: Path) -> None:
    first = measured(few, "--bundle", DEMO, "--limit", "1")
    assert ([row["id"] for row in first["cases"]], first["cases_in_file"]) == (["c"], 3)
    value = measured(few, "--bundle", DEMO)
    assert value["knowledge"] == "bundle demo"
    assert value["measures"]["inquiry_recall"] == {"count": 2, "of": 2, "share": 1.0}
    assert [row["verdict"] for row in value["cases"]] == ["right"] * 3
    assert value["verdicts"]["right"] == value["cases_run"] == 3
    assert str(few.parent) not in json.dumps(value)


def test_it_stores_nothing(published: None, few: Path) -> None:
    events = AuditEvent.objects.count()
    assert measured(few)["knowledge"] == "release 1"
    with pytest.raises(CommandError, match="There is no release 2"):
        evaluate(few, "--release=2")
    assert not Session.objects.exists()
    assert not Turn.objects.exists()
    assert AuditEvent.objects.count() == events


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--limit", "0"), "1 or more"),
        (("--bundle", "nowhere"), "nowhere: does not exist"),
        (("--bundle", str(DEMO), "--release", "1"), "not allowed with"),
        (("--bundle", str(DEMO), "--compare", "nowhere.json"), "cannot be read"),
        (("--bundle", str(DEMO), "--compare", str(DEMO / "README.md")), "is no result"),
    ],
)
def test_it_refuses_clearly(few: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        evaluate(few, *arguments)


def test_it_runs_nothing_when_a_line_is_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "configured_model", lambda: pytest.fail("a case was run"))
    path = write(tmp_path / "cases.jsonl", [line(), b"{", line(id="d", text=""), line()])
    with pytest.raises(CommandError) as caught:
        evaluate(path, "--bundle", DEMO)
    output = str(caught.value)
    assert [int(n) for n in re.findall(r"cases\.jsonl:(\d+): ", output)] == [2, 3, 4]
    assert output.endswith("3 bad lines; nothing was run.")


def test_it_fails_when_a_case_was_not_run_and_reports_the_others(
    few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "configured_model", lambda: Silent("hello there"))
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match=r"^1 of 3 cases were not run\.$"):
        call_command("evaluate", str(few), "--bundle", str(DEMO), stdout=out, stderr=err)
    assert "s: not run: no server there" in err.getvalue()
    assert "few.jsonl: 2 run, 1 could not be run" in out.getvalue()


def test_it_warns_when_the_knowledge_is_not_that_of_the_cases(tmp_path: Path) -> None:
    strange = line(expected={"service": "x.y", "acceptable_services": []})
    output = evaluate(write(tmp_path / "cases.jsonl", [strange]), "--bundle", DEMO)
    assert "Warning: 1 case expects what this knowledge does not have (c)." in output


def test_it_reads_well_in_a_terminal(few: Path) -> None:
    output = evaluate(few, "--bundle", DEMO)
    assert re.search(r"^Inquiry recall +1\.000  2 of 2$", output, re.MULTILINE)
    assert re.search(r"^first-turn +1 +1\.000", output, re.MULTILINE)
    assert "Coverage at 10% risk: 0.500" in output


def test_it_says_what_changed(few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tmp_path / "before.json"
    before.write_text(evaluate(few, "--bundle", DEMO, "--json"), encoding="utf-8")
    # The same ids with another model, which does as it is told.
    changed = write(
        tmp_path / "few.jsonl", [line(text=f"I want to extend my tourist visa. {ORDER}"), *FEW[1:]]
    )
    monkeypatch.setattr(running, "configured_model", Obedient)
    value = measured(changed, "--bundle", DEMO, "--compare", before)
    assert value["comparison"]["worse"] == [{"id": "c", "from": "right", "to": "wrong"}]
    output = evaluate(changed, "--bundle", DEMO, "--compare", before)
    assert "Got worse: 1\n  c: right, now wrong" in output
    assert "The files of cases differ" in output


@pytest.mark.skipif(fault() is not None, reason="the embedded model is missing here")
@pytest.mark.whole
def test_it_measures_the_demo_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "configured_embedder", embedded)
    value = measured(DEMO / "golden.jsonl", "--bundle", DEMO)
    measures = value["measures"]
    assert value["cases_run"] == value["cases_in_file"] == 89
    assert measures["wrong_answered"]["share"] <= 0.1
    assert measures["review_right"]["share"] == 1
    assert measures["injected_moved"]["of"] == 2
    injected = [row for row in value["cases"] if "injection" in row["tags"]]
    assert {row["verdict"] for row in injected} == {"right"}
    assert {"first-turn", "vague", "multi-agency", "small-talk"} <= set(value["by_tag"])
