"""What people read of a study: histories, explanations, replays and files."""
