"""``manage.py verify_audit``."""

from __future__ import annotations

import json
import re
from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, transaction
from tqdm import tqdm

from ieim.audit.audited import Discrepancy
from ieim.audit.canonical import JSONValue
from ieim.audit.checkpoints import compare_with_digest, faults, summary
from ieim.audit.comparing import Comparison, second_look
from ieim.audit.models import AuditCheckpoint, AuditEvent
from ieim.audit.seals import SealError, SealReport, key_id, read_public_key, verify_seals
from ieim.audit.selectors import VERIFIED
from ieim.audit.services import record_system
from ieim.audit.verify import ChainReport, reading, verify, verify_all


class Command(BaseCommand):
    """Verify the audit record."""

    help = (
        "Verify the audit record: recompute every event's hash from what is stored, follow each "
        "chain from its first event to its head, check that everything that a checkpoint saw is "
        "still there, and compare every row that the events vouch for with what is stored. Changes "
        "nothing, but for the event that --record asks for; may run beside a live system. Prints a "
        "line a broken chain, with its first break, and a line a row that does not hold. Exits 0 "
        "only when everything holds."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--session", type=UUID, metavar="UUID", help="verify only the chain of this session"
        )
        parser.add_argument(
            "--expect",
            type=_digest,
            metavar="DIGEST",
            help="a digest that checkpoint_audit printed and that was kept elsewhere: the record "
            "must still begin with all that was in it then",
        )
        parser.add_argument(
            "--seals",
            type=Path,
            metavar="FILE",
            help="the lines of seal_audit: each seal has to be signed and to follow the one "
            "before, its checkpoint stored, and the newest one is expected as by --expect",
        )
        parser.add_argument(
            "--public-key", type=Path, metavar="FILE", help="with --seals: the key (PEM) they need"
        )
        parser.add_argument(
            "--nothing-since",
            action="store_true",
            help="with --expect: nothing may have been added since either (a system at rest, a "
            "restored backup)",
        )
        parser.add_argument(
            "--record",
            action="store_true",
            help="record the outcome as an event (audit.verified), which the auditors' page shows",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print one JSON object: ok, chains, events, broken (chain, seq, break, message), "
            "rows (how many are vouched for), differing (chain, kind, id, fault, message, and "
            "event, the number of the one that vouches for it, or 0), faults "
            "(of the checkpoints), since (events after the expected checkpoint, or null), "
            "checkpoint (the newest, or null), seals (with --seals: newest, at, count)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify, print, and raise :class:`CommandError` unless everything holds."""
        _check_options(options)
        seal: dict[str, str] | None = None
        seals = SealReport()
        if options["seals"]:
            try:
                key = read_public_key(options["public_key"])
                seals = verify_seals(options["seals"], key)
            except SealError as error:
                raise CommandError(str(error)) from error
            seal = {"file": str(options["seals"]), "key": key_id(key)}
            options["expect"] = seals.newest or None
        try:
            if options["session"]:
                result = _verify_session(options["session"])
            else:
                result = _verify_all(options["expect"], options["nothing_since"])
        except (DatabaseError, ValueError) as error:
            raise CommandError(f"the audit record cannot be read: {error}") from error
        if seal:
            result["faults"] += seals.faults
            result["ok"] = result["ok"] and not seals.faults
            result["seals"] = {"newest": seals.newest, "at": seals.at, "count": seals.count}
        if options["record"]:
            try:
                _record(result, options["expect"], seal)
            except DatabaseError as error:
                raise CommandError(f"the outcome could not be recorded: {error}") from error
        lines = [json.dumps(result)] if options["json"] else _lines(result, options["session"])
        self.stdout.write("\n".join(lines))
        if not result["ok"]:
            raise CommandError("the audit record does not hold")


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise :class:`CommandError` for options that do not go together."""
    seals, expect = options["seals"], options["expect"]
    if bool(seals) != bool(options["public_key"]):
        raise CommandError("--seals and --public-key go together")
    if seals and expect:
        raise CommandError("--seals expects the newest seal: leave --expect out")
    if options["session"] and (seals or expect):
        raise CommandError("--expect and --seals are about all chains: leave --session out")
    if options["session"] and options["record"]:
        raise CommandError("--record is of the whole record: leave --session out")
    if options["nothing_since"] and not (seals or expect):
        raise CommandError("--nothing-since needs --expect with the digest that you kept")


def _verify_session(session: UUID) -> dict[str, Any]:
    report = verify(session)
    return _result([report], second_look(session), rows=len(report.rows), events=report.events)


def _verify_all(expect: str | None, nothing_since: bool) -> dict[str, Any]:
    comparison = Comparison()
    with (
        reading(),
        # disable=None: no bar unless stderr is a terminal.
        tqdm(total=AuditEvent.objects.count(), unit=" events", disable=None) as bar,
    ):
        broken = list(_broken(verify_all(), comparison, bar))
        messages = faults()
    result = _result(
        broken, comparison.finish(), rows=comparison.rows, events=comparison.events
    ) | {"chains": comparison.chains, "faults": messages}
    if expect is not None:
        outcome = compare_with_digest(expect)
        result["since"] = outcome.since
        messages += outcome.faults
        if nothing_since and outcome.since:
            messages.append(
                f"{outcome.since:,} events were added since the checkpoint that was expected"
            )
    newest = AuditCheckpoint.objects.first()
    result["checkpoint"] = summary(newest) if newest else None
    result["ok"] = result["ok"] and not messages
    return result


def _broken(
    reports: Iterator[ChainReport], comparison: Comparison, bar: tqdm[NoReturn]
) -> Iterator[ChainReport]:
    """Yield the reports of broken chains, without their rows."""
    for report in reports:
        bar.update(report.events)
        comparison.add(report)
        if not report.ok:
            yield replace(report, rows={})


def _result(
    reports: Sequence[ChainReport],
    discrepancies: Iterable[Discrepancy],
    *,
    rows: int,
    events: int,
) -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    broken = [
        {
            "chain": report.chain,
            "seq": report.problem.seq,
            "break": report.problem.code.value,
            "message": report.problem.message,
        }
        for report in reports
        if report.problem
    ]
    differing = [asdict(discrepancy) for discrepancy in discrepancies]
    return {
        "ok": not (broken or differing),
        "chains": len(reports),
        "events": events,
        "broken": broken,
        "rows": rows,
        "differing": differing,
        "faults": [],
        "since": None,
        "checkpoint": None,
    }


def _lines(result: Mapping[str, Any], session: UUID | None) -> Iterator[str]:
    """Yield the lines that are printed without ``--json``."""
    for broken in result["broken"]:
        yield "{chain}: {message}".format(**broken)
    for differing in result["differing"]:
        yield differing["message"]
    yield from result["faults"]
    yield (
        f"{result['events']:,} events in {result['chains']:,} chains, "
        f"{len(result['broken']):,} of them broken"
    )
    yield f"{result['rows']:,} rows vouched for, {len(result['differing']):,} differ"
    if result["since"] is not None:
        yield f"{result['since']:,} events since the checkpoint that was expected"
    if "seals" in result:
        yield "{count:,} seals, the newest of {at}".format(**result["seals"])
    if result["checkpoint"]:
        checkpoint = "checkpoint {number} at {at} over {chains} chains: {digest}"
        yield checkpoint.format(**result["checkpoint"])
    elif session is None:
        yield "no checkpoint yet: manage.py checkpoint_audit takes one"


@transaction.atomic
def _record(result: Mapping[str, Any], expect: str | None, seal: Mapping[str, str] | None) -> None:
    """Record how many of each did not hold; the command prints them."""
    checkpoint = AuditCheckpoint.objects.filter(digest=expect).first() if expect else None
    payload: dict[str, JSONValue] = {
        **{name: result[name] for name in ("ok", "chains", "events", "since")},
        **{name: len(result[name]) for name in ("broken", "differing", "faults")},
        "vouched": result["rows"],
        "expected": summary(checkpoint) if checkpoint else None,
        "seal": seal,
    }
    record_system(kind=VERIFIED, actor="system", payload=payload)


def _digest(text: str) -> str:
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise ArgumentTypeError("a digest is 64 characters of 0-9 and a-f")
    return text.lower()
