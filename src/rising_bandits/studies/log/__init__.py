"""The log of a study: events, what they amount to, and snapshots of that."""
