"""A turn from the message that is taken to the reply that is stored."""
