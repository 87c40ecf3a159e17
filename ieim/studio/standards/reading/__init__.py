"""Reading files of open standards as what they describe."""
