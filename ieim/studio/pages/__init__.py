"""The editors' pages: the current release, the changes of the draft, and its publication."""
