"""Two caseworkers at one item: who is there, a note with a mention, and what has changed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.office import BAD, Office, checked_at_both_widths, take

pytestmark = pytest.mark.browser


def test_two_colleagues_see_each_other_and_what_the_other_does(office: Office) -> None:
    citizen = office.citizen(service_select_v1=[BAD, BAD])
    carla, sofia = office.caseworker(), office.caseworker("supervisor")
    office.open(carla, citizen)
    take(carla)
    sofia.goto(carla.url)
    expect(carla.locator("#colleagues")).to_contain_text("Sofia Super reads this.")
    expect(sofia.locator("#colleagues")).to_contain_text("Carla Case reads this.")
    note = carla.get_by_label("Write a note")
    note.press_sequentially("Please look, @sup")
    expect(sofia.locator("#colleagues")).to_contain_text("Carla Case writes.")
    expect(carla.get_by_role("option", name="@supervisor")).to_have_attribute(
        "aria-selected", "true"
    )
    checked_at_both_widths(carla)
    note.press("Enter")
    expect(note).to_have_value("Please look, @supervisor ")
    carla.get_by_label("Why?").fill("Half a reason")
    carla.get_by_role("button", name="Keep the note").click()
    expect(carla.locator(".notes .talk__text")).to_have_text("Please look, @supervisor")
    expect(note).to_have_value("")
    expect(carla.get_by_label("Why?")).to_have_value("Half a reason")
    carla.keyboard.press("Alt+t")
    expect(carla.locator("#timeline .talk__who")).to_contain_text(["Citizen", "Note by Carla"])
    carla.get_by_text("Put it away until later").click()
    checked_at_both_widths(carla)
    sofia.get_by_label("Write a note").fill("I come to it")
    carla.get_by_role("button", name="For one hour").click()
    changed = sofia.get_by_role("link", name="Load it again")
    expect(changed).to_be_visible()
    expect(sofia.locator("#colleagues")).to_contain_text("The item is free again.")
    checked_at_both_widths(sofia)
    changed.click()
    expect(sofia.get_by_text("Put away until")).to_be_visible()
    expect(sofia.get_by_label("Write a note")).to_have_value("I come to it")
    sofia.get_by_role("link", name="Mentions 1 new").click()
    checked_at_both_widths(sofia)
    sofia.get_by_role("button", name="Open the item").click()
    expect(sofia.get_by_role("link", name="Mentions", exact=True)).to_be_visible()
    sofia.goto("/review/?snoozed=1")
    expect(sofia.locator(".queue-row")).to_have_count(1)
    checked_at_both_widths(sofia)


def test_a_note_and_the_timeline_need_no_script(office: Office) -> None:
    citizen = office.citizen(service_select_v1=[BAD, BAD])
    page = office.caseworker(java_script_enabled=False)
    office.open(page, citizen)
    page.get_by_text("Whom you can mention").click()
    expect(page.get_by_text("@supervisor")).to_be_visible()
    page.get_by_label("Write a note").fill("For @nobody")
    page.get_by_role("button", name="Keep the note").click()
    expect(page.get_by_role("alert")).to_contain_text("Nobody of this name may see the item")
    expect(page.get_by_label("Write a note")).to_have_value("For @nobody")
    page.get_by_text("The whole conversation, step by step").click()
    page.get_by_role("link", name="Open it as a page").click()
    expect(page.locator(".talk__who").first).to_contain_text("Citizen")
