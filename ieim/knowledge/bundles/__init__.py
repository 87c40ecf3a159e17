"""Knowledge as files: tables, their columns and rules, and the release that they become."""
