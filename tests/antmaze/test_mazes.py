"""Mazes and bodies, as the paper and its program have them: seen by rays, by physics and by Gymnasium's checker."""

import itertools

import gymnasium
import mujoco
import networkx as nx
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rising_bandits as rb
from rising_bandits.antmaze import COMPLEX, EASY, MAZES, AntMazeEnv, Box, Maze, Settings, World, mazes, symmetry
from rising_bandits.antmaze.body import TORQUE, build
from rising_bandits.antmaze.view import View
from rising_bandits.antmaze.whiskers import feel

BLOCKED_EASY = {"0->3"}


def test_easy_is_what_the_paper_draws():
    assert EASY.nodes == ((0, 0), (8, 0), (16, 0), (0, 8), (8, 8), (16, 8))
    assert EASY.labels == ("0->1", "0->3", "1->2", "1->4", "2->5", "5->4", "4->3")
    assert {label for label, free in zip(EASY.labels, EASY.passable, strict=True) if not free} == BLOCKED_EASY
    assert EASY.shortest == (0, 1, 4, 3)
    assert EASY.problem.oracle.count() == 3
    assert (EASY.episodes, EASY.steps, EASY.edge_steps) == (2_000, 500, 100)


def test_complex_is_what_the_paper_draws():
    assert len(COMPLEX.nodes) == 16
    assert COMPLEX.nodes[5] == (8, 8)
    assert len(COMPLEX.edges) == 48
    assert sum(COMPLEX.passable) == 34
    assert COMPLEX.shortest == (0, 1, 5, 4, 8, 12)
    assert COMPLEX.problem.oracle.count() == 178
    assert COMPLEX.problem.oracle.max_size == 15
    assert (COMPLEX.episodes, COMPLEX.steps, COMPLEX.edge_steps) == (3_000, 1_000, 100)


def _is_wall_easy(x, y):
    """What is described, word for word."""
    if not (-2 < x < 18 and -2 < y < 10):
        return True
    return 2 < y < 6 and (-2 < x < 7 or 9 < x < 14)


def _is_wall_complex(x, y):
    rows = [
        "#########",
        "#.......#",
        "#.###.###",
        "#.#...#.#",
        "#.#.#.#.#",
        "#...#...#",
        "###.#.###",
        "#.......#",
        "#########",
    ]
    row, column = round((28 - y) / 4), round((x + 4) / 4)
    return not (0 <= row < 9 and 0 <= column < 9) or rows[row][column] == "#"


@pytest.mark.parametrize(("name", "is_wall"), [("easy", _is_wall_easy), ("complex", _is_wall_complex)])
def test_walls_stand_where_the_specification_has_them_and_nowhere_else(name, is_wall):
    maze = MAZES[name]
    model = build(maze)
    data = mujoco.MjData(model)
    data.qpos[2] = 50.0  # the ant is out of the way
    mujoco.mj_forward(model, data)
    box = maze.bounds
    hit = np.zeros(1, dtype=np.int32)
    seen = 0
    for x in np.arange(box.left + 0.13, box.right, 0.5):
        for y in np.arange(box.bottom + 0.13, box.top, 0.5):
            below = mujoco.mj_ray(model, data, np.array([x, y, 10.0]), np.array([0, 0, -1.0]), None, 1, -1, hit)
            assert (below < 9.9) == is_wall(x, y), (x, y)
            seen += 1
    assert seen > 1_000


@pytest.mark.parametrize("name", ["easy", "complex"])
def test_a_ray_along_an_edge_meets_a_wall_exactly_where_the_edge_is_not_passable(name):
    maze = MAZES[name]
    model = build(maze)
    data = mujoco.MjData(model)
    data.qpos[2] = 50.0
    mujoco.mj_forward(model, data)
    hit = np.zeros(1, dtype=np.int32)
    for (tail, head), free in zip(maze.edges, maze.passable, strict=True):
        a, b = np.array([*maze.nodes[tail], 0.5]), np.array([*maze.nodes[head], 0.5])
        length = float(np.linalg.norm(b - a))
        along = (b - a) / length
        aside = 0.25 * np.array([-along[1], along[0], 0.0])
        for shift in (-1, 0, 1):
            far = mujoco.mj_ray(model, data, a + shift * aside, along, None, 1, -1, hit)
            assert (far < 0 or far > length) == free, (tail, head, far)


@pytest.mark.parametrize(("name", "is_wall"), [("easy", _is_wall_easy), ("complex", _is_wall_complex)])
def test_the_optimal_path_is_the_one_an_independent_search_finds(name, is_wall):
    """Edges are walked point by point over the plan of the specification, and the graph is searched breadth first."""
    maze = MAZES[name]
    after = {}
    for tail, head in maze.edges:
        places = np.linspace(maze.nodes[tail], maze.nodes[head], 50)
        if not any(is_wall(x, y) for x, y in places):
            after.setdefault(tail, []).append(head)
    paths, found = [(maze.start,)], []
    while not found:
        paths = [(*path, head) for path in paths for head in after.get(path[-1], []) if head not in path]
        found = [path for path in paths if path[-1] == maze.goal]
    assert found == [maze.shortest]


def test_a_ball_cannot_leave_the_maze():
    """The ant pushed hard in every direction for a while stays inside."""
    world = World(EASY)
    rng = np.random.default_rng(0)
    for angle in np.linspace(0, 2 * np.pi, 8, endpoint=False):
        world.reset(rng, EASY.nodes[int(rng.integers(6))])
        for _ in range(60):
            world.data.qvel[:2] = 4.0 * np.array([np.cos(angle), np.sin(angle)])
            seen = world.step(rng.uniform(-1, 1, 8))
            assert -2 < seen[0] < 18
            assert -2 < seen[1] < 10
            assert not _is_wall_easy(seen[0], seen[1])


def test_the_ant_is_the_one_of_the_specification():
    model = build(EASY)
    names = [model.joint(j).name for j in range(model.njnt)]
    assert names[0] == "root"
    hips = [j for j, name in enumerate(names) if name.endswith("hip")]
    ankles = [j for j, name in enumerate(names) if name.endswith("ankle")]
    assert np.allclose(np.degrees(model.jnt_range[hips]), [-30, 30])
    assert np.allclose(np.sort(np.abs(np.degrees(model.jnt_range[ankles]))), [30, 70])
    assert np.allclose(model.dof_armature[6:], 1.0)
    assert np.allclose(model.dof_damping[6:], 1.0)
    assert np.allclose(model.actuator_gear[:, 0], 1.0)
    assert np.allclose(model.actuator_ctrlrange, [-TORQUE, TORQUE])
    assert model.opt.timestep == pytest.approx(0.02)
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
    assert np.allclose(model.geom("torso").size[0], 0.25)
    assert np.allclose(model.geom("torso").friction, [1, 0.5, 0.5])
    sphere, capsule = 4 / 3 * np.pi * 0.25**3, lambda length: np.pi * 0.08**2 * length + 4 / 3 * np.pi * 0.08**3
    volume = sphere + 4 * (2 * capsule(0.2 * 2**0.5) + capsule(0.4 * 2**0.5))
    assert model.body_mass.sum() == pytest.approx(5.0 * volume, rel=1e-6)


@given(seed=st.integers(0, 10_000), turn=st.integers(0, 3), mirror=st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_symmetric_ant_moves_symmetrically(seed, turn, mirror):
    """Physics itself says that the eight maps are symmetries: mapped states and actions lead to mapped states."""
    rng = np.random.default_rng(seed)
    empty = Maze.from_text("room", "#####\n#...#\n#...#\n#...#\n#####", [(12, 12), (18, 12)], cell=6.0)
    world = World(empty)
    world.reset(rng, (12.0, 12.0))
    for _ in range(int(rng.integers(1, 12))):
        before = world.step(rng.uniform(-1, 1, 8))
    goal = before[:2] + rng.normal(size=2)
    action = rng.uniform(-1, 1, 8)
    seen, group = symmetry.see(np, before, goal, 2.0)
    after = _advance(world, before, symmetry.to_world(np, action, group))

    # The same ant, with its legs named one further on (a quarter turn of the body), then seen in a mirror.
    twin, other = before.copy(), goal.copy()
    angle = turn * np.pi / 2
    twin[3:7] = _multiply(twin[3:7], [np.cos(angle / 2), 0, 0, np.sin(angle / 2)])
    c, s = np.cos(angle), np.sin(angle)
    wx, wy = before[18], before[19]
    twin[18], twin[19] = c * wx + s * wy, c * wy - s * wx
    order, sign = symmetry.INDEX[turn], symmetry.SIGN[turn] * symmetry.SIGN[0]
    twin[7:15], twin[21:29] = twin[7:15][order] * sign, twin[21:29][order] * sign
    if mirror:
        twin[[1, 4, 6, 16, 18, 20]] *= -1
        other[1] *= -1
        order, sign = symmetry.INDEX[4], symmetry.SIGN[4] * symmetry.SIGN[0]
        twin[7:15], twin[21:29] = twin[7:15][order] * sign, twin[21:29][order] * sign
        twin[1] += 24.0  # back onto the floor
        other[1] += 24.0
    same, other_group = symmetry.see(np, twin, other, 2.0)
    assert same == pytest.approx(seen, abs=1e-9)
    later = _advance(world, twin, symmetry.to_world(np, action, other_group))
    assert symmetry.see(np, later, other, 2.0)[0] == pytest.approx(symmetry.see(np, after, goal, 2.0)[0], abs=1e-6)
    if mirror:
        later[1] = 24.0 - later[1]
    assert later[:3] == pytest.approx(after[:3], abs=1e-7)
    assert symmetry.to_body(np, symmetry.to_world(np, action, group), group) == pytest.approx(action)


def _advance(world, state, action):
    world.place(state)
    return world.step(action)


def _multiply(a, b):
    w, x, y, z = a
    u, i, j, k = b
    return np.array(
        [
            w * u - x * i - y * j - z * k,
            w * i + x * u + y * k - z * j,
            w * j - x * k + y * u + z * i,
            w * k + x * j - y * i + z * u,
        ]
    )


def _march(walls, length, place, angle):
    """How far a point gets before it is inside a box, in small steps."""
    steps = np.arange(0.0, length, 1e-3)
    x, y = place[0] + steps * np.cos(angle), place[1] + steps * np.sin(angle)
    inside = np.zeros(steps.size, dtype=bool)
    for box in walls:
        inside |= (box.left <= x) & (x <= box.right) & (box.bottom <= y) & (y <= box.top)
    return steps[inside.argmax()] if inside.any() else length


@given(
    x=st.floats(-1.9, 17.9),
    y=st.floats(-1.9, 9.9),
    towards=st.floats(0.0, 6.28) | st.sampled_from([0.0, np.pi / 2, np.pi, -np.pi / 2]),
    away=st.floats(0.01, 20.0),
    mirror=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_whiskers_feel_what_a_walker_meets(x, y, towards, away, mirror):
    place = np.array([x, y])
    assume(not any(box.holds(x, y, 0.01) for box in EASY.walls))
    goal = place + away * np.array([np.cos(towards), np.sin(towards)])
    felt = feel(np, EASY.walls, 3.0, place, goal, np.array(mirror))
    for number, value in enumerate(felt):
        angle = towards + (-1 if mirror else 1) * number * np.pi / 4
        # Along a wall a hair decides whether it is met; a ray a little to either side must agree.
        around = [_march(EASY.walls, 3.0, place, angle + turn) for turn in (-1e-3, 0.0, 1e-3)]
        assert min(around) - 0.01 <= 3.0 * (1.0 - value) <= max(around) + 0.01


@given(seed=st.integers(0, 10_000), turn=st.integers(0, 3), mirror=st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_maze_turned_or_mirrored_with_the_ant_looks_the_same(seed, turn, mirror):
    rng = np.random.default_rng(seed)
    world = World(EASY)
    world.reset(rng, (8.0, 1.0))
    for _ in range(int(rng.integers(1, 12))):
        before = world.step(rng.uniform(-1, 1, 8))
    goal = before[:2] + rng.normal(size=2)
    change = np.array([[0.0, -1.0], [1.0, 0.0]])
    change = np.linalg.matrix_power(change, turn) @ np.diag([1.0, -1.0 if mirror else 1.0])
    walls = []
    for box in EASY.walls:
        (x, other_x), (y, other_y) = change @ [[box.left, box.right], [box.bottom, box.top]]
        walls.append(Box(min(x, other_x), max(x, other_x), min(y, other_y), max(y, other_y)))
    twin = before.copy()
    if mirror:
        twin[[1, 4, 6, 16, 18, 20]] *= -1
        order, sign = symmetry.INDEX[4], symmetry.SIGN[4] * symmetry.SIGN[0]
        twin[7:15], twin[21:29] = twin[7:15][order] * sign, twin[21:29][order] * sign
    angle = turn * np.pi / 2
    twin[3:7] = _multiply([np.cos(angle / 2), 0, 0, np.sin(angle / 2)], twin[3:7])
    twin[:2], twin[15:17] = change @ before[:2], change @ before[15:17]
    seen, group = View(Settings(), EASY.walls).see(np, before, goal, acting=True)
    same, other_group = View(Settings(), tuple(walls)).see(np, twin, change @ goal, acting=True)
    assert same == pytest.approx(seen, abs=1e-9)
    assert symmetry.mirrored(other_group) == (symmetry.mirrored(group) != mirror)
    assert seen[-8:].max() > 0.1


def test_numpy_and_jax_see_the_same():
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    observations = rng.normal(size=(200, 29))
    observations[:, 3:7] /= np.linalg.norm(observations[:, 3:7], axis=1, keepdims=True)
    goals = rng.normal(size=(200, 2))
    view = View(Settings(reach=1.0), EASY.walls)
    single = [view.see(np, o, g, acting=True) for o, g in zip(observations, goals, strict=True)]
    together, groups = view.see(jnp, jnp.asarray(observations), jnp.asarray(goals), acting=True)
    assert np.allclose(np.stack([seen for seen, _ in single]), together, atol=1e-4)
    assert np.array_equal([group for _, group in single], groups)


@given(seed=st.integers(0, 1_000))
@settings(max_examples=50, deadline=None)
def test_one_observation_is_seen_as_a_batch_of_one_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    observation, goal = rng.normal(size=29), rng.normal(size=2) * rng.choice([0.1, 1.0, 5.0])
    alone, group = symmetry.see(np, observation, goal, 2.0)
    batch, groups = symmetry.see(np, observation[None], goal[None], 2.0)
    assert np.array_equal(alone, batch[0])
    assert group == groups[0]


def test_the_search_for_islands_would_change_no_bit():
    world, twin = World(EASY), World(EASY)
    twin.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    assert twin.model.opt.disableflags != world.model.opt.disableflags
    rng = np.random.default_rng(0)
    for one in (world, twin):
        one.reset(np.random.default_rng(1))
    for _ in range(300):
        action = rng.uniform(-1.0, 1.0, 8)
        assert np.array_equal(world.step(action), twin.step(action))


# Gymnasium advises against unbounded observations; positions and speeds have no bound.
@pytest.mark.filterwarnings("ignore:.*infinity.*:UserWarning")
@pytest.mark.parametrize("name", ["Easy", "Complex"])
def test_gymnasium_accepts_the_environments(name):
    environment = gymnasium.make(f"RisingBandits/AntMaze{name}-v0", render_mode="rgb_array")
    check_env(environment.unwrapped)
    environment.close()


def test_the_environment_is_a_goal_environment():
    environment = AntMazeEnv("easy")
    seen, _ = environment.reset(seed=3, options={"start": 1, "goal": (8.0, 0.2)})
    assert seen["achieved_goal"] == pytest.approx([8, 0])
    assert seen["desired_goal"] == pytest.approx([8, 0.2])
    seen, reward, terminated, truncated, info = environment.step(np.zeros(8, dtype=np.float32))
    assert (reward, terminated, truncated, info["is_success"]) == (0.0, True, False, True)
    far = environment.compute_reward(np.array([[0.0, 0], [8, 0]]), np.array([[8.0, 0], [8, 0]]), {})
    assert far.tolist() == [-1.0, 0.0]
    again, _ = environment.reset(seed=3, options={"start": 1, "goal": (8.0, 0.2)})
    once_more, _ = AntMazeEnv("easy").reset(seed=3, options={"start": 1, "goal": (8.0, 0.2)})
    assert np.array_equal(again["observation"], once_more["observation"])
    outside, nowhere, grazing = (100.0, 100.0), (float("nan"), 0.0), (-1.99, 0.0)
    for options in (
        *({"start": 17}, {"goal": (4.0, 4.0)}, {"gaol": 1}, {"start": "0"}),
        *({"start": True}, {"goal": outside}, {"goal": nowhere}, {"start": grazing}),
    ):
        with pytest.raises(rb.InputError, match=r"start|goal"):
            environment.reset(options=options)
    with pytest.raises(rb.InputError, match="render_mode"):
        AntMazeEnv("easy", render_mode="human")
    with pytest.raises(rb.InputError, match="integrator must be one of MuJoCo's"):
        AntMazeEnv("easy", integrator="magic")


def test_the_first_picture_shows_the_ant_where_it_stands():
    environment = AntMazeEnv("easy", render_mode="rgb_array")
    pictures = []
    for start in (0, 2):
        environment.reset(seed=0, options={"start": start})
        pictures.append(environment.render())
        mujoco.mj_forward(environment.world.model, environment.world.data)
        assert np.array_equal(environment.render(), pictures[-1])
    assert not np.array_equal(*pictures)
    environment.close()


def test_a_maze_from_a_file(tmp_path):
    path = tmp_path / "corner.toml"
    path.write_text('text = """\n####\n#..#\n#.##\n####\n"""\nnodes = [[4, 4], [4, 8], [8, 8]]\nepisodes = 50\n')
    maze = mazes.get(str(path))
    assert (maze.name, maze.start, maze.goal, maze.episodes) == ("corner", 0, 2, 50)
    assert maze.shortest == (0, 1, 2)
    assert all(maze.passable)


@pytest.mark.parametrize(
    ("text", "nodes", "error", "words"),
    [
        ("####\n#.##\n##.#\n####", [(4, 8), (8, 4)], rb.InfeasibleError, "cannot be reached"),
        ("####\n#..#\n####", [(4, 4), (0, 0)], rb.InfeasibleError, "node 1 .* stands in a wall"),
        ("####\n#..\n####", [(4, 4), (8, 4)], rb.InputError, "equal length"),
        ("####\n#...\n####", [(4, 4), (8, 4)], rb.InfeasibleError, "closed by walls"),
        ("####\n#..#\n####", [(4, 4)], rb.InputError, "nodes must be at least two places"),
        ("####\n#..#\n####", [(4, 4), (8, float("nan"))], rb.InputError, "in finite numbers"),
        ("####\n#..#\n####", [(4, 4), (8, 4), (4, 4)], rb.InputError, "must be at different places"),
        ("####\n#..#\n####", [4, 8], rb.InputError, r"nodes must be places \[x, y\]"),
        (3, [(4, 4), (8, 4)], rb.InputError, "text must be rows of equal length"),
    ],
)
def test_maps_that_cannot_be_walked_are_refused(text, nodes, error, words):
    with pytest.raises(error, match=words):
        Maze.from_text("bad", text, nodes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"walls": [[0, 1, float("nan"), 2]]}, "walls must go from left to right"),
        ({"walls": [[1, 0, 0, 1]]}, "walls must go from left to right"),
        ({"walls": [[0, 0, 0, 1]]}, "walls must go from left to right"),
        ({"edges": [[0.9, 1.2]]}, "edges must be pairs of numbers of nodes, got 0.9"),
        ({"name": 3}, "name of a maze must be a word"),
        ({"name": ""}, "name of a maze must be a word"),
        ({"name": "a/b"}, "name of a maze must be a word"),
    ],
)
def test_parts_of_a_maze_are_checked(change, words):
    with pytest.raises(rb.InputError, match=words):
        Maze.from_dict({**mazes.EASY.as_dict(), **change})


def test_a_map_lies_somewhere():
    for origin in ((0, float("nan")), (float("nan"), 0), ("x", 0)):
        with pytest.raises(rb.InputError, match="origin must be"):
            Maze.from_text("bad", "####\n#..#\n####", [(4, 4), (8, 4)], origin=origin)


def test_files_that_are_no_maps_are_refused(tmp_path):
    with pytest.raises(rb.InputError, match="map must be one of easy, complex"):
        mazes.get("medium")
    for text, words in (("nodes = [", "not TOML"), ("nodes = [[1, 2]]", "no text"), ("x = 1", "got x")):
        path = tmp_path / "bad.toml"
        path.write_text(text)
        with pytest.raises(rb.InputError, match=words):
            mazes.get(str(path))
    with pytest.raises(rb.InputError, match="cell must be"):
        mazes.from_fields("bad", {"text": "####\n#..#\n####", "nodes": [[4, 4], [8, 4]], "cell": 0})


@pytest.mark.parametrize("maze", [EASY, COMPLEX], ids=lambda maze: maze.name)
def test_a_tour_tries_every_edge_that_any_path_can_try(maze):
    def tried(nodes):
        steps = list(itertools.pairwise(nodes))
        free = [maze.passable[maze.edges.index(step)] for step in steps]
        return set(steps[: free.index(False)] if False in free else steps)

    graph = nx.DiGraph(maze.edges)
    paths = [tuple(path) for path in nx.all_simple_paths(graph, maze.start, maze.goal)]
    assert set(maze.tour) <= set(paths)
    reachable = {edge for edge, can in zip(maze.edges, maze.reachable, strict=True) if can}
    assert set().union(*map(tried, maze.tour)) == set().union(*map(tried, paths)) == reachable
