"""The editors' part of the API: the draft, releases and proposals, trying, recall, notices."""
