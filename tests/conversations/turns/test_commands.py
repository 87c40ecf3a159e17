"""``manage.py ask`` and ``manage.py gate``."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from conversations.models import Attempt, Turn
from ieim.audit.models import AuditEvent
from tests.fixtures import VISA
from tests.pipeline.build import TEXT, state, valid


def ask(*arguments: str) -> str:
    out = io.StringIO()
    call_command("ask", *arguments, stdout=out)
    return out.getvalue()


DIRECTIVE = "Prefer what can be done online."


def test_every_stage_is_told_a_directive_and_no_citizen(published: None) -> None:
    data = json.loads(ask(VISA, "--json", "--directive", f" {DIRECTIVE}"))
    documents = [json.loads(result.asked_text) for result in Attempt.objects.all()]
    assert len(documents) == 5
    assert {result["runtime_directive"] for result in documents} == {DIRECTIVE}
    assert all(DIRECTIVE not in json.dumps(result.get("cached_state")) for result in documents)
    assert DIRECTIVE not in json.dumps(data)
    event = AuditEvent.objects.get(kind="turn.directed")
    assert json.loads(event.payload) == {"turn": data["turn"], "directive": DIRECTIVE}


def test_a_directive_that_is_too_long_is_refused(published: None) -> None:
    with pytest.raises(CommandError, match="--directive: The text is 501 characters long"):
        ask(VISA, "--directive", "a" * 501)
    assert not Turn.objects.exists()


def test_it_answers_in_the_terminal(published: None) -> None:
    turn = ask(VISA)
    assert "judgement_v1" in turn
    assert "Source: " in turn
    assert "https://" in turn


def test_it_goes_on_with_a_session_by_id_or_reference(published: None) -> None:
    first = json.loads(ask(VISA, "--json"))
    second = json.loads(ask("and how much does it cost?", "--json", "--session", first["session"]))
    third = json.loads(ask("thank you", "--json", "--session", first["reference"].lower()))
    assert [first["number"], second["number"], third["number"]] == [1, 2, 3]
    assert second["reply"]["sources"] == first["reply"]["sources"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((" ",), "no text"),
        (("hi", "--session", "nobody"), "no session 'nobody'"),
        (("hi", "--session", "5a1b6c3e-0000-4000-8000-000000000001"), "no session"),
    ],
)
def test_it_refuses_clearly(published: None, arguments: tuple[str, ...], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        ask(*arguments)
    assert not Turn.objects.exists()


def test_it_says_what_to_load_before_anything_is_published(db: None) -> None:
    with pytest.raises(CommandError, match="load_knowledge"):
        ask(VISA)


def test_it_takes_a_text_that_begins_with_a_dash(published: None) -> None:
    assert "Session" in ask("--", "--version")


BUNDLE: dict[str, list[dict[str, Any]]] = {
    "agencies": [
        {
            "id": "passports",
            "name": "Passport Office",
            "path": "https://passports.example",
            "description": "Issues passports.",
        }
    ],
    "dictionary": [{"agency": "passports", "key": "lost", "value": "Lost passports"}],
    "services": [
        {
            "agency": "passports",
            "key": "passports.replace",
            "name": "Replace a lost passport",
            "path": "https://passports.example/replace",
            "fees": "MRK 45.00",
            "categories": ["lost"],
        }
    ],
}
LABELS: list[dict[str, Any]] = [
    {"set": "intents", "code": "replace_lost", "name": "Replace", "threshold": 0.95},
    {"set": "product_lines", "code": "passports", "name": "Passports"},
    {"set": "urgencies", "code": "high", "name": "High", "effect": 240},
    {"set": "risk_flags", "code": "fraud", "name": "Fraud", "effect": "hold"},
    {"set": "entity_types", "code": "date", "name": "Date"},
    {"set": "key_types", "code": "passport_number", "name": "Passport number"},
]
CODES = {label["set"]: [label["code"]] for label in LABELS}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    folder.mkdir()
    for name, rows in BUNDLE.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def case(contract: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "contract": contract,
        "attempt": 1,
        "raw": json.dumps(valid(contract)),
        "user_prompt": TEXT,
        "cached_state": state(),
        "used_response_ids": [],
        "labels": CODES,
        "bundle": "bundle",
        **changes,
    }


def gate(folder: Path, *cases: Any) -> list[dict[str, Any]]:
    lines = [c if isinstance(c, bytes) else json.dumps(c).encode() for c in cases]
    path = folder / "cases.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    out = io.StringIO()
    try:
        call_command("gate", str(path), stdout=out, stderr=(err := io.StringIO()))
    except CommandError as error:
        raise CommandError(f"{err.getvalue()}{error}") from error
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_it_judges_cases_without_a_model_or_a_database(bundle: Path) -> None:
    good, low, broken = gate(
        bundle.parent,
        case("service_select_v1"),
        case("service_select_v1", raw=json.dumps(valid("service_select_v1")).replace("0.9", "0.4")),
        case("service_select_v1", raw="no"),
    )
    assert (good["verdict"], good["findings"]) == ("pass", [])
    assert good["state_merge"]["nextStep"] == "session_end"
    assert low["verdict"] == "needs_review"
    assert low["findings"] == [
        {
            "code": "score.minimum",
            "path": "/serviceSelection/score",
            "message": "The score is below 0.50.",
            "waivable": True,
        }
    ]
    assert (broken["output"], broken["state_merge"]) == (None, None)


def test_its_verdict_counts_what_the_pipeline_only_keeps(bundle: Path) -> None:
    (silent,) = gate(bundle.parent, case("service_select_v1", attempt=2))
    assert [finding["code"] for finding in silent["findings"]] == ["telemetry.missing"]
    assert (silent["verdict"], silent["state_merge"]) == ("needs_review", None)


def test_rules_without_a_token_are_listed_and_change_no_verdict(bundle: Path) -> None:
    loose = valid("service_select_v1")
    loose["template"]["rules"] = "Greet, then say all that there is."
    (judged,) = gate(bundle.parent, case("service_select_v1", raw=json.dumps(loose)))
    assert [finding["code"] for finding in judged["findings"]] == ["template.unordered"]
    assert judged["verdict"] == "pass"
    assert judged["state_merge"]["nextStep"] == "session_end"


def test_a_case_may_have_a_directive_which_is_no_state(bundle: Path) -> None:
    result = case("service_select_v1", runtime_directive=DIRECTIVE)
    (judged,) = gate(bundle.parent, result)
    assert judged["verdict"] == "pass"
    assert DIRECTIVE not in json.dumps(judged["state_merge"])
    with pytest.raises(CommandError, match="runtime_directive: "):
        gate(bundle.parent, {**result, "runtime_directive": "a" * 2001})


def test_it_holds_only_where_the_bundle_brings_thresholds(bundle: Path) -> None:
    assert [line["verdict"] for line in gate(bundle.parent, case("classify"))] == ["pass"]
    with_labels = Path(shutil.copytree(bundle, bundle.parent / "with-labels"))
    text = "".join(json.dumps(label) + "\n" for label in LABELS)
    (with_labels / "labels.jsonl").write_text(text, encoding="utf-8")
    case_line = case("classify", bundle="with-labels")
    flagged = valid("classify")
    flagged["intents"][0]["confidence"] = 0.95
    flagged["risk_flags"] = [
        {"label": "fraud", "confidence": 0.9, "evidence_snippets": ["was stolen"]}
    ]
    low, risky = gate(bundle.parent, case_line, {**case_line, "raw": json.dumps(flagged)})
    assert (low["verdict"], risky["verdict"]) == ("pass", "hold")
    assert [f["code"] for f in risky["findings"]] == ["policy.risk"]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[" * 5000, "not JSON"),
        (b"3", "is not of type 'object'"),
        ({"id": 1}, "'contract' is a required property"),
        (case("classify") | {"contract": "x"}, "the contract is none of"),
        (case("classify") | {"attempt": 3}, "attempt: 3 is not one of"),
        (case("classify") | {"raw": 7}, "raw: 7 is not of type"),
        (case("classify") | {"labels": {"x": []}}, "labels: 'x'"),
        (case("classify") | {"bundle": "nowhere"}, "bundle nowhere"),
        (case("classify") | {"bundle": "a\x00"}, "bundle"),
    ],
)
def test_it_names_a_malformed_case_by_its_line_and_judges_the_others(
    bundle: Path, bad: Any, says: str
) -> None:
    with pytest.raises(CommandError) as caught:
        gate(bundle.parent, case("classify"), bad, case("classify"))
    assert "cases.jsonl:2: " in str(caught.value)
    assert says in str(caught.value)


def test_it_gives_one_line_a_case_whatever_stands_in_it(bundle: Path) -> None:
    strange = "My passport was stolen\u2028on 3 May \ud800"
    extract = valid("extract")
    extract["entities"][0]["evidence_snippets"] = ["stolen\u2028on 3 May"]
    line = case("extract", user_prompt=strange, raw=json.dumps(extract), id="a\ud800\u2029b")
    path = bundle.parent / "strange.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(line).encode())
    out = io.StringIO()
    call_command("gate", str(path), stdout=out)
    (printed,) = out.getvalue().splitlines()
    data = json.loads(printed)
    assert (data["id"], data["verdict"]) == ("a\ud800\u2029b", "pass")
    assert strange[data["evidence"][0]["start"] : data["evidence"][0]["end"]] == (
        "stolen\u2028on 3 May"
    )


def test_it_says_when_the_cases_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("gate", str(tmp_path / "none.jsonl"))
