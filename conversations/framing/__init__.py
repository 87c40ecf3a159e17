"""On other sites: citizen's pages in a frame, the script that opens it, who may call REST."""
