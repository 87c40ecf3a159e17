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
from ieim.audit.checkpoints import expected, faults, summary
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
        "chain from its first event to its head, check that everything that a checkpoint "
        "saw (see checkpoint_audit) is still there, and compare every row that the events vouch "
        "for with what is stored: messages, stages, attempts, spans, replies, decisions, "
        "signatures, releases, prompts, vectors, accounts, roles, tokens. Changes nothing, but for "
        "the event that --record asks for; may run beside a live system. Prints a line a broken "
        "chain, with its first break, and a line a row that does not hold. Exits 0 only when "
        "everything holds."
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
            result = _verify(options["session"], options["expect"], options["nothing_since"])
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
        if options["json"]:
            self.stdout.write(json.dumps(result))
        else:
            self._print(result, options["session"])
        if not result["ok"]:
            raise CommandError("the audit record does not hold")

    def _print(self, result: dict[str, Any], session: UUID | None) -> None:
        for broken in result["broken"]:
            self.stdout.write(f"{broken['chain']}: {broken['message']}")
        for differing in result["differing"]:
            self.stdout.write(differing["message"])
        for fault in result["faults"]:
            self.stdout.write(fault)
        self.stdout.write(
            f"{result['events']:,} events in {result['chains']:,} chains, "
            f"{len(result['broken']):,} of them broken"
        )
        self.stdout.write(
            f"{result['rows']:,} rows vouched for, {len(result['differing']):,} differ"
        )
        if result["since"] is not None:
            self.stdout.write(f"{result['since']:,} events since the checkpoint that was expected")
        if "seals" in result:
            self.stdout.write("{count:,} seals, the newest of {at}".format(**result["seals"]))
        if result["checkpoint"]:
            line = "checkpoint {number} at {at} over {chains} chains: {digest}"
            self.stdout.write(line.format(**result["checkpoint"]))
        elif session is None:
            self.stdout.write("no checkpoint yet: manage.py checkpoint_audit takes one")


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


@transaction.atomic
def _record(result: dict[str, Any], expect: str | None, seal: Mapping[str, str] | None) -> None:
    """Record how many of each did not hold; which they are, the command prints."""
    checkpoint = AuditCheckpoint.objects.filter(digest=expect).first() if expect else None
    payload: dict[str, JSONValue] = {
        **{name: result[name] for name in ("ok", "chains", "events", "since")},
        **{name: len(result[name]) for name in ("broken", "differing", "faults")},
        "vouched": result["rows"],
        "expected": summary(checkpoint) if checkpoint else None,
        "seal": seal,
    }
    record_system(kind=VERIFIED, actor="system", payload=payload)


def _verify(session: UUID | None, expect: str | None, nothing_since: bool) -> dict[str, Any]:
    if session is not None:
        report = verify(session)
        return _result([report], len(report.rows), second_look(session))
    comparison = Comparison()
    with (
        reading(),
        # disable=None: no bar unless stderr is a terminal.
        tqdm(total=AuditEvent.objects.count(), unit=" events", disable=None) as bar,
    ):
        broken = list(_broken(verify_all(), comparison, bar))
        found = faults()
    result = _result(broken, comparison.rows, comparison.finish())
    result |= {"chains": comparison.chains, "events": comparison.events, "faults": found}
    if expect is not None:
        outcome = expected(expect)
        result["since"] = outcome.since
        found += outcome.faults
        if nothing_since and outcome.since:
            found.append(
                f"{outcome.since:,} events were added since the checkpoint that was expected"
            )
    newest = AuditCheckpoint.objects.first()
    result["checkpoint"] = summary(newest) if newest else None
    result["ok"] = not (result["broken"] or result["differing"] or found)
    return result


def _broken(
    reports: Iterator[ChainReport], comparison: Comparison, bar: tqdm[NoReturn]
) -> Iterator[ChainReport]:
    for report in reports:
        bar.update(report.events)
        comparison.add(report)
        if not report.ok:
            yield replace(report, rows={})


def _result(
    reports: Sequence[ChainReport], rows: int, differing: Iterable[Discrepancy]
) -> dict[str, Any]:
    broken = [
        {
            "chain": report.chain,
            "seq": report.problem.seq,
            "break": report.problem.code.value,
            "message": report.problem.message,
        }
        for report in reports
        if report.problem is not None
    ]
    found = [asdict(each) for each in differing]
    return {
        "ok": not (broken or found),
        "chains": len(reports),
        "events": sum(report.events for report in reports),
        "broken": broken,
        "rows": rows,
        "differing": found,
        "faults": [],
        "since": None,
        "checkpoint": None,
    }


def _digest(text: str) -> str:
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise ArgumentTypeError("a digest is 64 characters of 0-9 and a-f")
    return text.lower()
