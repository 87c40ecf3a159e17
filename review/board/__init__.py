"""The lead's board: what is open, who works, absences, sharing work out, and alerts."""
