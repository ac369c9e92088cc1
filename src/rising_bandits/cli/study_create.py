"""``rising study create``: a problem, a policy and a scale from options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rising_bandits.cli.output import console, out, print_json
from rising_bandits.cli.problems import favours_long_paths, make_problem, named_column, numbers_by_name
from rising_bandits.cli.studies import DEFAULT, AuthorOption, JsonOption, StorageOption, StudyName
from rising_bandits.errors import InputError
from rising_bandits.experiments.plan import make_policy, parse_call, parse_policy

if TYPE_CHECKING:
    from rising_bandits.problems import Problem
    from rising_bandits.studies import Scale


def read_scale(text: str | None, given: dict[str, Any], like: Scale | None = None) -> Scale:
    """The scale that the options describe.

    ``text`` is the value of --scale, and ``given`` are the values of the other options of the scale that were set. Unit
    and direction of the scale ``like`` are kept where they are not given.
    """
    from rising_bandits.studies.scales import scale_by_name

    if text is not None:
        name, parameters = parse_call(text, "scale must look like reciprocal(best=2) or 'log(low=1, high=1000)'")
        # --unit may be given beside --scale, unless the scale has a unit of its own.
        extra, leading = set(given) - ({"unit"} - set(parameters)), "--scale"
        parameters = {**given, **parameters}
    elif "half" in given:
        # --lower-is-better may be given too: with this scale lower is always better.
        extra, leading = set(given) & {"low", "high"}, "--half"
        name, parameters = "decay", {part: given[part] for part in ("half", "unit") if part in given}
    else:
        name, parameters, extra, leading = "range", given, set(), ""
    if extra:
        options = " and ".join(f"--{option.replace('_', '-')}" for option in given if option in extra)
        raise InputError(f"{leading} says how outcomes are scaled; leave out {options}")
    return scale_by_name(name, parameters, like)


def create(
    name: StudyName,
    policy: Annotated[
        str | None,
        typer.Option(
            help="The policy, such as 'horizon-crucb(sigma=0.05)'; by default the one that the guide recommends."
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            help="For paths or spanning trees: a CSV file with lines node,node or node,node,name; by default none."
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="The node where paths begin. By default none: without --source and --target, spanning trees."
        ),
    ] = None,
    target: Annotated[str | None, typer.Option(help="The node where paths end; by default none.")] = None,
    workers: Annotated[
        str | None,
        typer.Option(help="For matchings: the workers, separated by commas, such as ann,bob; by default none."),
    ] = None,
    jobs: Annotated[
        str | None,
        typer.Option(help="For matchings: the jobs, separated by commas, such as cats,cars,maps; by default none."),
    ] = None,
    arms: Annotated[
        str | None,
        typer.Option(
            help="For choosing --k of many: the arms, separated by commas, such as ann,bob,cy; by default none."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", help="How many of --arms are chosen at a time; no default, give it with --arms."),
    ] = None,
    problem: Annotated[
        Path | None,
        typer.Option(help="For any problem: a JSON file that holds what problem.spec() returns; by default none."),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(
            help="How the values of the arms are combined: sum, max, harmonic or product; not every problem allows all "
            "of them. By default sum, and harmonic for paths in a graph with cycles."
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            help="How outcomes become values from 0 to 1, such as 'reciprocal(best=2)'. By default linearly from --low "
            "to --high."
        ),
    ] = None,
    low: Annotated[float | None, typer.Option(help="The lowest possible outcome; 0 by default.")] = None,
    high: Annotated[float | None, typer.Option(help="The highest possible outcome; 1 by default.")] = None,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="Low outcomes are good; by default high ones are.")
    ] = False,
    half: Annotated[
        float | None,
        typer.Option(
            help="For outcomes from 0 on without an upper limit, where low ones are good: the outcome whose value is "
            "one half. Replaces --low and --high; by default not used."
        ),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="The unit of outcomes in reports, such as ms; by default none.")
    ] = None,
    expires: Annotated[
        float | None,
        typer.Option(help="Seconds after which the outcomes of a decision are no longer accepted; by default never."),
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(help="How many rounds are planned, for policies that need it; by default not known.")
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            help="What you expect of an arm, as 'ARM=OUTCOME'; it counts as 50 plays. Can be given several times."
        ),
    ] = None,
    least: Annotated[
        list[str] | None,
        typer.Option(help="The least share of decisions that use an arm, as 'ARM=0.05'. Can be given several times."),
    ] = None,
    spread: Annotated[
        bool, typer.Option("--spread", help="Decisions that are open at the same time should differ.")
    ] = False,
    falls: Annotated[
        str, typer.Option(help="What happens when an arm has fallen: propose a reset, reset, or ignore.")
    ] = "propose",
    seed: Annotated[int | None, typer.Option(help="The seed of random choices; by default a random one.")] = None,
    author: AuthorOption = None,
    storage: StorageOption = DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Create a study: a problem, a policy and the scale of its outcomes.

    Describe the problem by one of --edges, --workers, --arms and --problem. Writes the study to the database --storage,
    by default the file studies.db in the current folder.

    Example: rising study create team --arms ann,bob,cy --k 2
    """
    from rising_bandits import studies
    from rising_bandits.studies.storage.urls import shown

    described = make_problem(
        problem=problem,
        edges=edges,
        source=source,
        target=target,
        workers=workers,
        jobs=jobs,
        arms=arms,
        k=k,
        reward=reward,
    )
    options = {"low": low, "high": high, "lower_is_better": lower_is_better or None, "half": half, "unit": unit}
    study = studies.create(
        name,
        described,
        None if policy is None else make_policy(*parse_policy(policy)),
        author=author,
        storage=storage,
        scale=read_scale(scale, {option: value for option, value in options.items() if value is not None}),
        expires=expires,
        horizon=horizon,
        prior=_by_label(described, "prior", prior),
        least=_by_label(described, "least", least),
        spread=spread,
        falls=falls,
        seed=seed,
    )
    if as_json:
        print_json({"study": name, "storage": shown(storage), "arms": [str(label) for label in study.problem.labels]})
        return
    out.print(f"study {name} in {shown(storage)}: {study.problem!r}, {study.policy!r}", soft_wrap=True)
    if edges is not None and (used := named_column(edges)):
        console(stderr=True, soft_wrap=True).print(f"note: {used}")
    if study.scale.lower_is_better and favours_long_paths(described):
        # On standard error, because programs may read standard output.
        console(stderr=True, soft_wrap=True).print(
            "note: these paths have different numbers of edges, and a sum of values favours paths with many edges; to "
            "minimise the total instead, use --reward harmonic and --scale 'reciprocal(best=...)'"
        )


def _by_label(problem: Problem, name: str, texts: list[str] | None) -> dict[Any, float]:
    """Numbers by the label of an arm, from texts such as ``a->b=12``."""
    labels = {str(label): label for label in problem.labels}
    return {labels.get(arm, arm): value for arm, value in numbers_by_name(name, texts or []).items()}
