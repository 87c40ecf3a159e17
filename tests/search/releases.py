"""Small releases for the search tests."""

from __future__ import annotations

from collections.abc import Sequence

from ieim.pipeline.knowledge import Agency, Category, Release, Service

PASSPORTS = Agency("passports", "Passport Office", "", "Issues and renews passports")
TAX = Agency("tax", "Revenue Service", "", "Collects taxes")
ROADS = Agency("RTA", "Road Traffic Authority", "", "Driving licences and vehicles")

CATEGORIES = [
    Category("passports", "travel", "Travel documents", ("holiday papers",)),
    Category("tax", "income", "Income tax", ("wages", "salary")),
    Category("RTA", "licences", "Driving licences"),
]

SERVICES = [
    Service("passports", "renew", "Renew a passport", categories=("travel",), fees="80 crowns"),
    Service("passports", "lost", "Report a lost passport", overview="When it was stolen or lost"),
    Service("tax", "return", "File a tax return", categories=("income",)),
    Service("tax", "refund", "Claim money back", overview="For people who paid too much tax"),
    Service("RTA", "renew", "Renew a driving licence", categories=("licences",)),
]


def release(
    agencies: Sequence[Agency] = (PASSPORTS, TAX, ROADS),
    categories: Sequence[Category] = tuple(CATEGORIES),
    services: Sequence[Service] = tuple(SERVICES),
    *,
    sha256: str = "5ea2c4" + "0" * 58,
) -> Release:
    """A release of these values."""
    return Release(
        number=1,
        sha256=sha256,
        agencies={agency.id: agency for agency in agencies},
        categories={(entry.agency, entry.key): entry for entry in categories},
        services={(service.agency, service.key): service for service in services},
    )


def passports(names: Sequence[str]) -> Release:
    """A release of one agency whose services have these names, keyed "0", "1", ..."""
    services = [Service("passports", str(key), name) for key, name in enumerate(names)]
    return release([PASSPORTS], [], services)
