"""Categories of an agency: listed with their services, and put in order."""
