"""The draft as files for people: CSV, XLSX, YAML and JSON, out and in again."""
