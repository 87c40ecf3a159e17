"""What the answer benchmark asks beside files of cases: questions and talks made by a rule.

All builders are deterministic: what is chosen is chosen by the SHA-256 of an id. A talk keeps the
id of the question that it was made of, and so its half.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.pipeline.knowledge import Release, Service
from ieim.search.analysis import fold
from ieim.studio.evaluation.cases import INJECTION, Case, Expected, read_cases

History = tuple[Mapping[str, str], ...]
Answering = Callable[[str, History], tuple[str, str] | None]
"""Asks an engine and returns agency and key of the service it answered with, None without one."""

MOST_MADE = 300
SHORTEST = 5
"""Words of a sentence that is asked."""

FOLLOW_UPS: tuple[str, ...] = (
    "How much does it cost?",
    "and how long does it take?",
    "Do I need an appointment?",
    "Can I do that online?",
    "What documents do I need?",
    "What do I have to bring?",
    "Can my husband do it for me?",
    "And if I miss the deadline?",
    "Where is the office?",
    "what are the opening hours",
    "Do I have to pay again?",
    "Is there a fee for children?",
    "Can I send it by post?",
    "When will I hear back?",
    "I live abroad, can I still apply?",
    "What if I lost the letter?",
    "Who can I call?",
    "Does my wife need one too?",
    "My form was rejected, what now?",
    "is it free for students?",
    "Can I pay by card?",
    "What happens after I have sent the form?",
    "How will I get the money?",
    "Can I change my mind later?",
    "do you have a phone number",
)
"""Questions that can be asked of any service, and that name none. They were in view while the
engine's list of such words was made."""

UNSEEN_FOLLOW_UPS: tuple[str, ...] = (
    "I am too ill to come, can somebody else go?",
    "What if I am divorced?",
    "Will they check my bank account?",
    "how soon can I start",
    "do I lose it if I get a job?",
    "Is there a limit on how much I can earn?",
    "My English is poor, is there an interpreter?",
    "Can I get a receipt?",
    "my surname has changed since, is that a problem?",
    "I have no computer",
    "do they take my fingerprints?",
    "Can I appeal?",
    "Do you need my passport or is a driving licence enough?",
    "is parking available there",
    "I'm in a wheelchair, can I get in?",
    "What does that word mean?",
    "My brother had to wait half a year, is that normal?",
    "Who signs it if I can't see well?",
    "can a lawyer help me with that",
    "Do I need to tell my employer?",
)
"""More of them, written after the engine by somebody else, who knew its list of such words. Nothing
was tuned on them: leave it so, or write new ones."""

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_NO_WORD = re.compile(r"[\W_]+")
_DIALOGUE = re.compile(r"\btestdev (\w+)")


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Cases, and the ids of those that are held out; ``held`` is None where nothing is."""

    cases: Sequence[Case]
    held: frozenset[str] | None = None

    def sides(self) -> Iterator[Sequence[Case]]:
        """Yield the cases of each half apart, all at once where there are no halves."""
        if self.held is None:
            yield self.cases
            return
        for side in (False, True):
            yield [case for case in self.cases if (case.id in self.held) == side]


def held_out(case_id: str, source: str) -> bool:
    """Whether a case belongs to the half on which nothing may be tuned."""
    names = _DIALOGUE.findall(source) or [case_id]
    return any(hashlib.sha256(name.encode()).digest()[0] % 2 for name in names)


def read_set(path: Path) -> CaseSet:
    """Read a file of cases with its halves; raises as ``read_cases`` does."""
    cases = read_cases(path).cases
    rows = [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
    ids = (row["id"] for row in rows if held_out(row["id"], row.get("source", "")))
    return CaseSet(cases, frozenset(ids))


def made_of(release: Release) -> tuple[Release, list[Case]]:
    """Return a release without some sentences, and these as questions, at most ``MOST_MADE``.

    The last sentence of an overview with ``SHORTEST`` words or more is asked where it stands once
    in the whole release (case, white space and punctuation aside) and another sentence stays.
    """
    texts = [_folded(_text(service)) for service in release.services.values()]
    services = dict(release.services)
    cases = []
    for key in sorted(services, key=lambda key: _number("|".join(key))):
        service = services[key]
        result = _last_sentence(service.overview)
        folded = _folded(result)
        if not result or sum(text.count(folded) for text in texts) != 1:
            continue
        services[key] = replace(service, overview=service.overview.replace(result, " ").strip())
        expected = Expected(True, frozenset({service.agency}), frozenset({service.key}))
        cases.append(Case(id="/".join(key), text=result, history=(), expected=expected))
        if len(cases) == MOST_MADE:
            break
    # Another content: it must not be taken for the release that it was made of.
    return replace(release, services=services, sha256="0" * 64), cases


def first_questions(questions: CaseSet) -> CaseSet:
    """Return the questions without a talk that have one agency and a service.

    Vague ones, and those that carry an injected text, are left out.
    """
    chosen = [
        case
        for case in questions.cases
        if not case.history
        and not {"vague", INJECTION} & set(case.tags)
        and len(case.expected.agencies or ()) == 1
        and case.expected.services
    ]
    return replace(questions, cases=chosen)


def going_on(release: Release, questions: CaseSet, follow_ups: Sequence[str]) -> CaseSet:
    """Return talks that go on: a question, its answer, then one of ``follow_ups``.

    Right is the service of that answer and no other.
    """
    cases = []
    for case in questions.cases:
        service = _answer(release, case)
        if service is None:
            continue
        text = follow_ups[_number(f"goes on|{case.id}") % len(follow_ups)]
        expected = Expected(True, frozenset({service.agency}), frozenset({service.key}))
        cases.append(replace(case, text=text, history=_talk(case, service), expected=expected))
    return replace(questions, cases=cases)


def turning(release: Release, questions: CaseSet) -> CaseSet:
    """Return talks that turn: each question after another agency's question and its answer.

    Both are of one half. Questions are left out where the half has none of another agency.
    """
    cases = []
    for side in questions.sides():
        answered = [(case, service) for case in side if (service := _answer(release, case))]
        for case in side:
            others = [
                pair for pair in answered if pair[0].expected.agencies != case.expected.agencies
            ]
            if others:
                before = others[_number(f"turns|{case.id}") % len(others)]
                cases.append(replace(case, history=_talk(*before)))
    return replace(questions, cases=cases)


def answered_before(questions: CaseSet, answering: Answering) -> CaseSet:
    """Return the questions in a talk, with what the engine itself said to earlier messages.

    As production does, an earlier answer carries agency and service where the engine gave one to
    the message before it, itself asked in the talk so far. The texts stay those of the file.
    """
    known: dict[str, tuple[str, str] | None] = {}

    def about(text: str, before: History) -> tuple[str, str] | None:
        question = json.dumps([text, before])
        if question not in known:
            known[question] = answering(text, before)
        return known[question]

    cases = [
        replace(case, history=_with_services(case.history, about))
        for case in questions.cases
        if case.history
    ]
    return replace(questions, cases=cases)


def _with_services(history: History, about: Answering) -> History:
    records: list[Mapping[str, str]] = []
    given: tuple[str, str] | None = None
    for item in history:
        plain = {"role": item["role"], "text": item["text"]}
        if item["role"] == "user":
            given = about(item["text"], tuple(records))
        elif given:
            plain |= {"agency": given[0], "service": given[1]}
        records.append(plain)
    return tuple(records)


def _talk(case: Case, service: Service) -> History:
    """Return a question and an answer about ``service``."""
    answer = f"{service.name}. {service.overview}"
    return (
        {"role": "user", "text": case.text},
        {"role": "assistant", "text": answer, "agency": service.agency, "service": service.key},
    )


def _answer(release: Release, case: Case) -> Service | None:
    """Return an acceptable service of the expected agency, the first by its key."""
    right = [
        service
        for service in release.services.values()
        if service.agency in (case.expected.agencies or ())
        and service.key in case.expected.services
    ]
    return min(right, key=lambda service: service.key, default=None)


def _last_sentence(overview: str) -> str:
    """Return the last sentence that is long enough, empty where it is the only sentence."""
    sentences = [entry for entry in _SENTENCE_END.split(overview) if _folded(entry)]
    long_enough = [sentence for sentence in sentences if len(sentence.split()) >= SHORTEST]
    return long_enough[-1].strip() if long_enough and len(sentences) > 1 else ""


def _text(service: Service) -> str:
    lists = (*service.requirements, *service.how_to_apply)
    texts = (service.name, service.overview, service.applicability_summary, *lists)
    return "\n".join((*texts, service.fees, service.processing_time, service.contact))


def _folded(text: str) -> str:
    # Spaces of its own around each word: none is found inside a longer word, and a sentence that
    # stands there twice in a row is found twice.
    return "".join(f" {word} " for word in _NO_WORD.split(fold(text)) if word)


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest())
