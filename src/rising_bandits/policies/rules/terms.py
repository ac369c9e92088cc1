"""The names of what an index is made of, for people who ask why."""

AVERAGE, IMPROVEMENT, BONUS = "recent average", "predicted improvement", "bonus"
