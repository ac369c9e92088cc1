"""Conformance suites that policies and oracles of one's own can be held to."""
