"""What citizens said of answers: who of the staff sees it, and what they make of it."""
