"""E-mail: a citizen whose question waits for a person is told when the answer is there."""
