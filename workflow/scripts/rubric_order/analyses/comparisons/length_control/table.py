"""Effect of the lengths of texts on the verdicts of judges that compare pairs."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import READOUT_NAMES, intervals, widen

CAPTION = (
    "Length and the verdicts of judges that compare pairs, with {bootstrap[confidence]:.0%} intervals over groups. "
    "Length: log-odds that the longer text gains where it is longer by far (tanh of the standardised difference, as "
    "in AlpacaEval's length control), beside strengths of candidates and difficulties of questions where the study "
    "can estimate them (else the flag says so). A longer text can be a better one: given people, the same in a model "
    "that also has the difference of human scores. That term corrects for as much of the quality as human scores see: "
    "in simulation of a judge that looks at quality alone, with length and quality correlated by .6, the interval "
    "left out 0 in 10% of the studies where people see quality without error, in 38% where their error has half the "
    "standard deviation of quality, and in all where it has as much (40 studies each, 80 questions, four candidates). "
    "Doubling: log-odds for twice the length. r: correlation of the difference of lengths with the verdict. Longer "
    "wins: how often the judge prefers the longer text; of people: how often people do. Lengths are those of the "
    "texts themselves, also where the prompt cuts them to one length: what is left there is not length. Padding: "
    "log-odds, and points of the share of wins, that a text gains by sentences that say nothing and make it half as "
    "long again. This alone is an effect of length with the content kept. By option probabilities reads in which an "
    "option has none are left out, the surest ones; the flag says how many. A flag `separated` marks a judge whose "
    "verdicts leave no finite number."
)
KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "varied", "readout"]
QUANTITIES = ["length", "length_two_steps", "length_given_people", "length_doubling", "first_place", "correlation"]
QUANTITIES += ["longer_wins", "longer_wins_of_people", "padding", "padding_share"]


def table(length_control: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """One row a judge, dataset, condition (``padding``: the padded ones beside the baseline) and readout.

    Args:
        length_control: see `length_control.estimate`.
        study: whose reads.
    """
    chosen = length_control[(length_control["study"] == study) & (length_control["candidate"] == EVERY)]
    rows = widen(chosen, KEYS, QUANTITIES)
    sizes = chosen[chosen["quantity"].isin(["length", "padding"])].set_index(KEYS)[["n_pairs", "n_clusters", "flag"]]
    return rows.join(sizes.rename(columns={"n_clusters": "n_groups"}), on=KEYS)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["judge", "benchmark"]].copy()
    printed["condition"] = rows["varied"].str.replace("_", " ")
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["length"] = _known(rows, "length", "+.2f")
    printed["given people"] = _known(rows, "length_given_people", "+.2f")
    printed["doubling"] = _known(rows, "length_doubling", "+.2f")
    printed["r"] = _known(rows, "correlation", "+.2f")
    printed["longer wins"] = _known(rows, "longer_wins", ".2f")
    printed["of people"] = _known(rows, "longer_wins_of_people", ".2f")
    printed["padding"] = _known(rows, "padding", "+.2f")
    printed["padding, share"] = _known(rows, "padding_share", "+.3f")
    printed["pairs"] = rows["n_pairs"]
    printed["flag"] = rows["flag"]
    return printed


def _known(rows: pd.DataFrame, name: str, form: str) -> list[str]:
    """Estimates with intervals; nothing where a row is not about the quantity."""
    return [text if text != "undefined" else "" for text in intervals(rows, name, form=form)]
