"""A small bundle of our own: written in English, partly translated into French and Swahili."""

from __future__ import annotations

from typing import Any

from ieim.knowledge.bundles.bundle import Bundle, bundle_of
from ieim.knowledge.bundles.rows import Row, Table

TABLES: dict[Table, list[dict[str, Any]]] = {
    "agencies": [
        {
            "id": "garden",
            "name": "Garden Office",
            "path": "https://garden.example",
            "description": "Allotments, trees and beehives.",
        },
        {
            "id": "river",
            "name": "River Office",
            "path": "https://river.example",
            "description": "Boats, moorings and fishing.",
        },
    ],
    "dictionary": [
        {"agency": "garden", "key": "plots", "value": "Allotments", "keywords": ["garden plot"]},
        {"agency": "garden", "key": "bees", "value": "Beehives", "keywords": ["honey"]},
        {"agency": "river", "key": "boats", "value": "Boats", "keywords": ["mooring"]},
        {"agency": "river", "key": "fishing", "value": "Fishing", "keywords": ["fishing licence"]},
        {"agency": "river", "key": "kayaks", "value": "Kayaks", "keywords": ["paddle"]},
    ],
    "services": [
        {
            "agency": "garden",
            "key": "rent-plot",
            "name": "Rent an allotment",
            "path": "https://garden.example/plots",
            "overview": "A plot of land to grow vegetables. You rent it for a year.",
            "applicability_summary": "For everybody who lives in the town.",
            "categories": ["plots"],
            "requirements": ["An identity card", "Proof of your address"],
            "fees": "MRK 45.00",
            "processing_time": "About three weeks",
            "how_to_apply": ["Fill in the garden form.", "Pay the rent."],
            "contact": "Garden desk, +999 20 555 0301",
            "url": "https://garden.example/plots",
            "read_on": "2026-11-20",
        },
        {
            "agency": "garden",
            "key": "keep-bees",
            "name": "Register a beehive",
            "path": "https://garden.example/bees",
            "overview": "Every beehive has a number. You get it when you register the hive.",
            "applicability_summary": "For everybody who keeps bees.",
            "categories": ["bees"],
            "requirements": ["A plan of the garden"],
            "fees": "Free for two hives",
            "processing_time": "At once",
            "how_to_apply": ["Say where the hive stands.", "Put the number on the hive."],
            "contact": "Garden desk, +999 20 555 0301",
            "url": "https://garden.example/bees",
        },
        {
            "agency": "river",
            "key": "moor-boat",
            "name": "Rent a mooring for a boat",
            "path": "https://river.example/moorings",
            "overview": "A place at the quay for one boat. You rent it for a season.",
            "categories": ["boats"],
            "requirements": ["The papers of the boat"],
            "fees": "MRK 120.00",
            "how_to_apply": ["Choose a place at the quay."],
            "url": "https://river.example/moorings",
        },
        {
            "agency": "river",
            "key": "kayak",
            "name": "Get a kayak permit",
            "path": "https://river.example/kayaks",
            "overview": "A kayak on the river needs a permit. The permit is a number on the kayak.",
            "categories": ["kayaks"],
            "requirements": ["The kayak itself"],
            "fees": "Free",
            "how_to_apply": ["Show the kayak at the quay."],
            "url": "https://river.example/kayaks",
        },
        {
            "agency": "river",
            "key": "fish",
            "name": "Get a fishing licence",
            "path": "https://river.example/fishing",
            "overview": "You need a licence to fish in the river.",
            "categories": ["fishing"],
            "fees": "MRK 12.00 a year",
            "how_to_apply": ["Buy the licence at the quay."],
            "url": "https://river.example/fishing",
        },
    ],
    "translations": [
        {
            "language": "fr",
            "agency": "garden",
            "name": "Office des jardins",
            "description": "Jardins familiaux, arbres et ruches.",
        },
        {"language": "fr", "agency": "river", "name": "Office du fleuve"},
        {
            "language": "fr",
            "agency": "garden",
            "category": "plots",
            "name": "Jardins familiaux",
            "keywords": ["louer un jardin", "parcelle", "potager"],
        },
        {
            "language": "fr",
            "agency": "garden",
            "category": "bees",
            "name": "Ruches",
            "keywords": ["abeilles", "apiculture", "déclarer une ruche"],
        },
        {
            "language": "fr",
            "agency": "river",
            "category": "fishing",
            "name": "Pêche",
            "keywords": ["permis de pêche", "pêcher"],
        },
        {
            "language": "fr",
            "agency": "river",
            "category": "kayaks",
            "name": "Kayaks",
            "keywords": ["autorisation pour un kayak", "canoë"],
        },
        {
            "language": "fr",
            "agency": "garden",
            "service": "rent-plot",
            "name": "Louer un jardin familial",
            "overview": "Une parcelle pour cultiver des légumes. Vous la louez pour un an.",
            "applicability_summary": "Pour les habitants de la ville.",
            "requirements": ["Une carte d’identité", "Un justificatif de domicile"],
            "processing_time": "Environ trois semaines",
            "how_to_apply": ["Remplissez le formulaire du jardin.", "Payez le loyer."],
            "contact": "Guichet des jardins, +999 20 555 0301",
        },
        {
            "language": "fr",
            "agency": "river",
            "service": "fish",
            "name": "Obtenir un permis de pêche",
            "how_to_apply": ["Achetez le permis de pêche au quai."],
        },
        {"language": "sw", "agency": "river", "name": "Ofisi ya Mto"},
    ],
}

PLOT = "Comment louer un jardin familial pour cultiver des légumes ?"
KAYAK = "Quelle autorisation pour un kayak ?"
FISHING = "Comment obtenir un permis de pêche pour le fleuve ?"
PLOT_IN_ENGLISH = "How do I rent an allotment to grow vegetables?"
PLOT_IN_POLISH = "Chciałbym wynająć ogródek działkowy, co muszę zrobić?"


def bundle() -> Bundle:
    """Return the bundle, checked."""
    return bundle_of(
        {table: [Row(table, None, row) for row in rows] for table, rows in TABLES.items()}
    )
