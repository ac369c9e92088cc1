"""The index of the paper: its figures, tables, theorems, lemmas, equations and sections, and what became of each."""

from __future__ import annotations

from collections.abc import Sequence

from rising_bandits.reproduction.judging import Claim, Verdict
from rising_bandits.reproduction.report import Entry, Part

_SETUP = "it describes the setting and claims nothing"
_RUN = "it is run on every synthetic task; the test suite compares its index with a plain implementation"
ITEMS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("Figure 1", "toy example: graph, outcomes, regret, pulls", ("toy",), ""),
    ("Figure 2", "growth of outcomes for several slopes", ("growth",), "it draws formulas; drawn again here"),
    ("Figure 3", "exponents of the upper and the lower bound", ("growth",), ""),
    ("Figure 4", "graphs and outcomes of the path tasks", ("path-easy", "path-complex"), f"{_SETUP}; drawn again here"),
    ("Figure 5", "regret on the path tasks", ("path-easy", "path-complex", "summary"), ""),
    ("Figure 6", "the two AntMazes", ("antmaze",), f"{_SETUP}; drawn again here"),
    ("Figure 7", "AntMaze: outcomes by edge, regret", ("antmaze-easy", "antmaze-complex", "outcomes-easy"), ""),
    ("Figure 8", "AntMaze-complex: where the ant was, three policies", ("positions-complex", "antmaze-complex"), ""),
    ("Figure 9", "k-MAX: outcomes, regret", ("k-max",), ""),
    ("Figure 10", "graphs of the matching tasks", ("matching-easy", "matching-complex"), f"{_SETUP}; drawn again here"),
    ("Figure 11", "regret on the matching tasks", ("matching-easy", "matching-complex"), ""),
    ("Figure 12", "graphs of the spanning tasks", ("spanning-easy", "spanning-complex"), f"{_SETUP}; drawn again here"),
    ("Figure 13", "regret on the spanning tasks", ("spanning-easy", "spanning-complex"), ""),
    ("Figure 14", "AntMaze-complex: positions, all policies", ("positions-complex", "antmaze-complex"), ""),
    ("Figure 15", "AntMaze-complex: tries of paths", ("paths-complex", "antmaze-complex"), ""),
    ("Figure 16", "AntMaze-complex: tries of edges", ("edges-complex", "antmaze-complex"), ""),
    ("Table 1", "sizes of the tasks", ("table-1",), ""),
    (
        "Table 2",
        "hyperparameters of AntMaze",
        ("antmaze",),
        "it lists settings and claims nothing; the runs here have the preset cpu, and one run with the settings of the "
        "table (preset paper) is in the guide to AntMaze",
    ),
    ("Table 3", "regret of CRUCB by window on path-easy", ("sensitivity",), ""),
    ("Theorem 1", "the best constant super arm need not be optimal", ("optimality",), ""),
    ("Theorem 2", "how far it can be from optimal", ("optimality",), ""),
    ("Corollary 1", "for sums it is optimal", ("optimality",), ""),
    ("Theorem 3", "upper bound on the regret of CRUCB", ("bounds",), ""),
    ("Corollary 2", "the upper bound for given slopes", ("growth",), ""),
    ("Theorem 4", "lower bound over all rising instances", ("lower-bounds",), ""),
    ("Theorem 5", "lower bound for given slopes", ("lower-bounds",), ""),
    ("Lemma 1", "Corollary 1 in the proof of Theorem 2", ("optimality",), ""),
    ("Claims 1 and 2", "steps in the proof of Lemma 1", ("optimality",), "Lemma 1, which they prove, is judged itself"),
    ("Lemma 2", "estimates stay within their bonus", ("concentration",), ""),
    ("Lemma 3", "T/16 for two arms, in the proof of Theorem 4", ("proofs", "lower-bounds"), ""),
    ("Lemma 4", "T^(2−c) for two arms, in the proof of Theorem 5", ("proofs", "lower-bounds"), ""),
    ("Proof of Theorem 3", "how the errors of forecasts are summed", ("proofs",), ""),
    ("Proof of Theorem 4", "the step from one pair to L copies", ("proofs",), ""),
    ("Proof of Theorem 5", "two steps for one pair, and the step to L copies", ("proofs",), ""),
    ("Proposition 1", "sums of monotone functions and integrals", ("proofs",), ""),
    ("Pictures in Appendix C", "the outcomes of A and B in the proofs of Theorems 4 and 5", (), _SETUP),
    ("Assumption 1", "concave means", (), _SETUP),
    ("Assumption 2", "monotone reward", (), _SETUP),
    ("Definition 1", "the optimal constant policy", (), _SETUP),
    ("Algorithm 1", "CRUCB", (), _RUN),
    ("Algorithm 2", "R-ed-UCB", (), _RUN),
    ("Algorithm 3", "SW-UCB", (), _RUN),
    ("Algorithm 4", "SW-CUCB", (), _RUN),
    ("Algorithm 5", "SW-TS", (), _RUN),
    ("Algorithm 6", "SW-CTS", (), _RUN),
    ("Section 1", "the toy; single arms, where constant is optimal", ("toy", "optimality"), ""),
    ("Section 2", "rising means and regret", (), _SETUP),
    ("Section 3", "when a constant super arm is optimal", ("optimality",), ""),
    ("Section 4", "the index of CRUCB, and that its forecasts are optimistic", ("concentration",), ""),
    ("Section 5", "what the bounds say by the slopes", ("growth", "bounds", "lower-bounds"), ""),
    ("Section 6.1", "regret on the path tasks, and why", ("path-easy", "path-complex", "summary"), ""),
    ("Section 6.2", "regret in AntMaze, and why", ("antmaze-easy", "antmaze-complex"), ""),
    ("Section 7", "conclusion", (), "it repeats what is judged under the sections before"),
    ("Appendix A", "applications", (), "it names three and measures none; the library has an example of each"),
    ("Appendix B", "studies of single rising arms", ("optimality",), ""),
    (
        "Appendix D",
        "the baselines in words",
        (),
        "it expects policies on super arms to do worse in complex tasks and gives no measure; their regret is judged "
        "under Figure 5",
    ),
    ("Appendix E.1", "slopes of the synthetic tasks, and the rates of regret for them", ("growth", "path-complex"), ""),
    (
        "Appendix E.2",
        "outcomes of AntMaze as steps/100, or as steps by the length of an episode",
        ("antmaze",),
        "it describes the setting; the authors' program takes one over the steps instead, and so do the runs here",
    ),
    ("Appendix F.1", "k-MAX: the constant B_L = 1/√k of Theorem 2, regret, and plays", ("optimality", "k-max"), ""),
    ("Appendix F.2", "matching", ("matching-easy", "matching-complex"), ""),
    ("Appendix F.3", "spanning trees", ("spanning-easy", "spanning-complex"), ""),
    ("Appendix F.4", "windows of CRUCB", ("sensitivity",), ""),
    ("Appendix G", "what policies do in AntMaze-complex", ("antmaze-complex", "positions-complex"), ""),
)
"""For every item of the paper: its name, what it is, the sections that show it, and why it is not judged, if so."""
TEXTS: dict[str, tuple[str, ...]] = {
    "Section 1": ("Figure 1",),
    "Section 3": ("Theorem 1", "Theorem 2", "Corollary 1"),
    "Section 5": ("Figure 3", "Theorem 3", "Corollary 2", "Theorem 4", "Theorem 5"),
    "Section 6.1": ("Figure 5",),
    "Section 6.2": ("Figure 7", "Figure 8"),
    "Appendix F.1": ("Figure 9",),
    "Appendix F.2": ("Figure 11",),
    "Appendix F.3": ("Figure 13",),
    "Appendix F.4": ("Table 3",),
    "Appendix G": ("Figure 14", "Figure 15", "Figure 16"),
}
"""The running text of the paper: which figures, tables and theorems it comments on. Their claims are its claims too."""
EQUATIONS: tuple[tuple[int, int, str], ...] = (
    (1, 1, "Section 2"),
    (2, 2, "Assumption 2"),
    (3, 3, "Section 2"),
    (4, 5, "Theorem 2"),
    (6, 6, "Section 4"),
    (7, 8, "Theorem 3"),
    (9, 12, "Corollary 2"),
    (13, 13, "Theorem 4"),
    (14, 15, "Theorem 5"),
    (16, 19, "Theorem 1"),
    (20, 23, "Lemma 1"),
    (24, 35, "Claims 1 and 2"),
    (36, 50, "Theorem 2"),
    (51, 65, "Proof of Theorem 3"),
    (66, 66, "Lemma 2"),
    (67, 84, "Proof of Theorem 3"),
    (85, 108, "Lemma 3"),
    (109, 113, "Proof of Theorem 4"),
    (114, 127, "Lemma 4"),
    (128, 132, "Proof of Theorem 5"),
    (133, 140, "Lemma 4"),
    (141, 141, "Proposition 1"),
    (142, 163, "Proof of Theorem 5"),
    (164, 166, "Algorithm 3"),
)
"""The numbered equations of the paper, first and last of each stretch, and the item that they belong to."""


def equations_of(item: str) -> str:
    """The numbers of the equations that belong to an item.

    >>> equations_of("Section 2"), equations_of("Corollary 2"), equations_of("Figure 1")
    ('1, 3', '9–12', '')
    """
    mine = [(first, last) for first, last, whose in EQUATIONS if whose == item]
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in mine)


def _together(claims: Sequence[Claim]) -> Verdict:
    """The verdict on an item from those on its claims: the worst of those that were judged."""
    for verdict in ("did not hold", "level", "held"):
        if any(claim.verdict == verdict for claim in claims):
            return verdict
    return "not judged"


def index_of(parts: Sequence[Part]) -> list[Entry]:
    """The index of a report with these sections.

    Parameters
    ----------
    parts
        The sections of the report.
    """
    claims = [claim for part in parts for claim in part.claims]
    shown = {part.name for part in parts}
    entries = []
    for item, what, where, why in ITEMS:
        names = {item, *TEXTS.get(item, ())}
        mine = [claim for claim in claims if names & set(claim.items)]
        verdict = _together(mine)
        if mine:
            counts = [
                (v, sum(claim.verdict == v for claim in mine)) for v in ("held", "level", "did not hold", "not judged")
            ]
            words = ", ".join(f"{number} {v}" for v, number in counts if number)
            words = f"{len(mine)} {'claim' if len(mine) == 1 else 'claims'}: {words}" if len(mine) > 1 else "1 claim"
            if verdict == "not judged":
                words = f"because: {mine[0].evidence}"
        elif where and not shown & set(where):
            words = "because its section was not asked for"
        else:
            words = f"because {why or 'the section that judges it was not asked for'}"
        entries.append(
            Entry(item, what, verdict, words, tuple(name for name in where if name in shown), equations_of(item))
        )
    return entries
