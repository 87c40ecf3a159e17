"""What a server process needs beside Django: limits, origins, logs, the embedded worker."""
