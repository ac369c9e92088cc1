"""The calls of a study, by what they do: ask, tell, change the study, report."""
