"""Coming back: the private link in other forms, and what is new since the last visit."""
