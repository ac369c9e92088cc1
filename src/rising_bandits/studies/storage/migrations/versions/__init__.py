"""One file a version of the schema; files that were released are never changed."""
