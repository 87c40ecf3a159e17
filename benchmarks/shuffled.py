"""Catalogues of any size: the demo's services again and again, with their words shuffled."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ieim.knowledge.bundles.bundle import Bundle, read_bundle
from ieim.pipeline.knowledge import Release, Service

DEMO = ROOT / "ieim" / "knowledge" / "demo"


def catalogue(size: int) -> Release:
    """The demo's services and shuffled copies of them, ``size`` in all, the same every time."""
    demo = read_bundle(DEMO)
    chance = random.Random(size)  # noqa: S311 - no secret
    vocabulary = [word for service in demo.services for word in service.overview.split()]
    services = list(demo.services)
    while len(services) < size:
        original = demo.services[len(services) % len(demo.services)]
        key = f"copy-{len(services)}"
        services.append(_copy(original, key, vocabulary, chance))
    whole = Bundle(demo.agencies, demo.dictionary, tuple(services), demo.labels, own_labels=True)
    return whole.release()


def _copy(service: Service, key: str, vocabulary: list[str], chance: random.Random) -> Service:
    def shuffled(text: str) -> str:
        words = [w if chance.random() < 0.5 else chance.choice(vocabulary) for w in text.split()]
        chance.shuffle(words)
        return " ".join(words)

    return replace(
        service,
        key=key,
        name=shuffled(service.name),
        overview=shuffled(service.overview),
        applicability_summary=shuffled(service.applicability_summary),
        requirements=tuple(map(shuffled, service.requirements)),
        how_to_apply=tuple(map(shuffled, service.how_to_apply)),
    )


def questions() -> list[str]:
    """The demo's golden questions."""
    lines = (DEMO / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]
