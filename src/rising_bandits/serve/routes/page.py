"""The page, and what it draws."""

from __future__ import annotations

import gzip
import math
import time
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from rising_bandits import studies
from rising_bandits.errors import RisingBanditsError
from rising_bandits.serve import schemas
from rising_bandits.serve.chronicle import Chronicle, Curve
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.operations import Answer, Call, operation
from rising_bandits.serve.problems import unknown
from rising_bandits.serve.routes.changes import apply
from rising_bandits.serve.routes.studies import summary
from rising_bandits.serve.structure import structure
from rising_bandits.serve.whatif import what_if

_TAG = "Page"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
FILES = ("index.html", "page.js", "page.css", "icon.svg", "LICENSES.txt")
"""The files of the page."""
_FIRST_CURVES = 8
"""How many curves are sent with a study; others are sent when they are wanted."""


@cache
def _file(name: str) -> tuple[bytes, bytes, str]:
    """A file of the page: as it is, compressed, and the mark of its content."""
    import hashlib

    data = (files("rising_bandits.serve") / "static" / name).read_bytes()
    return data, gzip.compress(data, 9, mtime=0), f'"{hashlib.sha256(data).hexdigest()[:20]}"'


def _static(name: str, call: Call) -> Answer:
    """A file of the page as an answer."""
    data, packed, mark = _file(name)
    headers = {"Cache-Control": "no-cache", "ETag": mark, "Vary": "Accept-Encoding"}
    kind = name.rpartition(".")[2]
    if kind == "html":
        headers |= {"Content-Security-Policy": _POLICY, "Cross-Origin-Opener-Policy": "same-origin"}
    if call.headers.get("if-none-match") == mark:
        return Answer(b"", 304, _TYPES[kind], headers)
    if "gzip" in call.headers.get("accept-encoding", ""):
        return Answer(packed, 200, _TYPES[kind], {**headers, "Content-Encoding": "gzip"})
    return Answer(data, 200, _TYPES[kind], headers)


@operation("GET", "/", right=None, tag=_TAG, type="text/html")
async def page(call: Call) -> Any:
    """Show the page."""
    return _static("index.html", call)


@operation("GET", "/static/{file}", right=None, tag=_TAG, type="text/plain")
async def static(call: Call) -> Any:
    """Give a file of the page."""
    if call.path["file"] not in FILES:
        raise unknown("file", call.path["file"])
    return _static(call.path["file"], call)


def packed(call: Call, data: Any) -> Answer:
    """Data as JSON, compressed if the client can read that."""
    body = msgspec.json.encode(data)
    if len(body) > 2_000 and "gzip" in call.headers.get("accept-encoding", ""):
        return Answer(gzip.compress(body, 5, mtime=0), headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})
    return Answer(body)


def chronicle(call: Call, study: studies.Study) -> Chronicle:
    """The chronicle of a study, up to date. Called within a read of its desk."""
    kept: dict[str, tuple[int, Chronicle]] = call.state.chronicles
    number, found = kept.get(study.name, (0, Chronicle()))
    if number != study._log.number:
        # Another study of the same name.
        found = Chronicle()
    found.follow(study)
    kept[study.name] = (study._log.number, found)
    while len(kept) > call.state.limits.open:
        del kept[next(iter(kept))]
    return found


def warnings(study: studies.Study, found: Chronicle, brief: schemas.Study, expired: int) -> list[str]:
    """What the person who runs a study should know."""
    said = []
    if brief.horizon is not None and brief.round > brief.horizon:
        said.append(f"the horizon of {brief.horizon} rounds has passed (round {brief.round})")
    if expired:
        said.append(f"{expired} decision{'s' * (expired != 1)} expired without a tell")
    if brief.unlisted:
        said.append(f"{brief.unlisted} older decisions have no final tell")
    if brief.retired:
        said.append(f"retired: {', '.join(brief.retired[:5])}{' …' if len(brief.retired) > 5 else ''}")
    doubt = _sigma_doubt(study, found)
    if doubt:
        said.append(doubt)
    sign = -1.0 if study.scale.lower_is_better else 1.0
    dropped = [str(found.labels[key]) for key, curve in found.curves.items() if _dropped(curve, sign)]
    if dropped:
        names = ", ".join(dropped[:5]) + (" …" if len(dropped) > 5 else "")
        said.append(f"newer outcomes are clearly worse than older ones: {names}")
    return said


def _dropped(curve: Curve, sign: float) -> bool:
    """Whether the newest eighth of a curve is clearly worse than what came before; ``sign`` is -1 if low is good."""
    points = curve.points()
    count = len(points["mean"])
    if count < 16:
        return False
    part = count // 8
    early, late = points["mean"][count // 2 : -part], points["mean"][-part:]
    spread = max(
        math.sqrt(sum((mean - sum(early) / len(early)) ** 2 for mean in early) / len(early)) / math.sqrt(part), 1e-9
    )
    return bool(sign * (sum(late) / part - sum(early) / len(early)) < -6.0 * spread)


def _sigma_doubt(study: studies.Study, found: Chronicle) -> str:
    """Whether the outcomes contradict the σ that the policy was given: their steps from play to play are far larger."""
    sigma = getattr(study.policy, "sigma", None)
    spread = found.noise()
    if not isinstance(sigma, float) or spread is None or sigma <= 0 or spread < 3.0 * sigma:
        return ""
    return f"σ = {sigma:g} is contradicted: outcomes vary by about {spread:.2g} from play to play, on the scale 0 to 1"


@operation("GET", "/v1/studies/{study}/overview", right="read", tag=_TAG, answer=dict[str, Any])
async def overview(call: Call) -> Any:
    """Give everything that the page shows of a study, in a bounded size."""

    def work(study: studies.Study, texts: Texts) -> dict[str, Any]:
        found = chronicle(call, study)
        brief = summary(study, texts)
        is_open, expired = found.waiting(brief.expires, time.time())
        known = study.arms()
        by_label = {str(label): key for key, label in found.labels.items()}
        acts_on_arms = len(known) == brief.arms
        first = sorted(range(len(known)), key=lambda place: -(known[place].plays or 0))[:_FIRST_CURVES]
        names = (
            [str(known[place].label) for place in first] if acts_on_arms else [str(a) for a in study.problem.labels[:8]]
        )
        keys = {name: by_label[name] for name in names if name in by_label}
        return {
            "study": msgspec.to_builtins(brief) | {"open": is_open, "expired": expired},
            "seq": found.seq,
            "warnings": warnings(study, found, brief, expired),
            "structure": structure(study.problem, texts),
            "labels": texts.shown(study.problem.labels),
            "units": "arms" if acts_on_arms else "super arms",
            "columns": list(schemas.Arm.__struct_fields__),
            "arms": [[_round(getattr(arm, name)) for name in schemas.Arm.__struct_fields__] for arm in known[:5_000]],
            "curves": {name: found.curves[key].points() for name, key in keys.items() if key in found.curves},
            "reward": {source: curve.points() for source, curve in found.reward.items()},
            "outcome": {source: curve.points() for source, curve in found.outcome.items()},
            "days": sorted(found.days.items())[-60:],
            "changes": list(found.changes)[-50:],
            "newest": list(found.newest)[-60:],
            "domain": [number if math.isfinite(number) else None for number in study.scale.domain],
        }

    return packed(call, await call.hub.read(call.study, work))


def _round(value: Any) -> Any:
    """A number with seven digits."""
    return float(f"{value:.7g}") if isinstance(value, float) else value


@operation("GET", "/v1/studies/{study}/glance", right="read", tag=_TAG, answer=dict[str, Any])
async def glance(call: Call) -> Any:
    """Give what the list of studies shows of a study."""

    def work(study: studies.Study, texts: Texts) -> dict[str, Any]:
        found = chronicle(call, study)
        brief = summary(study, texts)
        is_open, expired = found.waiting(brief.expires, time.time())
        return {
            "study": msgspec.to_builtins(brief) | {"open": is_open, "expired": expired},
            "reward": {source: curve.points() for source, curve in found.reward.items()},
            "days": sorted(found.days.items())[-30:],
            "last_ask": found.last_ask,
            "warnings": warnings(study, found, brief, expired),
        }

    return packed(call, await call.hub.read(call.study, work))


class CurveQuery(Struct, forbid_unknown_fields=True):
    """Which curve."""

    arm: Annotated[str, Meta(min_length=1, max_length=500)]


@operation("GET", "/v1/studies/{study}/curve", right="read", tag=_TAG, query=CurveQuery, answer=dict[str, Any])
async def curve(call: Call) -> Any:
    """Give the outcome curve of one arm: means and standard errors by play."""

    def work(study: studies.Study, texts: Texts) -> dict[str, Any]:
        found = chronicle(call, study)
        label = texts.label(call.query.arm)
        key = next((key for key, known in found.labels.items() if known == label), None)
        if key is None:
            raise unknown("arm", call.query.arm)
        return found.curves[key].points() if key in found.curves else Curve().points()

    return packed(call, await call.hub.read(call.study, work))


@operation("GET", "/v1/studies/{study}/decisions/{decision}/then", right="read", tag=_TAG, answer=dict[str, Any])
async def then(call: Call) -> Any:
    """Say what was known when a decision was asked for, and why it was made."""
    text = call.path["decision"]
    if not (text.isascii() and text.isdigit() and len(text) < 17):
        raise unknown("decision", text)

    def work(study: studies.Study, _: Texts) -> dict[str, Any]:
        if not 1 <= int(text) <= study.decisions:
            raise unknown("decision", int(text))
        known = study.arms(at=int(text))
        fields = schemas.Arm.__struct_fields__
        return {
            "explanation": study.explain(int(text)).to_dict(),
            "arms": [[_round(getattr(arm, name)) for name in fields] for arm in known[:5_000]],
        }

    return packed(call, await call.hub.read(call.study, work))


@operation(
    "POST",
    "/v1/studies/{study}/preview",
    right="read",
    tag=_TAG,
    body=schemas.Change,
    answer=dict[str, Any],
    statuses=(422,),
)
async def preview(call: Call) -> Any:
    """Say what a change would do to the next decision. Nothing is changed.

    The next decision is made twice on copies of the study: as it is, and after the change.
    """
    change: schemas.Change = call.body

    def work(study: studies.Study, texts: Texts) -> dict[str, Any]:
        before = _next(what_if(study), texts, [])
        copy = what_if(study)
        try:
            apply(copy, texts, change)
            after: dict[str, Any] | None = _next(copy, texts, texts.meant(change.mask))
            refused = None
        except RisingBanditsError as error:
            after, refused = None, str(error)
        same = after is not None and after["super_arm"] == before["super_arm"]
        return {"before": before, "after": after, "same": same, "refused": refused}

    return await call.hub.read(call.study, work)


def _next(study: studies.Study, texts: Texts, mask: list[Any]) -> dict[str, Any]:
    """The next decision of a copy of a study, with its explanation."""
    decision = study.ask(unavailable=mask)
    return {"super_arm": texts.shown(decision.super_arm), "explanation": study.explain(decision.id).to_dict()}
