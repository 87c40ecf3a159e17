"""Owners and review dates of services, reminders, and the check of links."""
