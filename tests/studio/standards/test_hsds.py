from __future__ import annotations

import json
from typing import Any

import pytest

from tests.studio.standards.samples.samples import HSDS, notes, problems, read, row

FIRST = "7a1c0b52-0000-4000-8000-000000000001"
SECOND = "7a1c0b52-0000-4000-8000-000000000002"


def service(**changes: Any) -> dict[str, Any]:
    """A small service of one organization."""
    organization = {"id": "housing", "name": "Housing Office", "description": ""}
    return {"id": "s", "name": "A service", "status": "active", "organization": organization} | (
        changes
    )


def test_it_maps_a_page_of_services() -> None:
    mapped, _ = read(HSDS)
    assert mapped.standard == "Open Referral HSDS 3"
    assert row(mapped, "agencies", "housing") == {
        "id": "housing",
        "name": "Housing Office",
        "description": "Homes and rents",
        "path": "https://housing.example",
    }
    assert row(mapped, "dictionary", "housing", "rent")["value"] == "Rent"
    assert row(mapped, "services", "housing", FIRST) == {
        "agency": "housing",
        "key": FIRST,
        "name": "Rent help",
        "overview": "Money for people who cannot pay their rent.\nOnce a year\nUp to 500 €",
        "applicability_summary": "Tenants with a low income\nAge: 18 to 65.5",
        "requirements": ["Your lease", "A payslip (https://housing.example/payslip)"],
        "fees": "Free of charge\nLate form: 12.50 EUR (a form)",
        "processing_time": "2 weeks",
        "how_to_apply": ["Fill in the form", "Send it to us"],
        "contact": "Email: rent@housing.example\n"
        "Phone: +999 1 555 0123 ext. 7 (Languages: English)\n"
        "Adviser, Rents: advice@housing.example\n"
        "Hours: Monday, Tuesday: 09:00 to 16:30 (from 2026-01-01)\n"
        "Town hall: 1 Square, Newtown, North, 1000, XX\n"
        "Languages: English, fr",
        "url": "https://housing.example/rent-help",
        "categories": ["rent"],
    }


def test_it_keeps_a_service_whose_link_is_bad() -> None:
    mapped, report = read(HSDS)
    assert "url" not in row(mapped, "services", "housing", SECOND)
    (note,) = [note for note in report.notes if note.first == "/contents/1"]
    assert note.why.startswith("url is 'javascript:alert(1)': it must begin with http://")


def test_it_tells_what_has_no_place() -> None:
    _, report = read(HSDS)
    result = notes(report)
    no_place = "the index has no place for it"
    assert f"left out 1 /contents/*/alternate_name: {no_place}" in result
    assert f"left out 1 /contents/*/organization/logo: {no_place}" in result
    assert "changed 1 /contents/*/description: markup became plain text" in result
    assert any("/schedules/*/byday: a schedule that cannot be put" in entry for entry in result)
    assert any("/contacts/*/name: a person's name is not taken over" in entry for entry in result)


def test_it_takes_no_name_of_a_person() -> None:
    mapped, _ = read(HSDS)
    assert "Nora" not in json.dumps([list(rows.values()) for rows in mapped.rows.values()])


def test_it_leaves_out_a_service_that_is_no_longer_offered() -> None:
    mapped, report = read(HSDS)
    assert len(mapped.rows["services"]) == 2
    assert any("/contents/*/status: a service that is no longer" in note for note in notes(report))


@pytest.mark.parametrize(
    "file",
    [
        service(),
        [service()],
        {"contents": [service()]},
        {"services": [service()]},
        {"id": "housing", "name": "Housing Office", "services": [{"id": "s", "name": "A service"}]},
        {"organizations": [{"id": "housing", "name": "Housing Office", "description": ""}],
         "services": [{"id": "s", "name": "A service", "status": "active",
                       "organization_id": "housing"}]},
        {"contents": [{"id": "l", "service": service(), "location": {"name": "Hall"}}]},
    ],
    ids=["one", "list", "page", "services", "organization", "both", "at a location"],
)  # fmt: skip
def test_it_reads_every_form_of_a_file(file: Any) -> None:
    mapped, _ = read(file)
    assert row(mapped, "services", "housing", "s")["name"] == "A service"
    assert row(mapped, "agencies", "housing")["name"] == "Housing Office"


def test_it_puts_the_places_of_one_service_together() -> None:
    places = [{"id": n, "service": service(), "location": {"name": n}} for n in ("Hall", "Library")]
    mapped, _ = read({"contents": places})
    assert row(mapped, "services", "housing", "s")["contact"] == "Hall\nLibrary"


def test_it_says_which_service_has_no_agency() -> None:
    assert problems([service(), service(id="t", organization=None)]) == [
        "/1: names no agency: choose the one that it is for"
    ]


def test_it_names_every_error_with_its_pointer() -> None:
    file = {"contents": [service(name=""), service(id=None), 7]}
    assert problems(file) == [
        "/contents/2: is no JSON object: a service is expected here",
        "/contents/1: has no id: HSDS 3 gives one to every service and organization",
    ]
    assert problems([service(name="")]) == ["/0: has no name: every service needs one"]


@pytest.mark.parametrize("file", [[], {"contents": []}, {}, 7, "x", None, {"a": 1}])
def test_it_refuses_what_is_no_hsds(file: Any) -> None:
    assert len(problems(file)) == 1


def test_it_takes_only_what_is_the_chosen_agency_s() -> None:
    other = service(id="t", organization={"id": "tax", "name": "Tax Office", "description": ""})
    mapped, report = read([service(), other], into="tax")
    assert list(mapped.rows["services"]) == [("tax", "t")]
    assert list(mapped.rows["agencies"]) == [("tax",)]
    assert "left out 1 /*: belongs to an agency that was not chosen" in notes(report)


def test_it_does_not_guess_which_of_many_agencies_is_meant() -> None:
    other = service(id="t", organization={"id": "tax", "name": "Tax Office", "description": ""})
    (problem,) = problems([service(), other], into="homes")
    assert problem.startswith("the file: has 2 agencies and none of them is 'homes'")


@pytest.mark.parametrize(
    ("schedule", "hours"),
    [
        ({"byday": "MO,TU", "opens_at": "9:00 AM", "closes_at": "5:00 PM"}, "Monday, Tuesday: "),
        ({"byday": "mo, tu", "opens_at": "0900", "closes_at": "17.00"}, "Monday, Tuesday: "),
        ({"byday": ["MO", "TU"], "opens_at": "09:00Z", "closes_at": "17:00Z"}, "Monday, Tuesday: "),
        ({"weekday": "Monday", "opens_at": "9am", "closes_at": "5 p.m."}, "Monday: "),
        (
            {"byday": "MO", "opens_at": "1970-01-01T09:00:00Z", "closes_at": "1970-01-01 17:00:00"},
            "Monday: ",
        ),
        ({"freq": "daily", "opens_at": "09:00:00", "closes_at": "17:00:00"}, "Every day: "),
    ],
)
def test_it_reads_the_times_that_others_write(schedule: dict[str, Any], hours: str) -> None:
    file = service(schedules=[{"freq": "WEEKLY", **schedule}])
    contact = row(read(file)[0], "services", "housing", "s")["contact"]
    assert contact == f"Hours: {hours}09:00 to 17:00"


def test_a_time_that_is_none_is_shown_as_it_is() -> None:
    when = {"byday": "MO", "opens_at": "after school", "closes_at": "25:00"}
    contact = row(read(service(schedules=[when]))[0], "services", "housing", "s")["contact"]
    assert contact == "Hours: Monday: after school to 25:00"


def test_it_reads_a_page_of_open_referral_uk() -> None:
    page = {"totalElements": 1, "number": 1, "empty": False, "content": [service()]}
    mapped, report = read(page)
    assert list(mapped.rows["services"]) == [("housing", "s")]
    assert not any("totalElements" in note for note in notes(report))


@pytest.mark.parametrize("shape", ["nested", "inside", "beside"])
def test_the_contact_of_the_organization_stands_in(shape: str) -> None:
    phone = {"id": "p", "number": "01234 567890", "type": "voice"}
    organization = {"id": "o", "name": "Council", "email": "desk@x.example", "phones": [phone]}
    waste = {"id": "s", "name": "Waste", "status": "active"}
    file: Any = {
        "nested": [organization | {"services": [waste]}],
        "inside": waste | {"organization": organization},
        "beside": {
            "services": [waste | {"organization_id": "o"}],
            "organizations": [organization],
        },
    }[shape]
    result = row(read(file)[0], "services", "o", "s")
    assert result["contact"] == "Email: desk@x.example\nPhone: 01234 567890"


def test_a_list_with_other_names_is_told_what_was_expected() -> None:
    file = [{"service": "Apply", "url": "https://x.example", "id": "d1", "category": {"name": "H"}}]
    assert any("expected are the names of HSDS 3" in problem for problem in problems(file))
    assert any("expected are" in problem for problem in problems([{"title": "Apply", "n": 1}]))
