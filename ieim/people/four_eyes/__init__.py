"""What one administrator alone gives nobody, and the second one who agrees."""
