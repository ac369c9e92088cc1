"""Which policy should be used where: a public suite of instances, and what policies make of it."""
