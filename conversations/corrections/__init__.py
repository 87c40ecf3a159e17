"""What answers were made from, and the corrections under them."""
