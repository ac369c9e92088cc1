"""Index rules: they keep what is needed of the outcomes of each unit, and compute its index.

A unit is a base arm, or a super arm for policies that act on super arms. The state of a rule is a NamedTuple of arrays
and numbers. The operations ``indices``, ``update`` and ``roomy`` are registered for its class
(`rising_bandits.policies.rules.operations`). It may have the methods of
`rising_bandits.policies.rules.operations.Rule`. A Python object with methods of these names is a rule too.
"""
