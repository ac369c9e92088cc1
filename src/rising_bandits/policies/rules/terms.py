"""The names of the parts of an index, for explanations."""

AVERAGE, IMPROVEMENT, BONUS = "recent average", "predicted improvement", "bonus"
