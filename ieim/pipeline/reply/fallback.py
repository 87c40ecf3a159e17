"""Fallbacks: the administration's words in place of a model's free text.

No word that a model writes of its own reaches a citizen. Of guidance they read the administration's
text, of an answer over several agencies the sentences of the cited services that the model's text
was made from. Both pass the gate as any answer does; the attempt keeps what the model wrote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from ieim.pipeline import quoting
from ieim.pipeline.canonical import dumps
from ieim.pipeline.contract import Contract
from ieim.pipeline.findings import Code
from ieim.pipeline.gate import gate, grounding
from ieim.pipeline.gate.gate import Judgement
from ieim.pipeline.knowledge import Release, Service
from ieim.pipeline.ports import ModelAnswer
from ieim.pipeline.quoting import Quote
from ieim.pipeline.reply import guidance
from ieim.pipeline.reply.cards import HEADS, lead
from ieim.pipeline.reply.plain_text import plain
from ieim.pipeline.stages import judgement as judging
from ieim.pipeline.stages import multi_agency_answer as answering
from ieim.pipeline.stages.base import Context

MOST: Final = 10
"""Sentences of one entry at most: its card has the rest."""

_ENDS = (".", "!", "?", "…", "。", "！", "？")
_NOT_QUOTED = frozenset({"name", "agency"})


def fallback_result(contract: Contract, judgement: Judgement, context: Context) -> Judgement | None:
    """Return the judgement of the answer that takes the place of a model's.

    None where the answer has no free text, is wrong in any way that a second attempt may mend (a
    blank guidance needs none), or is no answer of a model's.
    """
    output, request = judgement.output, context.request
    if output is None or request is None:
        return None
    codes = {finding.code for finding in judgement.findings if finding.stops}
    texts: list[str] = []
    if contract.stage.id == judging.STAGE.id and codes <= {Code.REPLY_EMPTY}:
        if not output["judgements"]["inquiry"]:
            texts = [guidance.chosen(output["assistantReply"], request)]
    elif contract.stage.id == answering.STAGE.id and not codes:
        cited = answering.cited_services(output, context)
        texts = [retold(text, cited, context.release) for text in (output["assistantReply"], "")]
    for text in texts:
        answer = ModelAnswer(raw=dumps({**output, "assistantReply": text}))
        # Attempt 1: only what a model writes at its second attempt has to say what it fixed.
        made = gate.judge(contract, answer, replace(context, attempt=1))
        if made.passed:
            return made
    return None


def retold(text: str, cited: Sequence[Service], release: Release) -> str:
    """Return a paragraph for each of the ``cited`` services: its agency's name, or its own where
    several are of one agency, and the sentences of its entry that ``text`` was made from.

    Of one that the text took nothing from it is what to do first. A sentence that the gate would
    not let through by itself is left out. ``release`` is in the language of the citizen as far as
    it is. Empty where nothing is cited.
    """
    services = list(dict.fromkeys(cited))
    entries = [quoting.of_service(s, release.agencies.get(s.agency)) for s in services]
    quotes = quoting.quotes(text, entries)
    of_agency = Counter(service.agency for service in services)
    paragraphs = []
    for index, service in enumerate(services):
        quotable = [q for q in quotes if q.entry == index and _may_stand(q, service, release)]
        words = " ".join(_under_heads(quotable[:MOST], release)) or _first(service, release)
        one = of_agency[service.agency] == 1
        name = release.agencies[service.agency].name if one else service.name
        paragraphs.append(f"{name}: {words}")
    return "\n\n".join(paragraphs)


def _first(service: Service, release: Release) -> str:
    first = lead(service)
    fits = first and len(first) <= quoting.LONGEST and _grounded(first, service, release)
    return first if fits else service.name


def _may_stand(quote: Quote, service: Service, release: Release) -> bool:
    """Whether a quote passes the gate, and is none of what stands there anyway: names, and where it
    all comes from."""
    addresses = (service.url, service.path, release.agencies[service.agency].path)
    shown_anyway = quote.kind in _NOT_QUOTED or quote.text in addresses
    return not shown_anyway and _grounded(quote.text, service, release)


def _grounded(text: str, service: Service, release: Release) -> bool:
    return not grounding.check(text, [service], release)


def _under_heads(quotes: Sequence[Quote], release: Release) -> Iterator[str]:
    """Yield the quotes, those of one field together under its head."""
    if not quotes:
        return
    language = release.language or quoting.language_of(" ".join(quote.text for quote in quotes))
    heads = HEADS.get(language, {})
    for kind, group in groupby(quotes, key=lambda quote: quote.kind):
        text = " ".join(_ended(plain(quote.text)) for quote in group)
        yield f"{heads[kind]}: {text}" if kind in heads else text


def _ended(text: str) -> str:
    return text if text.endswith(_ENDS) else f"{text}."
