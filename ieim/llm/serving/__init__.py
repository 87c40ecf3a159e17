"""The offline engine over HTTP, in the protocol of chat completions."""
