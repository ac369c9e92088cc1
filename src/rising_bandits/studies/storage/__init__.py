"""Storages: where studies are kept. A protocol, and its implementation for SQL databases."""
