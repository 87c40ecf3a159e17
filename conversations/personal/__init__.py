"""Identity, card and account numbers in a message: the sender says whether they are stored."""
