"""The draft: reading it, changing its entries, replacing it by a bundle, its history."""
