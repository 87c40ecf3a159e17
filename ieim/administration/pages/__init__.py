"""The settings' page with its preview, and what is served of them: the colours and the logo."""
