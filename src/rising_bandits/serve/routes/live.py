"""Ask and tell."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from rising_bandits.errors import RisingBanditsError
from rising_bandits.serve.labels import Texts
from rising_bandits.serve.metrics import Metrics
from rising_bandits.serve.operations import Call, operation
from rising_bandits.serve.problems import Refused, refusal
from rising_bandits.serve.schemas import Ask, Decision, Decisions, Fate, Fates, Recorded, Report, Reports, Tell, Told
from rising_bandits.studies import Decision as Made
from rising_bandits.studies import Study

_TAG = "Decide"


def shown(decision: Made, texts: Texts) -> Decision:
    """A decision as it is answered."""
    return Decision(decision.id, texts.shown(decision.super_arm), decision.asked_at, decision.expires_at)


@operation("POST", "/v1/studies/{study}/ask", right="ask", tag=_TAG, body=Ask, answer=(Decision, Decisions))
async def ask(call: Call) -> Any:
    """Ask for a decision.

    With ``n``, for several at once. With ``among``, from one family of super arms, such as the paths of one pair. Send
    the header Idempotency-Key with a text of your own to be able to ask again after a lost answer: the same key gets
    the same decision.
    """
    asked: Ask = call.body
    key = call.headers.get("idempotency-key")
    if asked.n is not None and asked.n > call.state.limits.batch:
        raise Refused(422, f"n must be at most {call.state.limits.batch}, got {asked.n}")
    options: dict[str, Any] = {} if key is None else {"key": key}
    if asked.metadata is not msgspec.UNSET:
        options["metadata"] = asked.metadata
    if asked.among is not None:
        options["among"] = asked.among if isinstance(asked.among, str) else tuple(asked.among)

    def work(study: Study, texts: Texts) -> tuple[list[Decision], bool]:
        # A key may bring back decisions that were made before.
        known = 0 if key is None else study.decisions
        made = study.ask(asked.n or 1, unavailable=texts.meant(asked.unavailable), **options)
        return [shown(decision, texts) for decision in made], made[0].id > known

    found, new = await call.hub.write(call.study, work)
    if new:
        metrics: Metrics = call.state.metrics
        metrics.add(metrics.decisions, call.study, len(found))
    if asked.explain:
        for decision in found:
            decision.explanation = await call.hub.read(call.study, partial(_explained, decision.id))
    return found[0] if asked.n is None else Decisions(found)


@operation(
    "POST",
    "/v1/studies/{study}/tell",
    right="tell",
    tag=_TAG,
    body=Tell,
    forms=(Report, Reports),
    answer=(Told, Fates),
    statuses=(409,),
)
async def tell(call: Call) -> Any:
    """Tell the outcomes of a decision, or of several.

    The same tell again is harmless. Other content than before is refused with 409, and what was told first stands. Of
    several tells each is accepted or refused by itself, with a status of its own.
    """
    told: Tell = call.body
    single = told.tells is None
    if not single and (told.id is not None or told.outcomes is not None):
        raise Refused(422, "send either id and outcomes, or tells")
    reports = told.tells or [_single(told)]
    if len(reports) > call.state.limits.batch:
        raise Refused(422, f"there must be at most {call.state.limits.batch} tells, got {len(reports)}")

    def work(study: Study, texts: Texts) -> list[bool | RisingBanditsError]:
        news: list[bool | RisingBanditsError] = []
        for report in reports:
            try:
                news.append(study.tell(report.id, texts.outcomes(report.outcomes), final=report.final))
            except RisingBanditsError as error:
                if single:
                    raise
                news.append(error)
        return news

    news = await call.hub.write(call.study, work, told=min(report.id for report in reports))
    fresh = sum(new is True for new in news)
    metrics: Metrics = call.state.metrics
    metrics.add(metrics.tells, call.study, fresh)
    metrics.add(metrics.repeated, call.study, sum(new is False for new in news))
    if single:
        return Told(news[0] is True)
    return Fates([_fate(report, new) for report, new in zip(reports, news, strict=True)])


@operation("POST", "/v1/studies/{study}/record", right="tell", tag=_TAG, body=Recorded, answer=Decision)
async def record(call: Call) -> Any:
    """Learn from a decision that was made elsewhere, such as by the rule that decides today.

    The page draws what it earned beside what the study earns, and the operation compare says who earned more. Sent
    twice, it counts twice.
    """
    made: Recorded = call.body
    metadata = None if made.metadata is msgspec.UNSET else made.metadata

    def work(study: Study, texts: Texts) -> Decision:
        told = texts.outcomes(made.outcomes)
        return shown(study.record(texts.meant(made.super_arm), told, source=made.source, metadata=metadata), texts)

    found = await call.hub.write(call.study, work)
    call.state.metrics.add(call.state.metrics.tells, call.study)
    return found


def _explained(number: int, study: Study, _: Texts) -> dict[str, Any]:
    """The explanation of a decision."""
    return study.explain(number).to_dict()


def _single(told: Tell) -> Report:
    """The only report of a tell."""
    if told.id is None or told.outcomes is None:
        raise Refused(
            422, "send id and outcomes, as in {'id': 7, 'outcomes': {'a': 0.9}}, or tells with a list of them"
        )
    return Report(told.id, told.outcomes, told.final)


def _fate(report: Report, new: bool | RisingBanditsError) -> Fate:
    """What became of one tell of many."""
    if isinstance(new, bool):
        return Fate(report.id, 200, new)
    refused = refusal(new)
    return Fate(report.id, refused.status, detail=refused.detail)
