"""What is made of trained runs: recordings, figures, the page, and the commands around them."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import rising_bandits as rb
from rising_bandits.antmaze import EASY, POLICIES, Maze, Result, TrainSpec
from rising_bandits.antmaze.body import stance
from rising_bandits.antmaze.files import write_npz
from rising_bandits.antmaze.record import Record
from rising_bandits.antmaze.recording import record, write_recording
from rising_bandits.antmaze.results import find_results, read_result
from rising_bandits.antmaze.runs import RunFolder
from rising_bandits.plots import antmaze as plots
from rising_bandits.plots.trained import name_of, plot_outcomes
from rising_bandits.problems import recorded
from rising_bandits.reproduction.antmaze import last_success, plan_report, write_report
from rising_bandits.reproduction.judging import holm, paired
from rising_bandits.reproduction.maze_claims import _growth, maze_claims
from rising_bandits.reproduction.maze_parts import comparison, differences, heatmap_parts, trained_part, which_seeds
from rising_bandits.reproduction.summaries import summarise, walks_from
from rising_bandits.reproduction.summary_file import dump, load
from rising_bandits.reproduction.summary_file import recorded as recorded_runs


def make_result(policy="crucb", seed=0, episodes=600, bad=False):
    """A run as if it had been trained: edges succeed more and more, except the blocked one."""
    rng = np.random.default_rng(seed)
    spec = TrainSpec.make("easy", policy, episodes=episodes, seed=seed)
    log = Record(EASY)
    plays = np.zeros(7, dtype=int)
    paths = [(0, 3, 6), (0, 2, 4, 5, 6), (1,)]
    for episode in range(1, episodes + 1):
        path = paths[0] if policy == "oracle" else paths[int(rng.integers(3))]
        tries = []
        for arm in path:
            chance = 0.0 if arm == 1 and not bad else min(0.9, plays[arm] / 150)
            plays[arm] += 1
            steps = int(rng.integers(55, 99)) if rng.random() < chance else 0
            tries.append((arm, steps))
            if steps == 0:
                break
        log.visit(rng.uniform((0, 0), (16, 1.5), (50, 2)))
        log.close(path, tries, 100 * episode, episode == episodes)
    walk = np.array([stance(x, 0.0) for x in np.linspace(0, 8, 12)])
    return Result(spec, log, walk, 60.0)


def keep(result, folder):
    place = RunFolder(folder, result.spec)
    place.path.mkdir(parents=True)
    meta = json.dumps({"spec": result.spec.as_dict(), "seconds": result.seconds})
    write_npz(place.result, {**result.record.dump(), "walk": result.walk, "meta": meta}, small=True)
    return place.path


def test_a_result_comes_back_from_its_file_as_it_was(tmp_path):
    result = make_result()
    again = read_result(keep(result, tmp_path))
    assert again.record.dump().keys() == result.record.dump().keys()
    for name, values in result.record.dump().items():
        assert np.array_equal(again.record.dump()[name], values), name
    assert again.spec == result.spec
    assert sorted(again.record.pictures) == [100, 500, 600]


def test_results_are_found_and_sorted(tmp_path):
    for policy in ("sw-cts", "oracle", "crucb"):
        for seed in (1, 0):
            keep(make_result(policy, seed, 60), tmp_path)
    found = find_results([tmp_path])
    assert [(r.spec.policy, r.spec.seed) for r in found] == [
        ("crucb", 0), ("crucb", 1), ("sw-cts", 0), ("sw-cts", 1), ("oracle", 0), ("oracle", 1),
    ]  # fmt: skip
    with pytest.raises(rb.InputError, match="no file or folder"):
        find_results([tmp_path / "nothing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(rb.InputError, match="no finished AntMaze run"):
        find_results([tmp_path / "empty"])


def test_a_policy_with_other_parameters_is_another_one(tmp_path):
    specs = [TrainSpec.make("easy", text, seed=3) for text in ("crucb", "crucb(epsilon=0.25)", "crucb(upward=True)")]
    assert [spec.label for spec in specs] == ["crucb", "crucb", "crucb(upward=True)"]
    assert [spec.key for spec in specs] == ["easy-crucb-3", "easy-crucb-3", "easy-crucb-upward-True-3"]
    assert TrainSpec.make("easy", "horizon-crucb").parameters == {}
    results = [make_result(text, 0, 150) for text in ("crucb(upward=True)", "oracle", "crucb")]
    for result in results:
        keep(result, tmp_path)
    found = find_results([tmp_path])
    assert [result.spec.label for result in found] == ["crucb", "crucb(upward=True)", "oracle"]
    assert summarise(found)[0].policies == ["oracle", "crucb", "crucb(upward=True)"]
    page = write_report(found, tmp_path / "report", film=False).read_text()
    assert "CRUCB (upward slopes)" in page


def table(results):
    """The regret of every policy on the common seeds, a row per seed."""
    (one,) = summarise(results)
    return one.table(one.common)


def test_regret_is_against_the_oracle_of_the_same_seed():
    results = [make_result(policy, seed, 200) for policy in ("crucb", "oracle") for seed in (0, 1)]
    for seed in (0, 1):
        ours, best = (
            next(r for r in results if (r.spec.policy, r.spec.seed) == (p, seed)) for p in ("crucb", "oracle")
        )
        expected = best.record.rewards().sum() - ours.record.rewards().sum()
        assert table(results)["crucb"][seed, -1] == pytest.approx(expected)
    assert not table(results)["oracle"].any()
    # A seed that only some of the paper's policies have does not count for the mean, but is there by itself.
    more = [*results, make_result("crucb", 2, 200), make_result("oracle", 2, 200), make_result("sw-ts", 1, 200)]
    (one,) = summarise(more)
    assert one.common == [1]
    assert {label: len(rows) for label, rows in one.table([1]).items()} == {"oracle": 1, "crucb": 1, "sw-ts": 1}
    assert sorted(one.regrets("crucb")) == [0, 1, 2]
    assert "seed 1, the only one that the paper's policies have in common" in which_seeds(one)
    assert "CRUCB (printed formula) 0 to 2" in which_seeds(one)
    # Without a common seed there is no mean, and the table says so.
    (apart,) = summarise([make_result("crucb", 0, 200), make_result("sw-ts", 1, 200), *results[2:]])
    assert apart.common == []
    assert {row[2] for row in comparison(apart)} == {"–"}
    assert "no mean regret" in which_seeds(apart)
    # A variant beside the paper's policies takes no seed from them; one that lacks a common seed has no mean.
    (beside,) = summarise([*results, make_result("crucb(upward=True)", 1, 200), make_result("horizon-crucb", 7, 200)])
    assert beside.common == [0, 1]
    rows = {row[0]: row for row in comparison(beside)}
    assert rows["HorizonCRUCB"][2] == "–"
    (regret,) = (values[-1] for values in beside.regrets("crucb(upward=True)").values())
    assert rows["CRUCB (upward slopes)"][2] == f"{regret:.3f} (seed 1)"
    assert rows["CRUCB (printed formula)"][2] != "–"
    assert comparison(summarise(results[:2])[0]) == []
    # Runs of another length cannot be compared.
    assert summarise([make_result("crucb", 0, 100), *results[2:]])[0].policies == ["oracle"]


def test_a_policy_with_fewer_seeds_is_shown_with_those_it_has(tmp_path):
    """As the recommended policy in the guide: three seeds beside five of the paper's policies."""
    results = [make_result(policy, seed, 130) for policy in ("oracle", "program-crucb", "sw-ts") for seed in range(5)]
    (one,) = summarise([*results, *(make_result("foresight", seed, 130) for seed in range(3))])
    assert one.common == [0, 1, 2, 3, 4]
    assert list(one.partial(one.common)) == ["foresight"]
    row = next(row for row in comparison(one) if row[0] == "Foresight")
    assert row[:2] == ["Foresight", "3"]
    assert row[2].endswith(" (seeds 0 to 2)")
    assert "Foresight 0 to 2" in which_seeds(one)
    assert [row[1] for row in differences(one) if row[0] == "Foresight"] == ["3"]
    part = trained_part(one, tmp_path)
    drawn = part.figures[0][0].read_text()
    assert "Foresight" in drawn
    assert "(3 seeds only)" in drawn
    assert "Foresight" in heatmap_parts(one, tmp_path)[0].figures[0][0].read_text()


def test_p_values_of_differences_are_corrected_for_their_number():
    one = recorded_runs()[0]
    ours = one.regrets("program-crucb")
    raw = {}
    for label in one.policies:
        if label not in ("oracle", "program-crucb"):
            seeds = sorted(set(ours) & set(one.regrets(label)))
            raw[name_of(label)] = paired(*(np.array([by[s][-1] for s in seeds]) for by in (ours, one.regrets(label)))).p
    shown = {row[0]: row[4] for row in differences(one)}
    corrected = holm(raw)
    assert shown == {name: "< 0.001" if p < 0.001 else f"{p:.3f}" for name, p in corrected.items()}
    assert any(corrected[name] > raw[name] for name in raw)


@pytest.mark.parametrize(("curve", "verdicts"), [
    (lambda n: 1.0 - np.exp(-n / 100.0), ["did not hold", "held"]),
    (lambda n: np.where(n < 100, 0.0, 1.0 - np.exp(-(n - 100) / 100.0)), ["held", "held"]),
    (lambda n: (n / 1000.0) ** 3, ["held", "did not hold"]),
])  # fmt: skip
def test_the_growth_of_outcomes_is_judged_by_their_shape(curve, verdicts):
    (one,) = summarise([make_result("oracle", seed, 130) for seed in range(2)])
    tries = np.arange(12, 1000, 25)
    outcomes = np.tile(0.02 * curve(tries.astype(float)), (len(one.labels), 1))
    found = _growth(replace(one, tries=tries, outcomes=outcomes))
    assert [claim.verdict for claim in found] == verdicts


def test_a_summary_comes_back_from_its_file():
    ours = summarise([make_result(policy, seed, 200) for policy in ("crucb", "oracle") for seed in (0, 1)])
    (one,), (again,) = ours, load(dump(ours))
    assert comparison(one) == comparison(again)
    assert np.array_equal(one.walkable, again.walkable)
    assert np.allclose(one.outcomes, again.outcomes, equal_nan=True, rtol=1e-5)


def test_figures_of_runs_of_few_episodes_warn_of_nothing(tmp_path):
    edges = ("0->1", "1->4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plots.plot_learning([make_result("oracle", episodes=8)], edges, tmp_path / "learning.png")
        outcomes = np.full((2, 3), np.nan)
        plot_outcomes(np.array([12.5, 37.5, 62.5]), outcomes, edges, "no outcomes", tmp_path / "outcomes.png")
    assert (tmp_path / "outcomes.svg").exists()


def test_success_by_episode_is_what_counting_says():
    result = make_result(episodes=300)
    share = plots.success_by_episode(result.record, 0, window=40)
    episodes, outcomes = result.record.outcomes(0)
    for end in (1, 39, 40, 41, 200, 300):
        chosen = (episodes > end - 40) & (episodes <= end)
        if chosen.any():
            assert share[end - 1] == pytest.approx((outcomes[chosen] > 0).mean())
        else:
            assert np.isnan(share[end - 1])
    walks = walks_from(result, tries=30)
    last = next(n for n in range(30, outcomes.size + 1) if (outcomes[n - 30 : n] > 0).mean() >= 0.5)
    assert walks == episodes[last - 1]
    assert walks_from(result, tries=1000) is None
    assert last_success(result, "0->1", last=50) == pytest.approx((outcomes[-50:] > 0).mean())


def test_a_recording_rises_is_zero_behind_walls_and_makes_a_task(tmp_path):
    results = [make_result("crucb", seed) for seed in range(4)]
    data = write_recording(results, tmp_path / "easy.json")
    assert json.loads((tmp_path / "easy.json").read_text()) == data
    task = recorded.make("antmaze-test", data)
    assert task.cascade
    assert task.recorded
    assert task.sigma == 1e-4
    assert task.horizon == 2_000
    plays = np.arange(700)
    for arm, (curve, chance) in enumerate(zip(task.curves, task.noise.chances, strict=True)):
        assert (np.diff(curve(plays)) >= 0).all()
        assert (np.diff(chance(plays)) >= 0).all()
        assert (curve(plays) <= chance(plays)).all()
        if arm == 1:
            assert not curve(plays).any()
    # The chance that made the data was plays / 150 up to 0.9; at 75 plays half of the tries succeed.
    assert float(task.noise.chances[0](75)) == pytest.approx(0.5, abs=0.12)
    assert rb.optimal_constant(task, 500).super_arm.tolist() == [0, 3, 6]
    run = rb.simulate(task, rb.CRUCB(epsilon=0.25, sigma=task.sigma), horizon=300, seed=0)
    assert np.isfinite(run.regret).all()
    assert run.plays[0] >= run.plays[3]
    with pytest.raises(rb.InputError, match="format of a recording must be 1, got 2"):
        recorded.make("antmaze-test", {**data, "format": 2})


def test_edges_seldom_tried_borrow_and_say_so():
    data = record([make_result("oracle", 0)])
    by_label = {edge["edge"]: edge for edge in data["edges"]}
    assert not by_label["0->1"]["borrowed"]
    assert by_label["1->2"]["borrowed"]
    assert by_label["1->2"]["chance"][-1] > 0
    assert not by_label["0->3"]["borrowed"]
    assert by_label["0->3"]["chance"] == [0.0]


def test_a_walk_through_a_wall_is_noticed(tmp_path):
    with pytest.raises(rb.InputError, match="0->3 are blocked by walls but were walked"):
        write_recording([make_result(bad=True)], tmp_path / "bad.json")


def test_a_recording_needs_a_try_of_a_passable_edge():
    stuck = make_result(episodes=30)
    stuck.record.arm[:] = [1] * len(stuck.record.arm)
    stuck.record.steps[:] = [0] * len(stuck.record.steps)
    with pytest.raises(rb.InputError, match="runs must have tried a passable edge of maze 'easy'"):
        record([stuck])


ALL = (*POLICIES, "program-crucb")


def test_what_the_paper_says_is_judged_only_with_all_policies_and_enough_seeds():
    results = [make_result(policy, seed, 130) for policy in ALL for seed in range(5)]
    (one,) = summarise(results)
    claims = maze_claims(one)
    assert all(claim.verdict != "not judged" for claim in claims)
    assert {claim.items for claim in claims if claim.of_paper} == {("Figure 7",)}
    assert [claim.of_paper for claim in claims[:2]] == [True, False]
    mean = {label: rows[:, -1].mean() for label, rows in table(results).items()}
    assert f"CRUCB (authors' program) {mean['program-crucb']:.2f}" in claims[0].evidence
    few = [run for run in results if run.spec.seed < 3]
    assert maze_claims(summarise(few)[0])[0].verdict == "not judged"
    assert "fewer than the paper's 5" in maze_claims(summarise(few)[0])[0].evidence
    none = [run for run in results if run.spec.label in ("crucb", "r-ed-ucb", "oracle")]
    assert maze_claims(summarise(none)[0]) == []


def test_the_page_holds_every_figure_and_says_trained(tmp_path):
    results = [make_result(policy, seed, 520) for policy in (*POLICIES[:2], "oracle") for seed in (0, 1)]
    page = write_report(results, tmp_path / "report", film=False).read_text()
    assert page.count("data:image/svg+xml") == 6
    assert "AntMaze-easy: regret of the trained runs" in page
    assert "Claims of the paper" not in page
    assert "the preset cpu" in page
    assert "best constant" not in page
    for figure in (tmp_path / "report").glob("*.svg"):
        assert "trained" in figure.read_text(), figure


@pytest.mark.parametrize("works", [True, False])
def test_a_film_is_made_or_drawn(works, monkeypatch):
    from rising_bandits.antmaze.picture import HEIGHT, WIDTH, film

    if not works:
        monkeypatch.setattr("sys.executable", "/nowhere/python")
    pictures, how = film(EASY, make_result(episodes=20).walk[:2])
    assert how in ("MuJoCo's renderer", "drawn from above")[not works :]
    assert [picture.shape for picture in pictures] == [(HEIGHT, WIDTH, 3)] * 2
    assert not np.array_equal(pictures[0], pictures[1])


def test_the_page_shows_the_ant_walking(tmp_path, monkeypatch):
    from PIL import Image

    monkeypatch.setattr("sys.executable", "/nowhere/python")  # drawn from above, which is quick
    page = write_report([make_result(episodes=120)], tmp_path, film=True).read_text()
    assert "data:image/gif" in page
    assert "film: drawn from above" in page
    assert "which did not reach the goal, 11 steps" in page
    with Image.open(tmp_path / "walk-easy-crucb-0.gif") as moving:
        assert moving.n_frames == 12
    assert (tmp_path / "strip-walk-easy-crucb-0.png").exists()


def test_runs_that_are_not_alike_are_not_compared(tmp_path):
    usual, best = make_result("crucb", 0, 150), make_result("oracle", 0, 150)
    other = replace(usual, spec=TrainSpec.make("easy", "crucb", episodes=150, settings="paper"))
    for make in (lambda runs: write_report(runs, tmp_path / "page", film=False), record):
        with pytest.raises(rb.InputError, match=r"same settings, but easy-oracle-0 and easy-crucb-0 differ in .*batch"):
            make([best, other])
        with pytest.raises(rb.InputError, match="easy-crucb-0 of 150 episodes was given twice"):
            make([usual, best, usual])
    assert not (tmp_path / "page").exists()
    moved = Maze.from_dict({**EASY.as_dict(), "edge_steps": 90})
    with pytest.raises(rb.InputError, match="runs must be of one maze"):
        record([usual, replace(best, spec=replace(best.spec, maze=moved))])
    keep(usual, tmp_path / "runs")
    assert len(find_results([tmp_path / "runs", (tmp_path / "runs").resolve() / "easy-crucb-0" / "result.npz"])) == 1


def test_a_damaged_result_is_one_clear_error(tmp_path):
    """Bytes are changed and files are cut at random places: what is read is what was written, or it is refused."""
    path = keep(make_result(episodes=60), tmp_path) / "result.npz"
    whole = path.read_bytes()
    right = read_result(path).record.dump()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole)
        place = int(rng.integers(len(whole)))
        if rng.random() < 0.3:
            del damaged[place:]
        else:
            damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            read = read_result(path).record.dump()
        except rb.InputError:
            refused += 1
        else:
            assert all(np.array_equal(read[name], values) for name, values in right.items())
    assert refused > 50


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tries": np.array([[1], [99], [5]])}, "an edge must be from 0 to 6, got 99"),
        ({"tries": np.array([[900], [0], [5]])}, "an episode must be from 1 to 60"),
        ({"positions": np.zeros((3, 3))}, "its parts do not belong together"),
        ({"paths": np.zeros((10, 3), dtype=int)}, "its parts do not belong together"),
    ],
)
def test_parts_of_a_result_must_fit(change, words, tmp_path):
    path = keep(make_result(episodes=60), tmp_path) / "result.npz"
    with np.load(path) as data:
        arrays = {**data, **change}
    write_npz(path, arrays, small=True)
    with pytest.raises(rb.InputError, match=words):
        read_result(path)


def test_a_tour_is_there_to_measure_and_not_compared(tmp_path):
    runs = [make_result(policy, 0, 120) for policy in ("crucb", "oracle", "tour")]
    assert set(table(runs)) == {"crucb", "oracle"}
    assert len(plan_report(runs)) == 5
    assert "not in this comparison" not in write_report(runs, tmp_path, film=False).read_text()
    assert record(runs)["edges"][0]["tries"] == sum(r.record.outcomes(0)[1].size for r in runs)


def test_a_run_without_its_twin_is_told_how_to_get_one(tmp_path):
    page = write_report([make_result("crucb", 0, 120), make_result("oracle", 1, 120)], tmp_path, film=False)
    assert "--policy oracle --episodes 120 --seed 0" in page.read_text()


def test_progress_counts_what_was_finished_before(monkeypatch, capsys):
    from rising_bandits.antmaze.pool import News
    from rising_bandits.cli.antmaze_progress import watch

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "150")
    specs = [TrainSpec.make("easy", "crucb", seed=seed, episodes=50) for seed in range(4)]
    with watch(specs, [0]) as show:
        show(News(1, 50, 9.0, (1,), (float("nan"),) * 7))
        show(News(2, 20, 5.0, (0, 3, 6), (0.5, *[float("nan")] * 6)))
        show(News(2, 25, 6.0, (0, 3, 6), (0.6, *[float("nan")] * 6)))
    said = capsys.readouterr().err
    assert "2 of 4 runs finished, 1 not started" in said
    assert "25/50" in said
    assert "0-1-4-3" in said
    assert "0->1 60%" in said


def test_progress_is_told_line_by_line_where_there_is_no_terminal(monkeypatch, capsys):
    from rising_bandits.antmaze.pool import News
    from rising_bandits.cli import antmaze_progress as command

    now = 0.0
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(command.time, "monotonic", lambda: now)
    specs = [TrainSpec.make("easy", "crucb", episodes=300)]
    with command.watch(specs, []) as tell:
        for episode in range(1, 301):
            now += 1.0
            tell(News(0, episode, now, (0, 3, 6), (0.5, *[float("nan")] * 6)))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"crucb 0: episode {episode}/300" for episode in (1, 61, 121, 181, 241, 300)
    ]
    assert lines[1].endswith("/300, 4.0 min left, path 0-1-4-3, success 0->1 50%")


def test_the_commands_around_results(run, tmp_path, capsys):
    for seed in (0, 1):
        keep(make_result("crucb", seed, 120), tmp_path / "runs")
    assert run("antmaze", "report", tmp_path / "runs", "--out", tmp_path / "page", "--no-film") == 0
    assert (tmp_path / "page" / "report.html").exists()
    assert "trained runs" in capsys.readouterr().out
    assert run("antmaze", "record", tmp_path / "runs", "--out", tmp_path / "x.json", "--json") == 0
    assert json.loads(capsys.readouterr().out)["maze"] == "easy"
    arguments = ["--map", tmp_path / "x.json", "--policy", "sw-cucb", "--seeds", "2", "--out", tmp_path / "again"]
    assert run("antmaze", "replay", *arguments, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert str(tmp_path / "again" / "_figures" / "regret-x.png") in said["figures"]
    (row,) = said["rows"]
    assert (row["runs"], row["horizon"]) == (2, 2000)
    task = recorded.from_file(str(tmp_path / "x.json"))
    assert (task.name, task.recorded) == ("x", True)
    policy = rb.SWCUCB(window=0.25)
    finals = [rb.simulate(task, policy, seed=seed).regret[-1] for seed in (0, 1)]
    assert row["regret"] == pytest.approx(np.mean(finals))
    assert run("antmaze", "replay", *arguments) == 0
    assert "x: 2,000 rounds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read: No such file"),
        ("{", "is not a recording"),
        ("[]", "is not a recording"),
        ('{"format": 0}', "format of a recording must be 1"),
        ('{"format": 1}', "is not a recording"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path, text, words):
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(rb.InputError, match=words):
        recorded.from_file(str(path))


def test_a_recording_that_was_made_anew_is_another_task(tmp_path):
    path = tmp_path / "x.json"
    write_recording([make_result("crucb", 0, 120)], path)
    before = recorded.digest_of(str(path))
    recorded.from_file(str(path), before)
    write_recording([make_result("crucb", 1, 120)], path)
    with pytest.raises(rb.InputError, match=f"has changed: its digest is .*, not {before}"):
        recorded.from_file(str(path), before)


def test_policies_trained_one_after_another_come_together_in_the_page(run, tmp_path, capsys, monkeypatch):
    # Other tests look at films, which take longer than the rest of the page.
    monkeypatch.setattr("rising_bandits.reproduction.antmaze._film", lambda *_: [])
    arguments = ["antmaze", "run", "--episodes", "120", "--out", tmp_path]
    keep(make_result("crucb", 0, 120), tmp_path)
    assert run(*arguments, "--policy", "crucb", "--policy", "crucb(epsilon=0.25)") == 0
    page = (tmp_path / "report" / "report.html").read_text()
    assert "rising antmaze run --map easy --policy oracle --episodes 120 --seed 0" in page
    # Files of something else beside the runs are none of this command's business.
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "result.npz").write_bytes(b"of another program")
    (tmp_path / "table.npz").write_bytes(b"of another program")
    assert "regret against" not in capsys.readouterr().out
    keep(make_result("oracle", 0, 120), tmp_path)
    assert run(*arguments, "--policy", "oracle") == 0
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Regret against the constant optimal path trained with the same seed" in page
    assert "regret against" in capsys.readouterr().out


def test_a_map_is_drawn_before_it_is_trained_on(run, tmp_path, capsys):
    path = tmp_path / "corner.toml"
    path.write_text('text = """\n####\n#..#\n#.##\n####\n"""\nnodes = [[4, 4], [4, 8], [8, 8], [8, 4.1]]\ngoal = 2\n')
    assert run("antmaze", "map", path) == 2
    assert "node 3 at (8, 4.1) of maze 'corner' stands in a wall" in capsys.readouterr().err
    path.write_text(path.read_text().replace(", [8, 4.1]", "").replace("goal = 2", "edges = [[0, 1], [1, 2], [0, 2]]"))
    assert run("antmaze", "map", path) == 0
    said = capsys.readouterr().out
    assert "0->2  no: a wall" in said
    assert "optimal path: 0-1-2, one of 2 from 0 to 2" in said
    assert run("antmaze", "map", "complex", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert sum(edge["passable"] for edge in shown["edges"]) == 34


def test_the_command_replays_and_says_so(run, tmp_path, capsys):
    arguments = ["antmaze", "replay", "--map", "easy", "--policy", "sw-cucb", "--policy", "oracle"]
    assert run(*arguments, "--seeds", "2", "--out", tmp_path, "--workers", "1", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert {row["policy"] for row in shown["rows"]} == {"oracle", "sw-cucb"}
    for name in ("regret", "recording"):
        assert "replayed" in (tmp_path / "_figures" / f"{name}-antmaze-easy.svg").read_text()
    assert "measured means" in rb.plots.plot_recording("lcdb-3@200", tmp_path / "lcdb.png")[1].read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--map", "nowhere"], "map must be one of easy, complex"),
        (["run", "--policy", "best"], "policy must be one of"),
        (["run", "--episodes", "3"], "episodes must be an integer of at least 7"),
        (["run", "--preset", "gpu"], "preset must be one of cpu, upright, paper"),
        (["run", "--seeds", "0"], "seeds must be a number of at least 1"),
        (["run", "--seed", "-1"], "the first seed must be an integer"),
        (["map", "nowhere"], "map must be one of easy, complex"),
        (["report", "nothing"], "there is no file or folder 'nothing'"),
        (["replay", "--map", "huge"], "--map must be one of easy, complex, or a .json file"),
    ],
)
def test_bad_input_is_one_clear_line(run, arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("antmaze", *arguments) == 2
    said = capsys.readouterr().err.strip()
    assert words in said
    assert "\n" not in said
    assert not list(tmp_path.iterdir())


def test_the_command_trains_and_goes_on(run, tmp_path, capsys, monkeypatch):
    """A real run, seven short episodes on the real maze, in a process of its own."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    arguments = ["antmaze", "run", "--episodes", "7", "--out", tmp_path, "--no-report", "--json", "--workers", "1"]
    assert run(*arguments) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["runs"][0]["episodes"] == 7
    assert run(*arguments) == 0
    assert json.loads(capsys.readouterr().out) == first


def test_help_names_the_commands():
    from rising_bandits.cli.antmaze import app

    shown = CliRunner().invoke(app, ["--help"]).output
    assert all(name in shown for name in ("run", "map", "report", "record", "replay"))
