"""Saved states are read as if a stranger had written them: any edit gives an error of ours or a working policy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from edit_kit import leaves, put

import rising_bandits as rb
from rising_bandits.policies import saving
from rising_bandits.policies.saving import decode_array, encode_array, sealed

STATES = json.loads((Path(__file__).parents[1] / "data" / "states-1.json").read_text())
KINDS = sorted(key for key in STATES if key.startswith("path-easy|"))
NUMBERS = (-1, 0, 2**31, 2**33, 2**62, 10**30, 1.5, float("nan"), float("inf"), True, None, "x", [], {})
TEXTS = ("", "x", "AAAA", "\ud800", None, 7, [], {})
CONTAINERS = ([], {}, None, 7, "x", [[]] * 3, {"a": 1})


def is_array(value):
    """Whether a value is an array as plain data, which is edited as one."""
    return isinstance(value, dict) and "dtype" in value


def edits(value):
    """What a stranger might write in place of a value."""
    if is_array(value):
        array = decode_array(value)
        real = array.dtype.kind == "f"
        extremes = (np.nan, np.inf, -np.inf, -1.0, 1.7e308) if real else (-1, -(2**40), 2**33, 2**62)
        for place in sorted({0, array.size - 1} if array.size else ()):
            for extreme in extremes:
                other = array.copy()
                other.flat[place] = np.array(extreme).astype(array.dtype)
                yield encode_array(other)
        if array.size:
            if real:
                yield encode_array(np.full_like(array, 1.7e308))
            yield encode_array(array + np.ones(1, dtype=array.dtype))
            yield encode_array(array.ravel()[:-1])
            yield encode_array(array.ravel()[::-1].copy().reshape(array.shape))
        with np.errstate(invalid="ignore"):
            other = array.astype(np.float64 if array.dtype.kind != "f" else np.int64)
        yield encode_array(other)
        yield {**value, "shape": [2**40, 2**40]}
        yield {**value, "dtype": "|O"}
        yield {**value, "data": "not base64!"}
        yield from ([], None, {}, "x")
    elif isinstance(value, bool | int | float) or value is None:
        yield from NUMBERS
    elif isinstance(value, str):
        yield from TEXTS
    else:
        yield from CONTAINERS


def tried(kind, state):
    """Whether a state is refused with an error of ours; if not, the policy must work."""
    with np.errstate(all="ignore"):
        try:
            policy = kind.from_state(state)
        except rb.RisingBanditsError:
            return True
        for _ in range(6):
            arms = policy.select()
            assert policy.problem.oracle.is_feasible(arms)
            policy.observe(arms, [0.5] * len(arms))
        assert not np.isnan(policy.indices()).any()
        kind.from_state(policy.state(), policy.problem)
    return False


RIVALS = [
    *("cts", "epsilon-greedy", "newer-half", "r-less-ucb", "probe-and-commit", "glr-cucb", "ti-ucb", "r-sr"),
    *("cure-ucb", "program-crucb", "rising-ts", "recent-mean", "escb", "foresight"),
]
"""One policy for each of their rules, and more where parameters matter."""


def rival(name):
    """A rival policy in the middle of a run."""
    kind = rb.policies.classes()[name]
    policy = kind(**kind.examples()[-1])
    policy.start(rb.problems.TopK(4, k=1), horizon=200, rng=0)
    rng = np.random.default_rng(1)
    for _ in range(90):
        policy.observe(policy.select(), [rng.random()])
    return kind, policy.state()


@pytest.mark.parametrize("key", [*KINDS, *RIVALS])
def test_every_edited_leaf_is_refused_or_works(key):
    if key in RIVALS:
        kind, state = rival(key)
    else:
        kind = getattr(rb, STATES[key]["class"])
        state = kind.from_state(STATES[key]["state"]).state()
    refused = worked = 0
    for path, value in leaves(state, whole=is_array):
        if path and path[0] not in ("checksum", "version"):
            # Rivals get every second edit, to save time.
            for edit in list(edits(value))[:: 2 if key in RIVALS else 1]:
                try:
                    changed = sealed(put(state, path, edit))
                except rb.InputError:  # no plain data any more
                    continue
                if tried(kind, changed):
                    refused += 1
                else:
                    worked += 1
    assert refused > 100, (refused, worked)


@pytest.mark.parametrize("name", ["crucb", "crucb-coarse", "horizon-crucb", "sw-ucb", "sw-cts", "r-ed-ucb"])
def test_states_that_are_believed_are_safe_in_machine_code(name):
    """Compiled code has no checks of its own, so a state that passes must not lead it out of its arrays."""
    saved = STATES[f"path-easy|{name}"]
    kind = getattr(rb, saved["class"])
    task = rb.tasks.get("path-easy")
    run = rb.Simulation(task, kind(**saved["state"]["parameters"]), horizon=3_000, seed=0)
    run.advance(231)
    state = run.state()
    places = list(leaves(state, whole=is_array))
    rule = [(path, value) for path, value in places if path[:2] in (("policy", "rule"), ("policy", "aims"))]
    assert len(rule) > 5
    worked = 0
    for path, value in [*rule, *((path, value) for path, value in places if path and path[0] in ("ledger", "plays"))]:
        for edit in edits(value):
            try:
                changed = put(state, path, edit)
                changed = sealed({**changed, "policy": sealed(changed["policy"])})
                again = rb.Simulation.from_state(changed, task, kind)
            except rb.RisingBanditsError:
                continue
            try:
                again.advance(300)
            except rb.RisingBanditsError:
                continue
            worked += 1
    assert worked > 0


@pytest.mark.parametrize("structure", ["matching", "path"])
def test_no_state_and_no_parameter_makes_sums_of_indices_overflow(structure):
    """A solver that adds up indices near the largest float would return arms that are no super arm."""
    problem = {
        "matching": rb.problems.Matching(2, 3),
        "path": rb.problems.ShortestPath([("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")], "a", "d"),
    }[structure]
    for name in set(rb.policies.names()) - {"oracle", "random", "tour", "foresight"}:
        kind = rb.policies.classes()[name]
        for parameter in {"sigma", "bonus"} & set(kind.__dataclass_fields__):
            with pytest.raises(rb.InputError, match=f"{parameter} must be at most 1e.09, more is beyond any use"):
                kind(**{parameter: 1.7e308})
    policy = rb.CRUCB(sigma=1e9, bonus=1e9)
    policy.start(problem, horizon=10**12, rng=0)
    for _ in range(30):
        arms = policy.select()
        assert problem.oracle.is_feasible(arms)
        policy.observe(arms, [0.5] * len(arms))
    state = policy.state()
    rule = {**state["rule"], "sums": encode_array(np.full_like(decode_array(state["rule"]["sums"]), 1.7e308))}
    with pytest.raises(rb.InputError, match="coefficients that outcomes cannot have"):
        rb.CRUCB.from_state(sealed({**state, "rule": rule}))


def test_damage_is_told_from_age():
    policy = rb.CRUCB()
    policy.start(rb.problems.TopK(3, k=1), rng=0)
    state = policy.state()
    with pytest.raises(rb.InputError, match="damaged or was edited: its checksum is wrong"):
        rb.CRUCB.from_state({**state, "round": 5})
    with pytest.raises(rb.InputError, match="must be of version 1 or 2, got 3"):
        rb.CRUCB.from_state({**state, "version": 3})
    old = {name: value for name, value in state.items() if name != "checksum"} | {"version": 1}
    assert rb.CRUCB.from_state(old).round == 1


@pytest.mark.parametrize("state", [None, [], 7, "x", {}, {"version": 2}, {"version": 1}, {"version": [1]}])
def test_what_is_no_state_at_all_is_refused(state):
    with pytest.raises(rb.InputError):
        rb.CRUCB.from_state(state)
    with pytest.raises(rb.InputError):
        rb.Simulation.from_state(state, rb.tasks.get("toy"), rb.CRUCB)


def test_states_nested_beyond_reason_are_refused():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(rb.InputError):
        rb.CRUCB.from_state({"version": 2, "checksum": "", "policy": deep})


@pytest.mark.parametrize(
    ("bits", "place"), [(np.random.MT19937, ("state", "pos")), (np.random.Philox, ("buffer_pos",))]
)
def test_positions_inside_a_generator_are_checked(bits, place):
    data = saving.dump_rng(np.random.Generator(bits(1)))
    assert saving.load_rng(data).random() == np.random.Generator(bits(1)).random()
    with pytest.raises(rb.InputError, match="pos of the random generator"):
        saving.load_rng(put(data, place, 10**6))


def test_a_reversed_or_unchecked_array_cannot_reach_the_engine():
    """What was public and unchecked is private; what is public checks kind, order and range."""
    policy = rb.CRUCB(sigma=0.1)
    policy.start(rb.problems.TopK(3, k=2), rng=0)
    for name in ("take_in", "pass_rounds", "give_up", "take_back", "actor"):
        assert not hasattr(policy, name)
    for _ in range(4):
        policy.observe(np.array([0, 1, 2])[::-1][1:], [1, 0])  # a reversed view, and whole numbers
    assert policy.plays.tolist() == [4, 4, 0]
    with pytest.raises(rb.InputError):
        policy.absorb(10**9, [0.5])
    with pytest.raises(rb.InputError):
        policy.absorb(0, [float("nan")])
    with pytest.raises(rb.InputError):
        policy.rebase(policy.problem, [0, 1, -2])
    with pytest.raises(rb.InputError):
        policy.rebase(policy.problem, [0.0, 1.0, 2.0])
