"""The log of a study: its events, the state that follows from them, and snapshots of that state."""
