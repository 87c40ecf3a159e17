"""Reading the environment: what each group of settings is made from."""
