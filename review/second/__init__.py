"""The second opinion: what somebody decided, beside what the assistant had."""
