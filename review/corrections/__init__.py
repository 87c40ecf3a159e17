"""What people decided against the model, as records and as cases to evaluate on."""
