"""Where logs are kept: a small protocol, and the databases that implement it."""
