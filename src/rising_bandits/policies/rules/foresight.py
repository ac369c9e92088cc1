"""The index of `Foresight`: forecasts of rising curves, and exploration within a budget."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rising_bandits._checks import Floats, Ints
from rising_bandits._compile import compiled
from rising_bandits.errors import InputError
from rising_bandits.policies.rules.beliefs import believe, check_beliefs, tell
from rising_bandits.policies.rules.checking import bounded, check_lines, check_sums
from rising_bandits.policies.rules.evidence import RISING, check_evidence, judge, own_noise
from rising_bandits.policies.rules.horizon import clock, least_bound, recent_mean
from rising_bandits.policies.rules.operations import assume, indices, roomy, tick, update
from rising_bandits.policies.rules.prefix_sums import fit_windows, newer_half, push, step_of
from rising_bandits.policies.rules.shapes import forecast, take_block, weigh
from rising_bandits.policies.rules.terms import AVERAGE, BONUS, IMPROVEMENT

DECAY, PATIENCE = 0.5, 0.001
"""How slopes fall in the bounds of exploring rounds (see `HorizonCRUCB`)."""
MEMORY = 100.0
"""The worth of rounds that do not explore is averaged over about this many rounds."""
RISE_SCALE, DOUBT_SCALE = 0.02, 0.25
"""The gain that an arm may still hide, as shares of its headroom and of its forecast's deviation."""
TYPICAL = 750.0
"""The rounds per arm of a run that may use its whole budget. Shorter and longer runs may use a share of it."""
LEAST_SHARE, LEAST_RISING = 0.05, 0.5
"""The least shares of the budget: for the rounds per arm, and for how far arms are believed to rise."""
FEW, MUCH = 20.0, 1000.0
"""From this many rounds per arm on, doubt and luck count in full. A shorter run gains less from trying arms."""
ENOUGH, CERTAIN = 16, 1.5
"""From this many plays on, a rise counts as seen, after its line was lowered by this many deviations."""
CAUTION = 2.0
"""How many deviations a forecast may be above the upper bound before the bound takes its place."""
ROUND_PARTS, BLOCK_PARTS = 4, 1
"""How finely time is cut. Forecasts are made for rounds rounded to a 16th (see `clock`). Outcomes of an arm wait until
they are a 16th of its plays or more; of the first 32 plays, none waits."""
NEWS = 1.05
"""The highest mean is updated when it has grown by this factor."""
CHANGE = 0.005
"""The noise of all arms is updated when it has changed by more than this share."""
MOST_ROUNDS = 2.0**52
"""The most rounds of a saved state."""
# The places in `spent`.
COST, WORTH, COUNT, EXPLORES, ROUNDS, SUM, FIRST, TOP, ARMS, SEEN = range(10)


class Foresee(NamedTuple):
    """State of the index. Everything changes in `update` and `tick` only; indices are a function of the state."""

    plays: Ints
    shapes: Floats
    """Tau and alpha of every shape."""
    sums: Floats
    """Per unit and shape: sums of f, f² and f·x."""
    totals: Floats
    """Per unit: weight and sum of the outcomes in ``sums``; then number and sum of those that are not there yet."""
    prefix: Floats
    lines: Floats
    """Prefix sums and lines through windows, as in `HorizonCRUCB`."""
    last: Floats
    noise: Floats
    """Sigma, half the sum of squared steps, their number, and the number at the next update."""
    told: Floats
    """Per unit, what it told the others, see `beliefs`."""
    pool: Floats
    """Sums over units of what they told."""
    prior: Floats
    """What is believed of a new unit: see `shapes.weigh`."""
    spent: Floats
    """Numbers of the run so far: what exploring has cost; the worth of other rounds, and how many count for it; whether
    the last round explored; rounds; the worth of the last round; whether it had a first play; the highest mean; arms
    per other round; arms of the last round."""
    jumps: Floats
    """Per unit: half the sum of squared steps between the outcomes in ``sums``."""
    waiting: Floats
    """The same for the outcomes that are not there yet."""
    mean: Floats
    """The mean of the newer half of each unit's outcomes."""
    value: Floats
    """The cached forecast of each unit, with what may still be hidden."""
    hope: Floats
    """The cached bound of each unit."""
    stamp: Ints
    """The round of the cached numbers; -1 if something has changed since."""
    work: Floats
    evidence: Floats
    """How far the arms are believed to rise, and whether a rise was seen, see `evidence`."""
    horizon: int
    ahead: int
    constant: float
    budget: float
    luck: float
    """How much may still be hidden by noise: a multiple of its variance."""
    size: int
    """The largest size of a super arm."""
    largest: bool
    """Whether the reward is the largest outcome."""

    @property
    def draws(self) -> bool:
        """Whether it uses the generator."""
        return False

    def inheritance(self) -> dict[str, str]:
        """For `rebase`: what is known of all units is copied as a whole, and cached numbers are not copied."""
        whole = ("shapes", "noise", "pool", "prior", "spent", "work", "evidence")
        return {**dict.fromkeys(whole, "whole"), "stamp": "none"}

    @property
    def since(self) -> frozenset[str]:
        """Arrays that states of older versions lack. They start empty."""
        return frozenset({"waiting", "evidence"})

    def check(self) -> None:
        arrays = (self.sums, self.totals, self.prefix, self.told, self.pool, self.prior, self.noise, self.spent)
        if not bounded(*arrays, self.jumps, self.waiting, self.last, self.mean):
            raise InputError("state holds sums or beliefs that are not finite numbers")
        if np.isnan(self.value).any() or np.isnan(self.hope).any() or (self.stamp < -1).any():
            raise InputError("state holds indices that are not numbers")
        if (self.noise < 0.0).any() or self.noise[2] == 0.0 or not bounded(self.noise / self.noise[2]):
            raise InputError("state holds a measure of noise below 0")
        if not all(((part >= 0.0) & (part <= 1.0)).all() for part in (self.last, self.mean, self.spent[[TOP]])):
            raise InputError("state holds outcomes outside 0 to 1")
        plays = self.plays[:, None]
        counts = (self.totals, self.sums.reshape(plays.size, -1), self.jumps[:, None], self.waiting[:, None])
        if any(((part < 0.0) | (part > plays * (1.0 + 1e-9))).any() for part in counts):
            raise InputError("state holds sums that its plays cannot have")
        if (self.spent < 0.0).any() or self.spent[ROUNDS] > MOST_ROUNDS or self.spent[COUNT] > MEMORY:
            raise InputError("state holds a cost or a count that plays could not lead to")
        check_sums(self.prefix, self.plays)
        check_lines(self.lines, self.plays, self.totals[:, 2])
        if not ((self.shapes > 0.0) & (self.shapes < 1e9)).all():
            raise InputError("state holds shapes that are not curves")
        check_beliefs(self.told, self.pool, self.prior)
        check_evidence(self.evidence)

    def terms(self, t: int) -> dict[str, Floats]:
        """The recent average, the forecast beyond it, and what the index adds because the arm is not well known."""
        parts = np.full((3, self.plays.size), np.nan)
        now, explores = _now(self, t), _explores(self)
        # The state holds the work space too, and asking must not change it.
        calm = self._replace(work=self.work.copy())
        for unit in np.flatnonzero(self.plays > 0).tolist():
            value, hope = _evaluate(calm, unit, now)
            index, average = hope if explores else value, float(self.mean[unit])
            # A bound may hold the index below the forecast; nothing is added then.
            plain = min(_forecast(calm, unit, now)[0], index)
            parts[:, unit] = average, plain - average, index - plain
        return {AVERAGE: parts[0], IMPROVEMENT: parts[1], BONUS: parts[2]}


@compiled
def _explores(state: Foresee) -> bool:
    """Whether this round explores: it is its turn, and even the loss of a whole round would stay within the budget."""
    spent = state.spent
    if spent[COUNT] == 0.0:
        return False
    if state.largest:
        return True
    rounds = float(state.horizon) if state.horizon > 0 else spent[ROUNDS]
    each = rounds * spent[ARMS] / (TYPICAL * state.plays.size)
    share = max(LEAST_SHARE, min(each**4, 1.0 / math.sqrt(max(each, 1e-9))))
    share *= max(LEAST_RISING, state.evidence[RISING])
    afford = state.budget * share * rounds * spent[WORTH] - spent[COST] >= spent[WORTH]
    return bool(afford and int(spent[ROUNDS]) % 2 == 1)


@compiled
def _ceiling(state: Foresee) -> float:
    """What an arm may reach at best, as far as outcomes tell."""
    return float(min(1.0, 2.0 * state.spent[TOP]))


@compiled
def _forget_indices(state: Foresee) -> None:
    """All cached numbers are out of date."""
    for unit in range(state.stamp.size):
        state.stamp[unit] = -1


@tick.register(Foresee)
def _tick(state: Foresee) -> None:
    spent = state.spent
    explores = 1.0 if _explores(state) else 0.0
    if spent[FIRST] == 0.0 and spent[ROUNDS] > 0.0:
        # What the last round was worth is known now.
        if spent[EXPLORES] > 0.0:
            # Per arm, because a chain that fails early has fewer plays.
            spent[COST] += max(0.0, spent[WORTH] - spent[ARMS] * spent[SUM] / max(1.0, spent[SEEN]))
        else:
            spent[COUNT] = min(spent[COUNT] + 1.0, MEMORY)
            spent[WORTH] += (spent[SUM] - spent[WORTH]) / spent[COUNT]
            spent[ARMS] += (spent[SEEN] - spent[ARMS]) / spent[COUNT]
    spent[EXPLORES] = explores
    spent[SUM] = 0.0
    spent[SEEN] = 0.0
    spent[FIRST] = 0.0
    spent[ROUNDS] += 1.0
    rounds = int(spent[ROUNDS])
    if clock(rounds, rounds, ROUND_PARTS) != clock(rounds - 1, rounds - 1, ROUND_PARTS):
        believe(state.pool, state.prior)
        each = max(float(state.horizon), spent[ROUNDS]) * state.size / state.plays.size
        judge(state.lines, state.jumps, state.noise[0], _ceiling(state), each, state.evidence)
        _forget_indices(state)


@update.register(Foresee)
def _update(state: Foresee, unit: int, outcome: float) -> None:
    plays = state.plays[unit] + 1
    state.plays[unit] = plays
    spent = state.spent
    if plays == 1:
        spent[FIRST] = 1.0
    else:
        spent[SUM] += state.mean[unit]
        spent[SEEN] += 1.0
    noise = state.noise
    if plays > 1:
        # The mean of half the squared steps is the variance, even if the arm rises slowly.
        jump = outcome - state.last[unit]
        noise[1] += 0.5 * (jump * jump)
        noise[2] += 1.0
        state.waiting[unit] += 0.5 * (jump * jump)
        if noise[2] >= noise[3]:
            sigma = math.sqrt(noise[1] / noise[2])
            noise[3] = 1.1 * noise[2]
            if abs(sigma - noise[0]) > CHANGE * noise[0]:
                noise[0] = sigma
                _forget_indices(state)
    state.last[unit] = outcome
    totals = state.totals[unit]
    totals[2] += 1.0
    totals[3] += outcome
    step = step_of(plays)
    push(state.prefix[unit], plays, step, outcome)
    state.mean[unit] = newer_half(state.prefix[unit], plays, step)
    if spent[TOP] < 0.5 and state.mean[unit] > NEWS * spent[TOP]:
        # Means above a half change nothing, because the headroom ends at 1.
        spent[TOP] = state.mean[unit]
        _forget_indices(state)
    if step <= BLOCK_PARTS or plays & ((1 << (step - BLOCK_PARTS)) - 1) == 0:
        take_block(state.shapes, state.sums[unit], totals, float(plays), totals[2], totals[3])
        totals[2] = 0.0
        totals[3] = 0.0
        state.jumps[unit] += state.waiting[unit]
        state.waiting[unit] = 0.0
        if plays > 1:
            fit_windows(state.prefix[unit], plays, step, state.lines[unit])
        weigh(state.sums[unit], state.totals[unit], noise[0] * noise[0], state.prior, state.work)
        tell(state.work, float(plays), state.prior, state.told[unit], state.pool)
        state.stamp[unit] = -1


@compiled
def lambert(x: float) -> float:
    """The number w with w·exp(w) = x, for x of at least 0.

    >>> round(lambert(1.0), 6), round(lambert(1000.0), 6), lambert(0.0)
    (0.567143, 5.249603, 0.0)
    """
    if x == 0.0:
        return 0.0
    size = math.log1p(x)
    w = size * (1.0 - math.log1p(size) / (2.0 + size))
    for _ in range(3):
        # Newton's method for w + log(w) = log(x).
        w *= (1.0 + math.log(x / w)) / (1.0 + w)
    return w


@compiled
def _known(state: Foresee, unit: int) -> int:
    """The plays of a unit whose outcomes its forecast knows.

    Whatever changes the inputs of a forecast also discards it. So it is the same at whatever time it is computed.
    """
    return int(state.plays[unit] - state.totals[unit, 2])


@compiled
def _deviation(state: Foresee, unit: int) -> float:
    """The noise of a unit or of all units, whichever is more. A unit with chances near a half has more than others."""
    return own_noise(state.noise[0], state.jumps[unit], float(_known(state, unit)))


@compiled
def _left(state: Foresee, now: int) -> int:
    """How many rounds a forecast is for."""
    return max(1, state.horizon - now + 1) if state.horizon > 0 else max(state.ahead, now)


@compiled
def _forecast(state: Foresee, unit: int, now: int) -> tuple[float, float]:
    """The mean outcome that a unit with plays is expected to have over the rounds left, and its deviation."""
    weigh(state.sums[unit], state.totals[unit], state.noise[0] * state.noise[0], state.prior, state.work)
    expected, doubt = forecast(state.work, state.shapes, float(_known(state, unit)), float(_left(state, now)))
    return expected, doubt


@compiled
def _evaluate(state: Foresee, unit: int, now: int) -> tuple[float, float]:
    """The value of a unit with at least one play over the rounds left, and an upper bound on the same."""
    left = _left(state, now)
    horizon = float(max(state.horizon, now - 1 + left))
    plays = _known(state, unit)
    value, doubt = _forecast(state, unit, now)
    sigma = _deviation(state, unit)
    share = state.size / state.plays.size
    # What a probe of as many plays as the unit has may show, weighed against the cost of the probe.
    top = _ceiling(state)
    rise = RISE_SCALE * max(0.0, top - value)
    doubt *= DOUBT_SCALE * top
    each = share * horizon
    hidden = min(1.0, each / FEW) * math.sqrt(rise * rise + doubt * doubt) * lambert(left / plays)
    luck = state.luck * min(1.0, each / MUCH) * sigma * sigma / math.sqrt(max(1, plays >> 1))
    luck *= lambert(share * left / plays)
    hidden *= state.evidence[RISING]
    luck *= state.evidence[RISING]
    value += math.sqrt(hidden * hidden + luck * luck)
    if plays < 2:
        # Nothing bounds a slope yet.
        return value, 2.0
    root = math.sqrt(state.constant * math.log1p(share * now * (left / horizon) / plays))
    start = plays + PATIENCE * horizon
    lines = state.lines[unit]
    # An arm that has fallen is above its bound until its forecast follows.
    value = min(value, least_bound(lines, plays, sigma * (root + CAUTION), start, float(left), DECAY, False))
    if plays >= ENOUGH:
        # A rise that is seen is pursued, whatever the shapes say.
        value = max(value, min(1.0, least_bound(lines, plays, -CERTAIN * sigma, start, float(left), DECAY, False)))
    return value, max(value, least_bound(lines, plays, sigma * root, start, float(left), DECAY, False))


@compiled
def _now(state: Foresee, t: int) -> int:
    """The round, rounded by `clock`."""
    return clock(t, t if state.horizon == 0 else max(1, min(t, state.horizon - t + 1)), ROUND_PARTS)


@indices.register(Foresee)
def _indices(state: Foresee, t: int, rng: object, out: Floats) -> None:
    now = _now(state, t)
    explores = _explores(state)
    for unit in range(out.size):
        if state.stamp[unit] != now and state.plays[unit] > 0:
            value, hope = _evaluate(state, unit, now)
            state.value[unit] = value
            state.hope[unit] = hope
            state.stamp[unit] = now
        out[unit] = state.hope[unit] if explores else state.value[unit]
    if state.largest:
        _keep_best(state, out)


@compiled
def _keep_best(state: Foresee, out: Floats) -> None:
    """Raise the index of the arm with the best recent average: the other arms are then tried without loss."""
    best = 0
    highest = -1.0
    for unit in range(out.size):
        mean = recent_mean(state.lines[unit]) if state.plays[unit] > 1 else state.last[unit]
        if mean > highest:
            highest = mean
            best = unit
    out[best] += 1.0


@assume.register(Foresee)
def _assume(state: Foresee, unit: int, value: float) -> None:
    state.value[unit] = value
    state.hope[unit] = value


@roomy.register(Foresee)
def _roomy(state: Foresee, pushes: int) -> bool:
    return True
