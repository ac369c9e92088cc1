"""Many runs: plans as data, executors, a result store, statistics."""
