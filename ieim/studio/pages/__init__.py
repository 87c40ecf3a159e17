"""The editors' pages: what is current, what the draft changes, and how it gets published."""
