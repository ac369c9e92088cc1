"""``rising run``: run policies on tasks with several seeds, on all cores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from rising_bandits import _checks
from rising_bandits.cli.curves import ARM, CURVES, NOISE, SIZE, curve_tasks
from rising_bandits.cli.output import out, print_json
from rising_bandits.cli.report import Drawing, play_plan, report_runs
from rising_bandits.cli.sweeps import SCHEDULER, TRUST
from rising_bandits.errors import InputError
from rising_bandits.experiments import Plan, ResultStore, layout, read_run, seeds_of
from rising_bandits.experiments import shard as shard_of
from rising_bandits.experiments.own_code import digest_of

DEFAULT_OUT = Path("results/run")


def run(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tasks, by name (see [bold]rising tasks[/bold]) or as my_module:my_function for tasks of your own. "
            "Or one TOML file with a plan, such as plan.toml."
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy, such as crucb, 'crucb(epsilon=0.25)' or my_module:MyPolicy. Can be given several times. "
            "A list or a range in place of a value stands for several policies, as in 'crucb(epsilon=[0.1, 0.2])' and "
            "'crucb(epsilon=linspace(0.1, 0.4, 4))'. all, the default, stands for the six policies of the paper; "
            "recommended stands for the one that the guide recommends."
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            help="How many runs of each policy on each task, 5 by default; or a range of seeds such as 1000-1004."
        ),
    ] = None,
    first_seed: Annotated[int, typer.Option(help="The first seed where --seeds is a number.")] = 0,
    horizon: Annotated[int | None, typer.Option(help="Rounds per run; by default the task's own number.")] = None,
    curves: Annotated[list[Path] | None, typer.Option(help=CURVES)] = None,
    noise: Annotated[str | None, typer.Option(help=NOISE)] = None,
    k: Annotated[int | None, typer.Option(help=SIZE)] = None,
    arm: Annotated[list[str] | None, typer.Option(help=ARM)] = None,
    record: Annotated[
        list[int] | None,
        typer.Option(help="A round to record in addition to the usual ones. Can be given several times."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="A number to keep with each run: regret-split (the regret by its cause), or my_module:my_function, a "
            "function of a run. Can be given several times."
        ),
    ] = None,
    cascade: Annotated[
        bool | None,
        typer.Option("--cascade/--no-cascade", help="Whether feedback is cascading; by default as in the task."),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(
            help="Rounds until outcomes are known: a number, or geometric(20) for a mean of 20; by default none."
        ),
    ] = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", help="Folder for results and figures; by default results/run.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="How many processes to use; by default one per core.")] = None,
    scheduler: Annotated[str | None, typer.Option(help=SCHEDULER)] = None,
    shard: Annotated[
        str | None,
        typer.Option(help="Run a part of the plan, such as 3/16; rising collect joins the parts. By default all."),
    ] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Also draw each task and its regret, as PNG and SVG.")] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="Draw PDF files instead of PNG and SVG.")] = False,
    log: Annotated[str, typer.Option(help="Logarithmic axes of the regret: x, y or xy; by default none.")] = "",
    width: Annotated[float, typer.Option(help="The width of the regret figure in inches; 3.4 fits a column.")] = 6.4,
    film: Annotated[
        bool, typer.Option("--film", help="Also make an animation (GIF) of the first seed of each policy.")
    ] = False,
    repeat: Annotated[
        Path | None,
        typer.Option(
            help="A result file: repeat its run and compare every number. Exits with code 1 if one differs. By default "
            "no run is repeated."
        ),
    ] = None,
    trust: Annotated[list[str] | None, typer.Option(help=TRUST)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Run policies on tasks and print a table of their regret.

    Writes one file per run to the sub-folder runs of --out, _settings.json with the settings of all runs, the plan as
    _plan.toml, and figures to _figures. Finished runs are not run again, and a run that was stopped continues from its
    last checkpoint. By default the six policies of the paper run with five seeds. Needs the extra lab.

    Example: rising run path-easy --policy crucb --policy sw-cucb --seeds 5 --out results/first --plot
    """
    if repeat is not None:
        if tasks or policy or horizon is not None:
            raise InputError(
                "--repeat takes the task, the policy and the horizon from its file; give none of them with it"
            )
        _repeat(repeat, out_folder or DEFAULT_OUT, as_json, tuple(trust or ()))
        return
    tasks = [*(tasks or ()), *curve_tasks(curves, noise, k, arm, horizon)]
    if not tasks:
        raise InputError("give at least one task, as in: rising run path-easy --policy crucb (see rising tasks)")
    options: dict[str, Any] = {} if cascade is None else {"cascade": cascade}
    if delay is not None:
        options["delay"] = int(delay) if delay.isdecimal() else delay
    whole, trusted = _plan(tasks, policy, seeds, first_seed, horizon, record, metric, options, trust)
    plan = whole.runs(trusted)
    if shard is not None:
        shard_of(plan, shard)  # refuses a wrong --shard before anything is written
        out_folder = out_folder or Path(f"{DEFAULT_OUT}-shard-{shard.replace('/', '-of-')}")
    out_folder = out_folder or DEFAULT_OUT
    if log not in ("", "x", "y", "xy"):
        raise InputError(f"--log must be x, y or xy, got {log!r}")
    drawing = Drawing(pdf=pdf, log=log, width=_checks.number("--width", width, low=2.0, high=40.0), film=film)
    report_runs(
        plan,
        out_folder,
        workers,
        plot=plot or pdf or film,
        as_json=as_json,
        scheduler=scheduler,
        whole=whole,
        drawing=drawing,
        shard=shard,
    )


def _plan(
    tasks: list[str],
    policy: list[str] | None,
    seeds: str | None,
    first_seed: int,
    horizon: int | None,
    record: list[int] | None,
    metric: list[str] | None,
    options: dict[str, Any],
    trust: list[str] | None,
) -> tuple[Plan, tuple[str, ...] | None]:
    """The plan of a command, and the modules that it may import: None, which allows all, unless the plan is a file."""
    given: dict[str, Any] = {
        "policies": policy,
        "seeds": None if seeds is None else _seeds(seeds, first_seed),
        "horizon": horizon,
        "record": record,
        "metrics": metric,
        "options": options or None,
    }
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if any(text.endswith(".toml") for text in tasks):
        if len(tasks) > 1 or policy:
            raise InputError("a plan file must stand alone: give no other task and no --policy with it")
        plan = Plan.read(tasks[0])
        own = [text for text in metric or () if ":" in text]
        changes["options"] = {**plan.options, **options}
        return replace(plan, **changes), (*(trust or ()), *(text.partition(":")[0] for text in own))
    start: dict[str, Any] = {"seeds": _seeds("5", first_seed)} if seeds is None else {}
    return Plan(tasks, **{**start, **changes}), None


def _seeds(text: str, first: int) -> int | str:
    """Seeds as a plan keeps them: their number if they start with 0, otherwise a range."""
    found = seeds_of(text, first)
    return len(found) if found.start == 0 else f"{found.start}-{found.stop - 1}"


def _repeat(path: Path, folder: Path, as_json: bool, trust: tuple[str, ...]) -> None:
    """Repeat the run of a file, compare every number, and exit with code 1 if one differs.

    Of the modules that the file names, only those in ``trust`` are imported.
    """
    old = read_run(path, trust)
    spec = replace(old.spec, code=digest_of(old.spec.own_modules()))
    changed = spec.code != old.spec.code
    store = ResultStore(folder / layout.REPEAT)
    if store.run_path(old.spec).resolve() == path.resolve():
        raise InputError(f"--out must not be the folder that holds the run to repeat, got {str(folder)!r}")
    for stale in (store.run_path(old.spec), store.partial_path(old.spec)):
        stale.unlink(missing_ok=True)
    new = play_plan([spec], store.folder, 1)[0]
    same = all(
        np.array_equal(getattr(old, name), getattr(new, name), equal_nan=True)
        for name in ("rounds", "regret", "reward", "realised_regret", "realised_reward", "plays_at")
    )
    if as_json:
        print_json({"settings": old.spec.as_dict(), "identical": same, "regret": [old.regret[-1], new.regret[-1]]})
    else:
        out.print(f"{old.spec.key}: regret {old.regret[-1]:,.3f} before, {new.regret[-1]:,.3f} now", soft_wrap=True)
        why = "your own code changed" if changed else "the code or the machine's arithmetic changed"
        out.print("every number is the same" if same else f"numbers differ: {why}")
    if not same:
        raise typer.Exit(1)
