"""Reports about a study: history, explanations, replays and exported files."""
