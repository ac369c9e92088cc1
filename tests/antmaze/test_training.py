"""The agent, its memory, the hierarchy and its checkpoints: small networks, few episodes, every number compared."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.antmaze import (
    COMPLEX,
    EASY,
    POLICIES,
    Maze,
    RunFolder,
    Settings,
    Training,
    TrainSpec,
    preset,
    read_result,
    train,
)
from rising_bandits.antmaze.agent import Agent
from rising_bandits.antmaze.buffer import Buffer, upside_down
from rising_bandits.antmaze.pool import train_all
from rising_bandits.antmaze.view import View

SMALL = Settings(hidden=(16, 16), batch=16, warm_up=2, steps_per_update=10, chunk=5)


def _random_buffer(rng, episodes=6):
    buffer = Buffer(capacity=8)
    kept = []
    for _ in range(episodes):
        length = int(rng.integers(1, 30))
        observations = np.cumsum(rng.normal(size=(length + 1, 29)), axis=0).astype(np.float32) * 0.3
        actions = rng.uniform(-1, 1, (length, 8)).astype(np.float32)
        goals = rng.normal(size=(length, 2)).astype(np.float32)
        buffer.add(observations, actions, goals)
        kept.append((observations, actions, goals))
    return buffer, kept


@given(seed=st.integers(0, 1_000), n_step=st.integers(1, 6), within=st.integers(1, 40), upright=st.booleans())
@settings(max_examples=40, deadline=None)
def test_batches_are_what_a_plain_loop_over_episodes_says(seed, n_step, within, upright):
    rng = np.random.default_rng(seed)
    buffer, kept = _random_buffer(rng)
    chosen = Settings(n_step=n_step, relabel_within=within, batch=64, discount=0.9, upright=upright, lowest=-7.0)
    batch = buffer.sample(rng, chosen, 2)
    places = {o.tobytes(): (e, k) for e, (obs, _, _) in enumerate(kept) for k, o in enumerate(obs)}
    for u in range(2):
        for b in range(64):
            e, k = places[batch.observation[u, b].tobytes()]
            observations, actions, goals = kept[e]
            assert k < len(actions)
            assert np.array_equal(batch.action[u, b], actions[k])
            goal = batch.goal[u, b]
            later = observations[k + 1 : k + 1 + within, :2]
            assert np.array_equal(goal, goals[k]) or (later == goal).all(axis=1).any()
            reward, discount, last = 0.0, 1.0, k
            for _ in range(n_step):
                if discount == 0.0 or last == len(actions):
                    break
                last += 1
                if upright and observations[last, 4] ** 2 + observations[last, 5] ** 2 > 0.5:
                    reward, discount = -7.0, 0.0
                elif np.hypot(*(observations[last, :2] - goal)) < 0.5:
                    discount = 0.0
                else:
                    reward -= discount
                    discount *= 0.9
            assert batch.reward[u, b] == pytest.approx(reward, abs=1e-5)
            assert batch.discount[u, b] == pytest.approx(discount, abs=1e-5)
            if batch.discount[u, b]:
                assert np.array_equal(batch.after[u, b], observations[last])


def test_an_ant_is_upside_down_where_its_own_upward_axis_points_down():
    """Against the rotation matrix that MuJoCo makes of a quaternion."""
    import mujoco

    turns = np.random.default_rng(3).normal(size=(200, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    rows = np.zeros((200, 29))
    rows[:, 3:7] = turns
    matrix = np.zeros(9)
    down = []
    for turn in turns:
        mujoco.mju_quat2Mat(matrix, turn)
        down.append(matrix[8] < 0)
    assert 0 < sum(down) < 200
    assert upside_down(rows).tolist() == down


def test_relabelling_happens_as_often_as_it_should():
    rng = np.random.default_rng(1)
    buffer, kept = _random_buffer(rng, episodes=40)
    own = {goal.tobytes() for _, _, goals in kept for goal in goals}
    batch = buffer.sample(rng, Settings(batch=4_000), 1)
    share = np.mean([goal.tobytes() not in own for goal in batch.goal[0]])
    assert share == pytest.approx(0.8, abs=0.03)  # 4000 draws: four standard errors are 0.026


def test_a_few_hundred_updates_lower_the_critics_loss_on_a_fixed_buffer():
    """What a real ant did at random, with a short horizon, so that targets do not run away from the critics."""
    chosen = Settings(hidden=(32, 32), batch=64, warm_up=10, discount=0.5, n_step=1)
    training = Training(EASY, rb.CRUCB(sigma=1e-4), settings=chosen)
    training.warm_up()
    rng = np.random.default_rng(0)
    losses = [training.agent.learn(training.buffer.sample(rng, chosen, chosen.chunk)) for _ in range(40)]
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:2])


def test_an_update_is_what_plain_numpy_says():
    """The critics' loss and the polyak step of one update, computed again by hand, with no noise on target actions."""
    from rising_bandits.antmaze.networks import evaluate

    rng = np.random.default_rng(2)
    buffer, _ = _random_buffer(rng)
    chosen = Settings(hidden=(8,), batch=32, smooth=0.0, chunk=1, discount=0.9, lowest=-3.0)
    agent = Agent(chosen, rng, EASY.walls)
    old, view = agent.learner, agent.view
    batch = buffer.sample(rng, chosen, 1)
    loss = agent.learn(batch)
    flat = type(batch)(*(part[0] for part in batch))
    critics = [[(np.asarray(w)[i], np.asarray(b)[i]) for w, b in old.critics] for i in range(2)]
    actor = [(np.asarray(w), np.asarray(b)) for w, b in old.actor]
    after, _ = view.see(np, flat.after, flat.goal, acting=False)
    ahead = np.concatenate([after, np.tanh(evaluate(np, actor, after))], axis=1)
    value = np.min([evaluate(np, critic, ahead, normalise=True)[:, 0] for critic in critics], axis=0)
    aim = np.clip(flat.reward + flat.discount * value, -3.0, 0.0)
    seen, group = view.see(np, flat.observation, flat.goal, acting=False)
    both = np.concatenate([seen, view.to_body(np, flat.action, group)], axis=1)
    expected = sum(np.mean((evaluate(np, critic, both, normalise=True)[:, 0] - aim) ** 2) for critic in critics)
    assert loss == pytest.approx(expected, rel=1e-3)
    for before, target, now in zip(
        (w for layer in old.target_critics for w in layer),
        (w for layer in agent.learner.target_critics for w in layer),
        (w for layer in agent.learner.critics for w in layer),
        strict=True,
    ):
        assert np.allclose(target, 0.995 * np.asarray(before) + 0.005 * np.asarray(now), atol=1e-6)
    # The actor climbs the first of the new critics.
    critic = [(np.asarray(w)[0], np.asarray(b)[0]) for w, b in agent.learner.critics]

    def objective(network):
        action = np.tanh(evaluate(np, [(np.asarray(w), np.asarray(b)) for w, b in network], seen))
        value = evaluate(np, critic, np.concatenate([seen, action], axis=1), normalise=True)[:, 0]
        return np.mean(value) - chosen.penalty * np.mean(action**2)

    assert objective(agent.learner.actor) > objective(old.actor) + 1e-5


def test_the_plain_view_is_relative_to_the_torso_and_pulled_while_acting():
    view = View(preset("paper", EASY), EASY.walls)
    observation = np.arange(29.0)
    seen, _ = view.see(np, observation, np.array([30.0, 1.0]), acting=True)
    assert seen[:2] == pytest.approx([2.0, 0.0])
    seen, _ = view.see(np, observation, np.array([30.0, 1.0]), acting=False)
    assert seen[:2] == pytest.approx([30.0, 0.0])
    assert seen[2:] == pytest.approx(observation)


class _Scripted(Training):
    """The hierarchy without physics: edges succeed or fail as told."""

    def __init__(self, *args, outcomes, **kwargs):
        super().__init__(*args, **kwargs)
        self._outcomes = iter(outcomes)

    def warm_up(self):
        pass

    def _learn(self, steps):
        pass

    def _walk(self, arm, observations, actions, goals):
        steps = next(self._outcomes)
        for _ in range(max(steps, 1)):
            actions.append(np.zeros(8))
            goals.append((0.0, 0.0))
            observations.append(observations[-1])
        return steps


@given(seed=st.integers(0, 500), share=st.floats(0.0, 1.0))
@settings(max_examples=30, deadline=None)
def test_an_edge_never_tried_is_never_counted(seed, share):
    rng = np.random.default_rng(seed)
    outcomes = (int(rng.integers(1, 100)) if rng.random() < share else 0 for _ in range(10_000))
    policy = rb.CRUCB(epsilon=0.25, sigma=1e-4)
    training = _Scripted(EASY, policy, episodes=40, seed=seed, settings=SMALL, outcomes=outcomes)
    while not training.done:
        tries = training.episode()
        assert all(steps > 0 for _, steps in tries[:-1])
        path = training.record.paths[-1]
        assert [arm for arm, _ in tries] == list(path[: len(tries)])
        assert len(tries) == len(path) or tries[-1][1] == 0
    record = training.record
    assert np.array_equal(policy.plays, np.bincount(record.arm, minlength=7))
    rewards = record.rewards()
    for episode, path in enumerate(record.paths, 1):
        steps = [s for e, s in zip(record.episode, record.steps, strict=True) if e == episode]
        whole = len(steps) == len(path) and all(steps)
        assert rewards[episode - 1] == pytest.approx(1.0 / sum(steps) if whole else 0.0)


@pytest.mark.parametrize(("successes", "share"), [(0, 0.4), (5, 0.25), (10, 0.1), (99, 0.1)])
def test_random_actions_are_held_and_grow_rarer_with_every_edge_reached(monkeypatch, successes, share):
    chosen = replace(SMALL, noise=0.0, random_share=0.4, random_share_end=0.1, random_successes=10, hold=4)
    training = TrainSpec.make("easy", "oracle", seed=3, settings=chosen).begin()
    monkeypatch.setattr(training.agent, "act", lambda observation, goal: np.zeros(8))
    # What is done does not depend on where the ant is, so it need not move.
    monkeypatch.setattr(training.world, "step", lambda action: training.world.observe())
    taken = []
    for _ in range(120):
        training.record.successes = successes
        actions = []
        assert training._walk(0, [training.world.reset(training._start)], actions, []) == 0
        pushed = [tuple(action) for action in actions if action.any()]
        # Each push lasts four steps, but for the last one, which the end of the try may cut.
        lengths = list(Counter(pushed).values())
        assert set(lengths[:-1]) <= {4}
        assert set(lengths) <= {1, 2, 3, 4}
        taken.append(len(pushed) / len(actions))
    # 120 tries of 100 steps: one deviation of the share is below 0.01.
    assert abs(np.mean(taken) - share) < 0.03


def test_an_edge_without_a_step_left_is_not_tried():
    hall = Maze.from_text("hall", "#####\n#...#\n#####", [(4, 4), (8, 4), (12, 4)], episodes=8, steps=100)
    policy = rb.CRUCB(epsilon=0.25, sigma=1e-4)
    training = _Scripted(hall, policy, settings=SMALL, outcomes=iter([100, 60, 40]))
    labels = [[hall.labels[arm] for arm, _ in training.episode()] for _ in range(2)]
    assert labels == [["0->1"], ["0->1", "1->2"]]
    assert policy.plays.sum() == 3
    assert training.record.rewards().tolist() == [0.0, 0.01]


def _same(one, other):
    assert one.record.paths == other.record.paths
    assert one.record.steps == other.record.steps
    assert one.record.env_steps == other.record.env_steps
    assert np.array_equal(one.record.positions, other.record.positions)
    assert np.array_equal(one.walk, other.walk)


# A small room in which the goal is near: outcomes other than 0 occur, and no run takes long.
ROOM = '''
text = """
####
#..#
#..#
####
"""
cell = 2.0
nodes = [[2.0, 2.0], [2.7, 2.0], [2.7, 2.7]]
episodes = 24
steps = 40
edge_steps = 20
'''


@pytest.fixture
def room(tmp_path):
    path = tmp_path / "room.toml"
    path.write_text(ROOM)
    return str(path)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_seed_decides_everything_and_a_stopped_run_ends_the_same(room, tmp_path, policy):
    spec = TrainSpec.make(room, policy, seed=5, settings=SMALL)
    whole = train(spec, tmp_path / "whole")
    assert sum(s > 0 for s in whole.record.steps) > 0
    calls = 0

    def stop():
        nonlocal calls
        calls += 1
        return calls % 5 == 0

    parts, result = 0, None
    while result is None:
        result = train(spec, tmp_path / "parts", stopping=stop)
        parts += 1
    assert parts > 3
    _same(whole, result)
    _same(whole, read_result(RunFolder(tmp_path / "parts", spec).path))
    other = train(TrainSpec.make(room, policy, seed=6, settings=SMALL), tmp_path / "other")
    assert other.record.env_steps != whole.record.env_steps


_KILLED = """
import os, signal, sys, threading, time
from rising_bandits.antmaze import Settings, TrainSpec, train
room, folder, begin, delay = *sys.argv[1:3], int(sys.argv[3]), float(sys.argv[4])
spec = TrainSpec.make(room, "crucb", seed=1,
                      settings=Settings(hidden=(16, 16), batch=16, warm_up=2, steps_per_update=10, chunk=5))
def show(training, seconds):
    if training.record.episodes == begin:
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
    while training.record.episodes == begin + 6:
        time.sleep(0.01)  # however busy the machine is, the run is never over before it is killed
train(spec, folder, progress=show, checkpoint_seconds=0.0)
"""


def test_a_run_killed_at_random_moments_ends_the_same(room, tmp_path):
    spec = TrainSpec.make(room, "crucb", seed=1, settings=SMALL)
    whole = train(spec, tmp_path / "whole")
    rng = np.random.default_rng(0)
    folder = RunFolder(tmp_path / "killed", spec)
    for begin in (5, 14):
        delay = float(rng.uniform(0.0, 0.05))
        command = [sys.executable, "-c", _KILLED, room, str(tmp_path / "killed"), str(begin), str(delay)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        assert begin - 1 <= folder.open()[0].record.episodes <= begin + 6
    _same(whole, train(spec, tmp_path / "killed"))
    _same(whole, read_result(folder.path))


_ORPHAN = """
import sys
from rising_bandits.antmaze import Settings, TrainSpec
from rising_bandits.antmaze.pool import train_all
if __name__ == "__main__":
    settings = Settings(hidden=(16, 16), batch=16, warm_up=2, steps_per_update=10, chunk=5)
    train_all([TrainSpec.make(sys.argv[1], "crucb", seed=1, episodes=1_000_000, settings=settings)], sys.argv[2],
              workers=1, progress=lambda news: print(news.episode, flush=True))
"""


def test_a_worker_saves_and_ends_when_its_parent_is_killed(room, tmp_path):
    script = tmp_path / "orphan.py"
    script.write_text(_ORPHAN)
    child = subprocess.Popen([sys.executable, str(script), room, str(tmp_path / "out")], stdout=subprocess.PIPE)
    assert int(child.stdout.readline()) > 0
    child.kill()
    # The worker has inherited the pipe: it ends when the worker has ended.
    child.communicate(timeout=120)
    spec = TrainSpec.make(room, "crucb", seed=1, episodes=1_000_000, settings=SMALL)
    assert RunFolder(tmp_path / "out", spec).checkpoint.exists()


def test_checkpoints_are_of_one_run_only_and_never_go_back(room, tmp_path):
    spec = TrainSpec.make(room, "crucb", settings=SMALL)
    folder = RunFolder(tmp_path, spec)
    training, _ = folder.open()
    for _ in range(3):
        training.episode()
    early = spec.begin()
    early.episode()
    folder.save(training, 1.0)
    with pytest.raises(rb.InputError, match="later than 1, and is not overwritten"):
        folder.save(early, 1.0)
    assert folder.open()[0].record.episodes == 3
    for change, word in (
        ({"settings": replace(SMALL, batch=8)}, "settings.batch"),
        ({"episodes": 30}, "episodes"),
    ):
        other = TrainSpec.make(room, "crucb", **{"settings": SMALL, **change})
        with pytest.raises(rb.InputError, match=f"other settings \\({word}\\)"):
            train(other, tmp_path)
    size = folder.checkpoint.stat().st_size
    folder.checkpoint.write_bytes(folder.checkpoint.read_bytes()[: size // 2])
    with pytest.raises(rb.InputError, match="cannot be read"):
        folder.open()


def test_a_checkpoint_of_another_maze_is_refused_and_a_result_holds_its_own(room, tmp_path, monkeypatch):
    spec = TrainSpec.make(room, "crucb", settings=SMALL)
    assert train(spec, tmp_path / "out", stopping=lambda: True) is None
    Path(room).write_text(ROOM.replace("2.7", "2.9"))
    with pytest.raises(rb.InputError, match=r"checkpoint.npz' is of a run with other settings \(maze\)"):
        train(TrainSpec.make(room, "crucb", settings=SMALL), tmp_path / "out")
    done = train(spec, tmp_path / "out")
    Path(room).unlink()
    monkeypatch.chdir(tmp_path / "out")
    again = read_result(tmp_path / "out" / "room-crucb-0")
    assert again.spec == spec
    assert again.maze.nodes[1] == (2.7, 2.0)
    _same(done, again)


def test_what_is_in_the_folder_is_checked_before_anything_is_trained(room, tmp_path):
    from rising_bandits.antmaze.pool import train_all

    train(TrainSpec.make(room, "crucb", settings=SMALL), tmp_path)
    specs = [TrainSpec.make(room, name, episodes=30, settings=SMALL) for name in ("sw-cts", "crucb")]
    with pytest.raises(rb.InputError, match=r"result.npz' is of a run with other settings \(episodes\)"):
        train_all(specs, tmp_path)
    assert not (tmp_path / "room-sw-cts-0").exists()


def test_several_runs_at_once_are_what_each_is_alone(room, tmp_path):
    from rising_bandits.antmaze.pool import train_all

    specs = [TrainSpec.make(room, "sw-cts", seed=seed, settings=SMALL, episodes=8) for seed in range(3)]
    heard = []
    together = train_all(specs, tmp_path / "together", workers=2, progress=heard.append)
    assert {item.number for item in heard if item.episode == 8} == {0, 1, 2}
    for spec, result in zip(specs, together, strict=True):
        _same(result, train(spec, tmp_path / "alone"))


class _Here:
    """An executor whose only worker is this process, and which is lost after some legs."""

    def __init__(self, lost=10**9):
        self.lost = lost

    def submit(self, work, leg):
        from concurrent.futures import Future

        self.lost -= 1
        if self.lost < 0:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        future.set_result(work(leg))
        return future


def test_training_on_an_executor_is_training_here(room, tmp_path):
    from rising_bandits.antmaze.pool import train_all

    specs = [TrainSpec.make(room, "sw-cts", seed=5, settings=SMALL, episodes=8)]
    # Legs of no time: each trains one episode, and all state goes through the files.
    with pytest.raises(rb.RisingBanditsError, match="goes on from the last checkpoints"):
        train_all(specs, tmp_path / "there", executor=_Here(lost=3), checkpoint_seconds=0.0)
    assert list((tmp_path / "there").glob("*/checkpoint.npz"))
    results = train_all(specs, tmp_path / "there", executor=_Here(), checkpoint_seconds=0.0)
    for spec, result in zip(specs, results, strict=True):
        _same(result, train(spec, tmp_path / "alone"))
    assert not list((tmp_path / "there").glob("*/replay.bin"))


def test_what_a_killed_process_wrote_aside_is_cleared_away(room, tmp_path):
    spec = TrainSpec.make(room, "crucb", settings=SMALL)
    folder = RunFolder(tmp_path, spec)
    folder.path.mkdir()
    for name in (".checkpoint.npz.1.tmp", ".result.npz.2.tmp"):
        (folder.path / name).write_bytes(b"half")
    train(spec, tmp_path)
    assert sorted(path.name for path in folder.path.iterdir()) == ["lock", "result.npz"]
    # Killed right after the result was written.
    for way in (lambda: train(spec, tmp_path), lambda: train_all([spec], tmp_path)):
        folder.checkpoint.write_bytes(b"of no use")
        folder.replay.write_bytes(b"of no use")
        way()
        assert sorted(path.name for path in folder.path.iterdir()) == ["lock", "result.npz"]


def test_a_worker_that_is_killed_is_one_clear_line(room, tmp_path, monkeypatch):
    from concurrent.futures import Future
    from concurrent.futures.process import BrokenProcessPool

    class Killed:
        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def submit(self, *_):
            future = Future()
            future.set_exception(BrokenProcessPool("terminated abruptly"))
            return future

    monkeypatch.setattr("rising_bandits.antmaze.pool.ProcessPoolExecutor", Killed)
    with pytest.raises(rb.RisingBanditsError, match="a process that trained was killed"):
        train_all([TrainSpec.make(room, "crucb", settings=SMALL)], tmp_path)


_HASH = """
import hashlib, os, sys
from rising_bandits.antmaze.pool import one_core
one_core()
import jax, numpy as np
from rising_bandits.antmaze import EASY, preset
from rising_bandits.antmaze.agent import Agent
from rising_bandits.antmaze.buffer import Buffer
rng, settings = np.random.default_rng(0), preset("paper", EASY)
buffer = Buffer()
buffer.add(rng.normal(size=(200, 29)), rng.uniform(-1, 1, (199, 8)), rng.normal(size=(199, 2)))
agent = Agent(settings, rng, EASY.walls)
agent.learn(buffer.sample(rng, settings, 4))
digest = hashlib.sha256()
for leaf in jax.tree.leaves(agent.learner):
    digest.update(np.asarray(leaf).tobytes())
threads = sum("Eigen" in open(f"/proc/self/task/{task}/comm").read() for task in os.listdir("/proc/self/task"))
print(threads, digest.hexdigest())
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the cores of a process can be set on Linux only")
def test_the_number_of_cores_changes_no_bit():
    every = sorted(os.sched_getaffinity(0))
    said = []
    for cores in (every, every[:1]):
        command = [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {cores})\n{_HASH}"]
        said.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert said[0] == said[1]
    assert int(said[0][0]) <= 1


def test_seeds_have_noise_of_their_own():
    agents = [Agent(SMALL, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    seeds = [int(agent.learner.seed) for agent in agents]
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_memory_that_was_cut_is_refused(room, tmp_path):
    spec = TrainSpec.make(room, "sw-cucb", settings=SMALL)
    folder = RunFolder(tmp_path, spec)
    training, _ = folder.open()
    training.episode()
    folder.save(training, 1.0)
    folder.replay.write_bytes(folder.replay.read_bytes()[:-200])
    with pytest.raises(rb.InputError, match=r"replay.bin.* must hold"):
        folder.open()


def test_a_memory_lost_while_training_is_written_again(room, tmp_path):
    spec = TrainSpec.make(room, "sw-cucb", settings=SMALL)
    folder = RunFolder(tmp_path, spec)
    training, _ = folder.open()
    for change in (folder.replay.unlink, lambda: folder.replay.write_bytes(folder.replay.read_bytes()[:-200])):
        training.episode()
        folder.save(training, 1.0)
        change()
        training.episode()
        folder.save(training, 2.0)
        again, _ = folder.open()
        assert again.buffer.rows == training.buffer.rows
        assert np.array_equal(again.buffer._rows[: again.buffer.rows], training.buffer._rows[: training.buffer.rows])


def test_two_processes_do_not_train_in_one_folder(room, tmp_path):
    spec = TrainSpec.make(room, "crucb", settings=SMALL)
    with RunFolder(tmp_path, spec).locked(), pytest.raises(rb.InputError, match="another process is training"):
        train(spec, tmp_path)


def test_all_seven_policies_run_with_the_windows_of_the_experiment(room, tmp_path):
    for name in POLICIES:
        spec = TrainSpec.make("easy", name)
        if name in ("crucb", "r-ed-ucb"):
            assert spec.parameters == {"epsilon": 0.25, "sigma": 0.0001}
        elif name == "oracle":
            assert spec.parameters == {"super_arm": [0, 3, 6]}
        else:
            assert spec.parameters == {"window": 0.25}
        result = train(TrainSpec.make(room, name, settings=SMALL), tmp_path)
        assert result.record.episodes == 24
        assert json.loads(json.dumps(result.spec.as_dict())) == result.spec.as_dict()


def test_bad_input_is_refused_before_anything_is_written(tmp_path):
    for arguments, words in (
        ({"maze": "easy", "policy": "tour(super_arms=5)"}, "super_arms must be a list of super arms"),
        ({"maze": "easy", "policy": "tour(super_arms='ab')"}, "super_arms must be a list of super arms"),
        ({"maze": "easy", "policy": "oracle(super_arm=3)"}, "super_arm must be a list of arm numbers"),
        ({"maze": "nowhere", "policy": "crucb"}, "map must be one of"),
        ({"maze": "easy", "policy": "best"}, "policy must be one of"),
        ({"maze": "easy", "policy": "crucb", "episodes": 6}, "episodes must be an integer of at least 7"),
        ({"maze": "complex", "policy": "crucb", "episodes": 47}, "episodes must be an integer of at least 48"),
        ({"maze": "complex", "policy": "sw-ucb", "episodes": 100}, "horizon must be at least 356"),
        ({"maze": "easy", "policy": "crucb", "settings": "gpu"}, "preset must be one of"),
    ):
        with pytest.raises(rb.InputError, match=words):
            TrainSpec.make(**arguments)
    with pytest.raises(rb.InputError, match="seed"):
        TrainSpec.make("easy", "crucb", seed=-1)
    (tmp_path / "file").touch()
    with pytest.raises(rb.InputError, match=r"runs are kept in a folder, but .* is a file"):
        train(TrainSpec.make("easy", "crucb"), tmp_path / "file")
    for bad in ({"view": "round"}, {"batch": 0}, {"discount": 1.5}, {"lowest": 1.0}, {"integrator": "magic"}):
        with pytest.raises(rb.InputError, match=next(iter(bad))):
            Settings(**bad)
    with pytest.raises(rb.InputError, match="no finished AntMaze run"):
        read_result(tmp_path)
    (tmp_path / "x.npz").write_bytes(b"nothing")
    with pytest.raises(rb.InputError, match="not the result of an AntMaze run"):
        read_result(tmp_path / "x.npz")


def test_presets_are_those_of_the_specification():
    paper = preset("paper", EASY)
    assert (paper.hidden, paper.actor_rate, paper.critic_rate, paper.discount) == ((256, 256), 1e-4, 1e-3, 0.99)
    assert (paper.polyak, paper.polyak_every, paper.actor_every, paper.batch) == (0.995, 10, 2, 1024)
    assert (paper.lowest, paper.noise, paper.random_share, paper.random_share_end) == (-80.0, 0.1, 0.2, 0.2)
    assert (paper.penalty, paper.relabel, paper.relabel_within, paper.reach) == (0.01, 0.8, 100, 2.0)
    assert (paper.warm_up, preset("paper", COMPLEX).warm_up) == (200, 500)
    assert Settings.from_dict(paper.as_dict()) == paper


def test_the_plain_view_of_the_paper_trains_and_learns(room):
    small = replace(preset("paper", EASY), hidden=(32, 32), batch=32, warm_up=5, steps_per_update=2)
    training = TrainSpec.make(room, "crucb", settings=small).begin()
    before = training.agent.learner
    while not training.done:
        training.episode()
    assert training.record.episodes == 24
    assert int(training.agent.learner.updates) > 50
    for old, new in zip(before.actor, training.agent.learner.actor, strict=True):
        assert not np.array_equal(old[0], new[0])


def test_a_maze_of_ones_own_is_trained_in(tmp_path):
    maze = Maze.from_text("two", "####\n#..#\n####", [(4, 4), (8, 4)], edge_steps=5, episodes=3)
    training = Training(maze, rb.CRUCB(sigma=1e-4), episodes=3, settings=SMALL)
    while not training.done:
        training.episode()
    assert training.record.episodes == 3


def test_a_policy_of_a_maze_is_the_same_run_with_brackets_or_without():
    for name in ("tour", "oracle", "crucb"):
        assert TrainSpec.make("easy", f"{name}()") == TrainSpec.make("easy", name)
    assert TrainSpec.make("easy", "oracle(super_arm=[1])").key == "easy-oracle-super-arm-1-0"
