"""The metrics page: questions, answers, review items, decisions and tokens of a period."""
