"""Models behind the pipeline's port: the client, the offline engine, and its server."""
