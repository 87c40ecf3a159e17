"""What a model drafts for editors: it goes nowhere before a person takes it."""
