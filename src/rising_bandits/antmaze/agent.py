r"""The low-level agent: goal-conditioned TD3 (Fujimoto et al., ICML 2018). An update is a pure function of its state.

The critics :math:`Q_1, Q_2` learn the target
:math:`\sum_{k<n} \gamma^k r_k + \gamma^n \min_j Q_j^-(s_n, \pi^-(s_n) + \text{noise})`, clipped to [lowest, 0]. The
reward is 0 near the goal, where the task ends, and -1 elsewhere. The actor maximises :math:`Q_1` minus a small penalty
on its action.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from rising_bandits._checks import Floats
from rising_bandits.antmaze.buffer import Batch
from rising_bandits.antmaze.floor import Box
from rising_bandits.antmaze.networks import ACTIONS, Network, evaluate, make_network
from rising_bandits.antmaze.settings import Settings
from rising_bandits.antmaze.view import View

_CUT = 2.5
"""Noise on target actions is clipped at this many standard deviations."""


class Learner(NamedTuple):
    """Everything that learning changes."""

    actor: Any
    critics: Any
    target_actor: Any
    target_critics: Any
    actor_moments: Any
    critic_moments: Any
    updates: Any
    """The number of updates so far."""
    seed: Any
    """The seed of the noise on target actions, which depends only on this seed and on ``updates``."""


def make_learner(settings: Settings, rng: np.random.Generator) -> Learner:
    """A learner with new random networks; the two critics are stacked."""
    inputs = View(settings).features
    actor = jax.tree.map(jnp.asarray, make_network(rng, (inputs, *settings.hidden, ACTIONS)))
    pair = [make_network(rng, (inputs + ACTIONS, *settings.hidden, 1)) for _ in range(2)]
    critics = jax.tree.map(lambda one, other: jnp.stack([one, other]), *pair)
    return Learner(
        actor=actor,
        critics=critics,
        target_actor=actor,
        target_critics=critics,
        actor_moments=optax.adam(settings.actor_rate).init(actor),
        critic_moments=optax.adam(settings.critic_rate).init(critics),
        updates=jnp.int32(0),
        seed=jnp.uint32(rng.integers(1 << 32)),
    )


@lru_cache(maxsize=8)
def make_update(settings: Settings, walls: tuple[Box, ...]) -> Callable[[Learner, Batch], tuple[Learner, Any]]:
    """The compiled function that makes one update for each batch, in order, and returns the critics' losses."""
    view = View(settings, walls)
    actor_optimiser, critic_optimiser = optax.adam(settings.actor_rate), optax.adam(settings.critic_rate)

    def pick(critics: Any, place: int) -> Network:
        return jax.tree.map(lambda leaf: leaf[place], critics)  # type: ignore[no-any-return]

    def value(critic: Network, seen: Any, action: Any) -> Any:
        both = jnp.concatenate([seen, action], axis=-1)
        return evaluate(jnp, critic, both, normalise=settings.layer_norm)[..., 0]

    def values(critics: Any, seen: Any, action: Any) -> Any:
        # The critics are evaluated one after the other, which XLA does faster here than both as one stack.
        return jnp.stack([value(pick(critics, place), seen, action) for place in range(2)])

    def target(learner: Learner, batch: Batch) -> Any:
        seen, _ = view.see(jnp, batch.after, batch.goal, acting=False)
        action = jnp.tanh(evaluate(jnp, learner.target_actor, seen))
        key = jax.random.fold_in(jax.random.key(learner.seed), learner.updates)
        draw = jax.random.normal(key, action.shape)
        action = jnp.clip(action + settings.smooth * jnp.clip(draw, -_CUT, _CUT), -1.0, 1.0)
        ahead = values(learner.target_critics, seen, action).min(0)
        return jnp.clip(batch.reward + batch.discount * ahead, settings.lowest, 0.0)

    def critic_loss(critics: Any, seen: Any, action: Any, aim: Any) -> Any:
        return jnp.square(values(critics, seen, action) - aim).mean(1).sum()

    def actor_loss(actor: Any, critics: Any, seen: Any) -> Any:
        action = jnp.tanh(evaluate(jnp, actor, seen))
        return settings.penalty * jnp.square(action).mean() - value(pick(critics, 0), seen, action).mean()

    def mix(old: Any, new: Any, weight: Any) -> Any:
        return jax.tree.map(lambda a, b: a + weight * (b - a), old, new)

    def update(learner: Learner, batch: Batch) -> tuple[Learner, Any]:
        seen, group = view.see(jnp, batch.observation, batch.goal, acting=False)
        action = view.to_body(jnp, batch.action, group)
        aim = target(learner, batch)
        loss, slope = jax.value_and_grad(critic_loss)(learner.critics, seen, action, aim)
        step, critic_moments = critic_optimiser.update(slope, learner.critic_moments)
        critics = optax.apply_updates(learner.critics, step)

        def improve(pair: tuple[Any, Any]) -> tuple[Any, Any]:
            step, moments = actor_optimiser.update(jax.grad(actor_loss)(pair[0], critics, seen), pair[1])
            return optax.apply_updates(pair[0], step), moments

        turn = learner.updates % settings.actor_every == 0
        actor, actor_moments = jax.lax.cond(turn, improve, lambda pair: pair, (learner.actor, learner.actor_moments))
        weight = jnp.where(learner.updates % settings.polyak_every == 0, 1.0 - settings.polyak, 0.0)
        return (
            Learner(
                actor=actor,
                critics=critics,
                target_actor=mix(learner.target_actor, actor, weight),
                target_critics=mix(learner.target_critics, critics, weight),
                actor_moments=actor_moments,
                critic_moments=critic_moments,
                updates=learner.updates + 1,
                seed=learner.seed,
            ),
            loss,
        )

    return jax.jit(lambda learner, batches: jax.lax.scan(update, learner, batches))


class Agent:
    """An agent that learns by JAX and acts by NumPy, which is faster for a single observation.

    Parameters
    ----------
    settings
        How it learns.
    rng
        The generator of its first weights.
    walls
        The walls that its whiskers feel.

    >>> agent = Agent(Settings(), np.random.default_rng(0))
    >>> agent.act(np.eye(29)[3], np.array([1.0, 0.0])).shape
    (8,)
    """

    def __init__(self, settings: Settings, rng: np.random.Generator, walls: tuple[Box, ...] = ()) -> None:
        self.settings = settings
        self.view = View(settings, walls)
        self.learner = make_learner(settings, rng)

    @property
    def learner(self) -> Learner:
        """The state of learning. Setting it changes how the agent acts."""
        return self._learner

    @learner.setter
    def learner(self, learner: Learner) -> None:
        self._learner = learner
        self._actor = [(np.asarray(weights), np.asarray(bias)) for weights, bias in learner.actor]

    def learn(self, batches: Batch) -> float:
        """Make one update for each batch, and return the mean loss of the critics."""
        self.learner, losses = make_update(self.settings, self.view.walls)(self.learner, batches)
        return float(losses.mean())

    def act(self, observation: Floats, goal: Any) -> Floats:
        """The action, in [-1, 1] and without noise, for an observation (29 numbers) and a goal (x, y)."""
        seen, group = self.view.see(np, observation, np.asarray(goal, dtype=np.float64), acting=True)
        action = np.tanh(evaluate(np, self._actor, seen.astype(np.float32))).astype(np.float64)
        return np.asarray(self.view.to_world(np, action, group))
