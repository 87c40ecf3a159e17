"""The pages on which one entry of the draft is edited."""
