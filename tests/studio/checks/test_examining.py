"""The checks: what each of them finds, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ieim.knowledge.bundles.bundle import Bundle
from ieim.pipeline.knowledge import Agency, Category, Service, Translation
from ieim.search import index_for
from ieim.studio.checks import Remark, Severity, examine
from ieim.studio.checks.overlap import suspects

AGENCIES = (Agency("a", "Office A"), Agency("b", "Office B"))
TRAVEL = Category("a", "travel", "Travel documents", ("passport",))


def service(key: str, name: str, **values: object) -> Service:
    """A service that no check has anything to say of."""
    given = {"overview": "What it is.", "categories": ("travel",), **values}
    return Service("a", key, name, **given)  # type: ignore[arg-type]


PASSPORT = service("pass", "Renew a passport")


def bundle(
    *services: Service,
    dictionary: Sequence[Category] = (TRAVEL,),
    translations: Sequence[Translation] = (),
) -> Bundle:
    return Bundle(AGENCIES, tuple(dictionary), services, (), True, tuple(translations))


def remarks(of: Bundle, budget: int | None = None) -> list[Remark]:
    return examine(of, of.release(), budget=budget)


def found(of: Bundle, budget: int | None = None) -> list[tuple[str, str]]:
    return [(remark.code, remark.entry) for remark in remarks(of, budget)]


def test_it_has_nothing_to_say_of_good_knowledge() -> None:
    assert found(bundle(PASSPORT, service("bag", "Report lost luggage"))) == []


@pytest.mark.parametrize(
    ("values", "field", "tags"),
    [
        ({"fees": "<b>80</b> crowns"}, "What it costs", "<b>, </b>"),
        ({"how_to_apply": ("Come.", "<script>alert(1)</script>")}, "How to apply", "<script>"),
        ({"overview": 'See <a href="https://x.example">here</a>.'}, "What it is", "<a href="),
        ({"contact": "Room 5<br/>Floor 2"}, "Contact", "<br/>"),
    ],
)
def test_it_warns_of_markup_and_names_the_field(
    values: dict[str, object], field: str, tags: str
) -> None:
    (remark,) = remarks(bundle(service("pass", "Renew a passport", **values)))
    assert (remark.code, remark.severity) == ("text.markup", Severity.WARNING)
    assert (remark.table, remark.entry, remark.agency) == ("services", "a pass", "a")
    assert f"“{field}” ({tags}" in remark.sentence


def test_it_warns_of_markup_in_a_translation_too() -> None:
    french = Translation("fr", "a", "", "pass", name="<i>Passeport</i>")
    assert found(bundle(PASSPORT, translations=(french,))) == [("text.markup", "fr a pass")]


@pytest.mark.parametrize(
    "text",
    [
        '<script async src="x.js">',
        "<input disabled>",
        '<OPTION selected value="1">',
        "<video controls src=x>",
        "<img/src=x>",
        "<h2\nclass=big>",
        "<!-- a note -->",
        "80&nbsp;crowns",
        "80&#160;crowns",
        "80&#xA0;crowns",
    ],
)
def test_it_knows_markup_in_every_form(text: str) -> None:
    assert found(bundle(replace(PASSPORT, fees=text))) == [("text.markup", "a pass")]


@pytest.mark.parametrize(
    "text",
    [
        "Under 16 < 80 crowns > 20",
        "Write to <office@x.example> or <a@x.example>.",
        "Say <your name>.",
        "a<b",
        "Sign with <name>.",
        "Bring form <A38>.",
        "x <y>z",
        "Births & deaths; R&D; AT&T",
        "https://x.example/?a=1&copy=2",
    ],
)
def test_signs_that_are_no_markup_are_left_alone(text: str) -> None:
    assert found(bundle(replace(PASSPORT, fees=text))) == []


@pytest.mark.parametrize(
    ("broken", "entry"),
    [
        (bundle(replace(PASSPORT, categories=("travel", "gone"))), "a pass"),
        (bundle(PASSPORT, Service("x", "y", "Z", overview="o")), "x y"),
        (bundle(PASSPORT, dictionary=(TRAVEL, Category("x", "y", "Z"))), "x y"),
        (bundle(PASSPORT, translations=(Translation("fr", "x"),)), "fr x"),
        (bundle(PASSPORT, translations=(Translation("fr", "a", "gone"),)), "fr a gone"),
        (bundle(PASSPORT, translations=(Translation("fr", "a", "", "gone"),)), "fr a gone"),
    ],
)
def test_it_names_dangling_references_as_errors(broken: Bundle, entry: str) -> None:
    first = remarks(broken)[0]
    assert (first.code, first.severity, first.entry) == (
        "reference.dangling",
        Severity.ERROR,
        entry,
    )


def test_it_names_empty_overviews() -> None:
    assert found(bundle(replace(PASSPORT, overview=" \n"))) == [("overview.empty", "a pass")]


def test_it_names_services_that_no_category_reaches() -> None:
    lost = service("bag", "Report lost luggage", categories=())
    assert found(bundle(PASSPORT, lost)) == [("category.unreached", "a bag")]


def test_it_names_categories_that_lead_nowhere_or_have_no_words() -> None:
    dictionary = (TRAVEL, Category("a", "idle", "Idle things"), Category("b", "mute", ""))
    assert found(bundle(PASSPORT, dictionary=dictionary)) == [
        ("category.empty", "a idle"),
        ("category.empty", "b mute"),
        ("category.wordless", "b mute"),
    ]


def test_it_finds_services_of_the_same_or_nearly_the_same_name_once() -> None:
    twin = service("twin", "Renew a passport")
    near = service("near", "Renewing passports")
    assert found(bundle(PASSPORT, twin)) == [("service.duplicate", "a pass")]
    assert found(bundle(PASSPORT, near)) == [("service.duplicate", "a pass")]
    elsewhere = replace(twin, agency="b", categories=("travel",))
    dictionary = (TRAVEL, replace(TRAVEL, agency="b"))
    assert found(bundle(PASSPORT, elsewhere, dictionary=dictionary)) == []


def test_it_finds_a_service_whose_name_leads_to_another() -> None:
    loud = service(
        "loud",
        "Tax relief for families: tax relief",
        overview="Tax relief, tax relief for families with children, tax relief.",
        requirements=("Tax relief for families form",),
    )
    quiet = service("quiet", "Tax relief families", overview="A form.")
    (first,) = remarks(bundle(quiet, loud))
    assert (first.code, first.entry) == ("service.outranked", "a quiet")
    assert "Tax relief for families: tax relief" in first.sentence


def test_it_finds_keywords_that_categories_share_whatever_their_case() -> None:
    other = Category("a", "roads", "Roads", ("Passport ", "cars"))
    road = service("road", "Road permit", categories=("roads",))
    assert found(bundle(PASSPORT, road, dictionary=(TRAVEL, other))) == [
        ("keyword.shared", "a travel")
    ]
    apart = replace(other, agency="b")
    changed = replace(road, agency="b")
    assert found(bundle(PASSPORT, changed, dictionary=(TRAVEL, apart))) == []


def test_it_finds_a_category_whose_words_lead_to_another() -> None:
    long = ("a very long list of other words", "money", "support", "paying for school", "visits")
    first = Category("a", "one", "Child benefit claims", long)
    second = Category("a", "two", "Claims for child benefit")
    services = (
        service("s1", "Claim for a child", categories=("one",)),
        service("s2", "Ask about money", categories=("two",)),
    )
    assert found(bundle(*services, dictionary=(first, second))) == [("category.outranked", "a one")]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://x.example/a b", "link.form"),
        ("https://", "link.form"),
        ("http://x.example/a", "link.form"),
        ("https://x.example/a", None),
    ],
)
def test_it_judges_the_form_of_links(url: str, code: str | None) -> None:
    assert [c for c, _ in found(bundle(replace(PASSPORT, url=url)))] == ([code] if code else [])


def test_it_names_links_that_several_services_have() -> None:
    link = "https://x.example/"
    services = (replace(PASSPORT, url=link), service("bag", "Report lost luggage", url=link))
    assert found(bundle(*services)) == [("link.duplicate", "a pass")]


def test_it_counts_what_a_candidate_costs_against_the_budget() -> None:
    long = bundle(replace(PASSPORT, overview="é" * 6_000), service("bag", "Report lost luggage"))
    assert found(long) == []
    (warning,) = remarks(long, budget=56_000)
    assert (warning.code, warning.severity) == ("budget.terms", Severity.WARNING)
    assert "shorten the overview" in warning.sentence
    (error,) = remarks(long, budget=5_000)
    assert error.severity is Severity.ERROR


def test_errors_come_first_and_remarks_survive_storing() -> None:
    broken = bundle(
        replace(PASSPORT, overview=""), service("bag", "Report luggage", categories=("gone",))
    )
    result = remarks(broken)
    assert [remark.severity for remark in result] == sorted(r.severity for r in result)
    assert result[0].severity is Severity.ERROR
    assert [Remark.from_dict(asdict(remark)) for remark in result] == result


NAMES = st.lists(
    st.lists(
        st.sampled_from(["tax", "visa", "road", "child", "pass", "home"]), min_size=1, max_size=4
    ),
    max_size=12,
)


@given(NAMES)
def test_suspects_are_all_that_share_most_words_with_another(names: list[list[str]]) -> None:
    services = [service(str(i), " ".join(words)) for i, words in enumerate(names)]
    words = [set(name) for name in names]
    expected = [
        str(i)
        for i, mine in enumerate(words)
        if any(len(mine & other) >= 0.6 * len(mine) for j, other in enumerate(words) if i != j)
    ]
    assert [suspect.key for suspect in suspects(services, lambda s: s.name)] == expected


def test_it_says_the_same_whoever_built_the_index() -> None:
    names = ["Apply for a work visa", "Apply for a student visa", "Apply for a tourist visa"]
    first = bundle(*(service(f"v{i}", name) for i, name in enumerate(names)))
    again = replace(first, services=tuple(replace(result) for result in first.services))
    # The index is kept by content: the second one's is made of the first one's entries.
    assert index_for(again.release()) is index_for(first.release())
    assert remarks(again) == remarks(first)
    assert "service.outranked" not in {code for code, _ in found(again)}


FEES = replace(PASSPORT, fees="EUR 1,250.00 a year", requirements=("2 photos", "A form"))


@pytest.mark.parametrize(
    ("french", "codes"),
    [
        (Translation("fr", "a", "", "pass", fees="1 250,00 EUR par an"), []),
        (Translation("fr", "a", "", "pass", requirements=("Un formulaire", "2 photos")), []),
        (Translation("fr", "a", "", "pass", name="Passeport"), []),
        (Translation("fr", "a", "travel", keywords=("formulaire 7",)), []),
        (Translation("fr", "a", description="Ouvert le 1er mai"), ["translation.figures"]),
        (Translation("fr", "a", "", "pass", fees="900,00 EUR par an"), ["translation.figures"]),
        (Translation("fr", "a", "", "pass", fees="Gratuit"), ["translation.figures"]),
    ],
)
def test_it_names_translations_with_other_figures(french: Translation, codes: list[str]) -> None:
    assert [code for code, _ in found(bundle(FEES, translations=(french,)))] == codes


def test_it_says_which_figures_differ() -> None:
    french = Translation("fr", "a", "", "pass", fees="1 300,00 EUR", requirements=("3 photos",))
    (remark,) = remarks(bundle(FEES, translations=(french,)))
    assert (remark.severity, remark.entry, remark.agency) == (Severity.WARNING, "fr a pass", "a")
    assert "requirements: 2 in the original, 3 here" in remark.sentence
    assert "fees: 250 in the original, 300 here" in remark.sentence
