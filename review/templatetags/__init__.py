"""Tags for the forms of an item's page."""
