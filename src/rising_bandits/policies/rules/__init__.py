"""Index rules: what is kept of every unit's outcomes, and the index that follows from it.

A unit is a base arm, or a super arm for policies that act on those. A rule is a NamedTuple of arrays and numbers
with ``indices``, ``update`` and ``roomy`` registered (`rising_bandits.policies.rules.operations`), and may have the
methods of `rising_bandits.policies.rules.operations.Rule`. Any Python object with methods of those names is a rule too.
"""
