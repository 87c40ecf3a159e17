"""The pages of accounts: who works here, what each may do, and a way in for new ones."""
