"""Trying the draft before it is published: the playground and the golden questions."""
