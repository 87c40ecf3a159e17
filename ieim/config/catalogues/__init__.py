"""The catalogues of what citizens read: gathered from the code, translated by people, compiled."""
