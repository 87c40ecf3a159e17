"""One of everything that an address can take, of one's own agency, another's, two, or none.

All of it is made by the real services. People of the matrix work for :data:`OWN`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from conversations.models import CorrectionNotice, Turn
from ieim.knowledge.bundles.rows import IDENTITY, OF_NO_AGENCY, TABLES, Table
from ieim.knowledge.notices import services as notices
from ieim.people.models import User
from ieim.people.roles import Role
from ieim.people.services import changing
from ieim.people.tokens import services as tokens
from ieim.studio.drafts import editing
from ieim.studio.editor.addresses import NAMES
from ieim.studio.models import (
    DRAFT_MODELS,
    Change,
    DraftingRun,
    Gap,
    GapGroup,
    GoldenQuestion,
    PageRun,
    Proposal,
    RiskExample,
    Service,
    WebPage,
)
from ieim.studio.proposals import services as proposals
from ieim.studio.recall import services as sending
from ieim.studio.trying import services as trying
from review.models import ReviewItem
from review.replies.models import SavedReply
from tests.fixtures import VISA
from tests.review import desk
from tests.review.people import person

OWN, OTHER, SECOND = "civil-registry", "immigration", "social-support"
BIRTH = "How do I register a birth?"


class Variant(StrEnum):
    """Whose an object is; of two agencies one is one's own."""

    OWN = "own"
    FOREIGN = "foreign"
    TWO = "two"
    NONE = "none"


Ask = Callable[..., Turn]
AGENCIES: Mapping[Variant, tuple[str, ...]] = {
    Variant.OWN: (OWN,),
    Variant.FOREIGN: (OTHER,),
    Variant.TWO: (OWN, SECOND),
    Variant.NONE: (),
}
STOPPED = {
    Variant.OWN: (BIRTH, "category_select_v1"),
    Variant.FOREIGN: (VISA, "category_select_v1"),
    Variant.TWO: (desk.BABY, "semantic_analysis_v1"),
    Variant.NONE: (VISA, "agency_detect_v1"),
}
"""A question, and the contract at which its turn stops."""
OF_SERVICE = frozenset(
    {
        "knowledge:service",
        "fresh:entry",
        "knowledge_api:answers",
        "knowledge_api:versions",
    }
)
"""Addresses that name a service in their query."""


class World:
    """The objects of one variant, and the addresses that lead to them."""

    def __init__(self, variant: Variant) -> None:
        self.agencies = AGENCIES[variant]
        self.chief = person("chief", Role.EDITOR)
        self.token, _ = tokens.make(
            by=self.chief, name="chief’s", scopes=["knowledge:read"], agencies=["*"], days=1
        )
        self.item = self._item(*STOPPED[variant])
        self.notice = self._notice()
        self.question = self._question()
        self.group = self._group()
        agency = self.agencies[0] if self.agencies else ""
        self.reply = SavedReply.objects.create(title="R", language="en", agency=agency, text="R")
        self.entries = self._entries()
        self.correction = self._correction()
        self.drafting = self._drafting()
        self.page = self._page()
        self.proposal = self._proposal()
        # It belongs to every agency: with it the proposal would be nobody's of one.
        self.entries["risk_examples"] = self._example()
        self.account = self._account(variant)

    def address(self, name: str, names: tuple[str, ...], me: User | None) -> str:
        """Return where the objects are, ``names`` being what the address takes."""
        query = ""
        of_table: dict[str, Table] = {f"knowledge_api:{table}_entry": table for table in TABLES}
        of_table["editor:translation"] = "translations"
        if table := of_table.get(name):
            query = "?" + urlencode(
                {n: value for n, value in self.identity(table).items() if value}
            )
        elif name.startswith(("recall:", "drafting:")):
            service = self.identity("services")
            query = "?" + urlencode({"agency": service["agency"], "service": service["key"]})
        elif name.startswith("dictionary:"):
            category = self.identity("dictionary")
            query = "?" + urlencode({"agency": category["agency"], "category": category["key"]})
        elif name == "knowledge_api:dictionary_changes":
            query = "?" + urlencode({"agency": self.identity("dictionary")["agency"]})
        elif name == "admin:autocomplete":
            query = "?app_label=studio&model_name=service&field_name=agency"
        elif name == "review:snooze":
            query = "?until=hour"
        elif name in OF_SERVICE:
            query = "?" + urlencode(self.identity("services"))
        values = {result: self._value(name, result, me) for result in names}
        try:
            return reverse(name, kwargs=values) + query
        except NoReverseMatch:  # some are known by number
            return reverse(name, kwargs=dict.fromkeys(names, 1)) + query

    def identity(self, table: Table) -> dict[str, str]:
        """Return the natural id of the entry of a table."""
        row = self.entries[table]
        columns = IDENTITY[table]
        return {n: getattr(row, "agency_id" if n == "agency" else n) for n in columns}

    def _value(self, name: str, argument: str, me: User | None) -> object:
        pages = {
            f"editor:{action}{page}": table
            for action in ("", "delete_")
            for table, page in NAMES.items()
        }
        if name in pages:
            return self.identity(pages[name])[argument]
        if argument in ("id", "object_id"):
            return self._stored(name.removeprefix("admin:").rpartition("_")[0], me)
        values: dict[str, object] = {
            "proposal": self.proposal.pk,
            "notice": self.correction.pk if name == "recall:resume" else self.notice.pk,
            "token": self.token.pk,
            "reply": self.reply.pk,
            "run": self.page.run_id if name.startswith("webpages:") else self.drafting.pk,
            "page": self.page.pk,
            "translation": self._stored("studio_translation", me) if self.agencies else 1,
            "name": self.question.name,
            "chain": self.item.turn.session_id,
            "section_name": "contacts",
            "number": 1,
            "app_label": "studio",
            "secret": "x" * 43,
        }
        if argument == "account":
            return self._stored("people_user", me)
        if argument == "pk":
            if name.startswith("review"):
                return self.item.pk
            if name.startswith(("gaps", "knowledge_api:gap")):
                return self.group.pk
            if name.startswith("knowledge_api:webpage"):
                is_page = name.endswith(("webpage", "_take", "_leave"))
                return self.page.pk if is_page else self.page.run_id
            return self.notice.pk if name.endswith("end_notice") else self.proposal.pk
        return values.get(argument, self.item.pk)

    def _stored(self, model: str, me: User | None) -> object:
        """Return the key of what the admin shows of a model."""
        for table, kind in DRAFT_MODELS.items():
            if model == kind._meta.label_lower.replace(".", "_"):
                return self.entries[table].pk
        account = self.account or (me if me and me.pk else self.chief)
        first: Mapping[str, Callable[[], Model | None]] = {
            "people_user": lambda: account,
            "auth_user_password": lambda: account,
            "auth_group": lambda: self.chief.groups.get(),
        }
        result = first[model]() if model in first else None
        return 1 if result is None else result.pk

    def _item(self, text: str, contract: str) -> ReviewItem:
        return desk.the_item(desk.ask(text, {contract: desk.BAD}))

    def _notice(self) -> Any:
        agency = self.agencies[0] if len(self.agencies) == 1 else ""
        ends_at = timezone.now() + timedelta(days=1)
        return notices.add(
            agency=agency, text="Closed today.", starts_at=None, ends_at=ends_at, by=self.chief
        )

    def _question(self) -> GoldenQuestion:
        expected = {
            "inquiry": bool(self.agencies),
            "agencies": [*self.agencies],
            "service": None,
        }
        result, _ = trying.store_written(text="Where?", expected=expected, note="", by=self.chief)
        return result

    def _group(self) -> GapGroup:
        """Group the item's question."""
        turn, (agency, *_) = self.item.turn, (*self.agencies, "")
        group = GapGroup.objects.create(agency=agency, language="en")
        group.gaps.create(
            turn=turn,
            text="Where?",
            outcome=Gap.Outcome.HELD,
            asked_at=turn.created_at,
            week=turn.created_at.date(),
        )
        return group

    def _entries(self) -> dict[Table, Any]:
        agency = self.agencies[0] if self.agencies else OTHER
        fields = {}
        for table in TABLES:
            rows: Any = DRAFT_MODELS[table]._default_manager.order_by("pk")
            if table == "agencies":
                rows = rows.filter(pk=agency)
            elif table not in OF_NO_AGENCY:
                rows = rows.filter(agency=agency)
            if rows:
                fields[table] = rows[0]
        return fields

    def _example(self) -> RiskExample:
        example = {"text": "Say goodbye to him", "flag": "self_harm", "kind": "danger"}
        saved = editing.save(
            table="risk_examples",
            values={"language": "en", **example},
            by=self.chief,
            expected_version=None,
            source=Change.Source.ADMIN,
        )
        assert isinstance(saved, RiskExample)
        return saved

    def _correction(self) -> CorrectionNotice:
        """Correct an answer made from the service of the entries."""
        turn = desk.ask(VISA if OTHER in self.agencies else BIRTH, {})
        source = turn.reply.body["sources"][0]
        agency, key = source["agency_id"], source["service_key"]
        self.entries["services"] = Service.objects.get(agency=agency, key=key)
        return sending.confirm(agency=agency, service=key, text="The fee is 45.", by=self.chief)

    def _drafting(self) -> DraftingRun:
        """Return what a model drafted about the service of the entries."""
        service = self.identity("services")
        about = {"agency": service["agency"], "service": service["key"]}
        state = {"state": DraftingRun.State.DONE, "seen": {"version": 1, "texts": {}}}
        kind = DraftingRun.Kind.QUESTIONS
        return DraftingRun.objects.create(kind=kind, created_by=self.chief, **about, **state)

    def _page(self) -> WebPage:
        """Return a web page for the service of the entries."""
        agency, state = self.identity("services")["agency"], PageRun.State.DONE
        run = PageRun.objects.create(agency=agency, state=state, created_by=self.chief)
        return run.pages.create(agency=agency, address="https://city.example/", text="# Page")

    def _proposal(self) -> Proposal:
        """Propose another name for a service of each agency; of none, for a label."""
        rows: list[tuple[Table, Any]] = [
            ("services", Service.objects.filter(agency=agency)[0]) for agency in self.agencies
        ]
        for table, row in rows or [("labels", self.entries["labels"])]:
            names = {n: "agency_id" if n == "agency" else n for n in IDENTITY[table]}
            identity = {name: getattr(row, column) for name, column in names.items()}
            editing.save(
                table=table,
                values={**identity, "name": f"{row.name} anew"},
                by=self.chief,
                expected_version=row.version,
                source=Change.Source.ADMIN,
            )
        return proposals.propose(note="New names", by=self.chief)

    def _account(self, variant: Variant) -> User | None:
        """Return the account of the admin's pages: one that roles alone made, a superuser's, an
        administrator's, or None for whoever asks."""
        if variant is Variant.NONE:
            return None
        role = {Variant.OWN: Role.CASEWORKER, Variant.TWO: Role.ADMINISTRATOR}.get(variant)
        user = person("somebody", role, OWN)
        with changing(user.pk, by=None):
            user.is_superuser = variant is Variant.FOREIGN
            user.save()
        return user
