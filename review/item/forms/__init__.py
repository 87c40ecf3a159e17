"""The forms to decide with: one for each action, and one for each contract to correct."""
