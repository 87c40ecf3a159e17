"""Filters for the words of citizens."""
