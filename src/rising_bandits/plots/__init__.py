"""Pictures: data first, then drawing."""
