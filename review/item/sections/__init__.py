"""The parts of an item's page, as plain values."""
