"""What is sent and answered, as types. The OpenAPI text is made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rising_bandits.serve.forms import PolicyChoice, ProblemChoice, ScaleChoice, ShareChoice, Text, Texts
from rising_bandits.serve.limits import BATCH, LABELS

Id = Annotated[int, Meta(ge=1, le=2**53)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Outcomes = Annotated[
    dict[Text, float],
    Meta(max_length=LABELS, description="Outcomes by arm, in the unit of the study. Arms left out were not played."),
]
Metadata = Annotated[dict[str, Any], Meta(description="Anything that the history should show beside the decision.")]


class Ask(Struct, forbid_unknown_fields=True):
    """A call for a decision, or for ``n`` of them."""

    n: Annotated[int, Meta(ge=1, le=BATCH, description="How many decisions; left out for a single one.")] | None = None
    unavailable: Annotated[Texts, Meta(description="Arms that may not be used this time.")] = []
    among: (
        Annotated[
            Text | Annotated[list[Text], Meta(min_length=2, max_length=2)],
            Meta(
                description="For a problem with several families of super arms, such as routes: the one to choose "
                "from, by its name or as a pair of a source and a target."
            ),
        ]
        | None
    ) = None
    metadata: Metadata | UnsetType = UNSET
    explain: Annotated[bool, Meta(description="Whether the answer explains the decision.")] = False


class Decision(Struct, omit_defaults=True):
    """A super arm to play, and the id under which its outcomes are told."""

    id: Id
    super_arm: list[str]
    asked_at: float
    expires_at: float | None = None
    explanation: dict[str, Any] | UnsetType = UNSET


class Decisions(Struct):
    """Several decisions."""

    decisions: list[Decision]


class Report(Struct, forbid_unknown_fields=True):
    """The outcomes of one decision."""

    id: Id
    outcomes: Outcomes
    final: Annotated[bool, Meta(description="False if outcomes of other arms of the decision may follow.")] = True


class Reports(Struct, forbid_unknown_fields=True):
    """The outcomes of several decisions. Each is accepted or refused by itself."""

    tells: Annotated[list[Report], Meta(min_length=1, max_length=BATCH)]


class Tell(Struct, forbid_unknown_fields=True):
    """A `Report` or `Reports`."""

    id: Id | None = None
    outcomes: Outcomes | None = None
    final: bool = True
    tells: Annotated[list[Report], Meta(min_length=1, max_length=BATCH)] | None = None


class Told(Struct):
    """Whether a tell is new; False if the same was told before."""

    new: bool


class Fate(Struct, omit_defaults=True):
    """What became of one tell of many."""

    id: Id
    status: int
    new: bool = False
    detail: str | UnsetType = UNSET


class Fates(Struct):
    """What became of each tell, in the order given."""

    tells: list[Fate]


class Recorded(Struct, forbid_unknown_fields=True):
    """A decision that was made elsewhere, with its outcomes."""

    source: Annotated[Name, Meta(description="Who decided, such as the rule that decides today.")]
    super_arm: Annotated[Texts, Meta(min_length=1)]
    outcomes: Outcomes
    metadata: Metadata | UnsetType = UNSET


class NewStudy(Struct, forbid_unknown_fields=True):
    """A study to create."""

    name: Name
    problem: ProblemChoice
    policy: Annotated[PolicyChoice, Meta(description="By default the recommended one.")] | None = None
    scale: ScaleChoice | None = None
    horizon: Annotated[int, Meta(ge=1, le=2**53)] | None = None
    expires: (
        Annotated[float, Meta(gt=0, description="Seconds after which a decision can no longer be told.")] | None
    ) = None
    reorder: Annotated[int, Meta(ge=1, le=100_000)] = 256
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    exist_ok: bool = False


class Share(Struct):
    """A rule that gets a share of the asks."""

    name: str
    share: float
    rule: str
    """What decides: the arms of a super arm, a policy, or a function of some program."""


class Study(Struct):
    """A study in short."""

    name: str
    policy: str
    problem: str
    unit: str
    lower_is_better: bool
    horizon: int | None
    expires: float | None
    decisions: int
    round: int
    open: int
    unlisted: int
    arms: int
    retired: list[str]
    shares: list[Share]


class Studies(Struct):
    """The names of the studies that the token may see."""

    studies: list[str]


class ArmsBody(Struct, forbid_unknown_fields=True):
    """Some arms."""

    arms: Annotated[Texts, Meta(min_length=1)]


class Settings(Struct, forbid_unknown_fields=True):
    """Settings that are different from now on; those left out stay."""

    policy: PolicyChoice | None = None
    scale: ScaleChoice | None = None
    horizon: Annotated[int, Meta(ge=1, le=2**53)] | UnsetType | None = UNSET
    expires: Annotated[float, Meta(gt=0)] | UnsetType | None = UNSET
    falls: (
        Annotated[Literal["propose", "reset", "ignore"], Meta(description="What happens when an arm falls.")] | None
    ) = None
    spread: (
        Annotated[bool, Meta(description="Whether open decisions count as if they had come back as expected.")] | None
    ) = None
    least: (
        Annotated[dict[Text, float], Meta(description="The least share of decisions that use an arm, by arm.")] | None
    ) = None
    share: (
        Annotated[
            ShareChoice,
            Meta(
                description="A share of the asks for another rule, such as the one that decides today. The operation "
                "compare then says who earned more. Without super_arm and policy, the rule of this name is kept."
            ),
        ]
        | None
    ) = None


class Change(Settings, forbid_unknown_fields=True):
    """A change of a study: settings, or what happens to arms."""

    retire: Texts = []
    restore: Texts = []
    reset: Texts = []
    mask: Annotated[Texts, Meta(description="Arms that would be unavailable for one decision.")] = []


class PolicyInfo(Struct):
    """A policy of the library, as its class describes it."""

    name: str
    title: str
    description: str
    acts_on: str
    parameters: dict[str, Any]
    """The parameters with their defaults."""
    help: dict[str, str]
    """What the parameters mean, and their ranges."""


class Policies(Struct):
    """The policies that a study can have."""

    policies: list[PolicyInfo]


class Done(Struct):
    """A change that is stored."""

    done: bool = True


class Arm(Struct):
    """What is known about one arm (of a policy that acts on super arms: about one super arm)."""

    label: str
    plays: int | None
    recent_average: float | None
    predicted_improvement: float | None
    bonus: float | None
    index: float | None
    recent_outcome: float | None
    predicted_outcome: float | None


class Arms(Struct):
    """What is known about all arms."""

    arms: list[Arm]


class HistoryQuery(Struct, forbid_unknown_fields=True):
    """Which part of the history."""

    last: Annotated[int, Meta(ge=1, le=100_000, description="How many of the newest rows.")] = 1_000
    since: Annotated[float, Meta(description="Only what was told since then, in seconds since 1970.")] | None = None
    skip: Annotated[int, Meta(ge=0, le=10_000_000, description="How many of the newest rows to pass over.")] = 0


class Row(Struct):
    """One outcome."""

    decision_id: int | None
    arm: str
    play: int
    outcome: float
    value: float
    round: int
    asked_at: float | None
    told_at: float | None
    super_arm: list[str]
    forgotten: bool
    metadata: dict[str, Any] | None = None


class ChangesQuery(Struct, forbid_unknown_fields=True):
    """From where on."""

    after: Annotated[int, Meta(ge=0, le=2**53, description="The number of the event after which to begin.")] = 0


class Changed(Struct):
    """A change that was made."""

    seq: int
    """The number of its event in the log."""
    at: float
    kind: str
    what: str
    author: str | None
    """The name of the token that made it, or the name that a program gave; null if nobody was named."""


class Changes(Struct):
    """Changes in the order in which they were made."""

    changes: list[Changed]
    next: int | None
    """Where to go on, as ``after`` of the next request; null at the end of the log."""


class CompareQuery(Struct, forbid_unknown_fields=True):
    """With whom."""

    source: Annotated[Name, Meta(description="The name of the rule or source.")]


class History(Struct):
    """Outcomes in the order in which they were learnt, oldest first."""

    rows: list[Row]
    more: bool
    """Whether there are older rows."""


class Health(Struct):
    """How the service is."""

    status: str
    version: str


class Session(Struct, forbid_unknown_fields=True):
    """A token, to begin a session of the page."""

    token: Annotated[str, Meta(min_length=1, max_length=1_000)]


class WhoAmI(Struct):
    """What the sender of the request may do."""

    name: str
    studies: list[str]
    rights: list[str]
    tokens: bool
    """Whether the service needs tokens at all."""
    results: bool = False
    """Whether the page shows results of runs instead of studies."""
