"""The second pair of eyes: signatures, second opinions, and taking a decision back."""
