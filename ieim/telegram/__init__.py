"""A channel for Telegram: a program that knows IEIM's REST API and nothing else of it."""
