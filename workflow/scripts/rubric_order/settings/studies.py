"""Datasets, reference answers, and the studies that read them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, Len
from pydantic import StringConstraints

from rubric_order.base.gold import HUMAN, Gold
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.settings.base import (
    Arguments,
    Count,
    Id,
    Levels,
    Number,
    Seed,
    Settings,
    Sha256,
    SomeTexts,
    Text,
    Unique,
    setting,
)
from rubric_order.settings.judges.judge import SamplingChange

JOINS = "what joins or leaves the study"


class File(Settings):
    """A file of a dataset."""

    path: str = setting(None, "Path of the file, if it is part of the project or your own.", otherwise="")
    url: str = setting(None, "Address at which the file is published.", otherwise="")
    sha256: Sha256 = setting(None, "Checksum that the file must have.", otherwise="")
    git_blob: Annotated[str, StringConstraints(pattern="^[0-9a-f]{40}$")] = setting(
        None,
        "Id that git gives the file's content. It takes the place of `sha256` where no SHA-256 is known.",
        otherwise="",
    )
    mirror: str = setting(None, "Path of the file within `dataset_mirror`.", otherwise="")


class Dataset(Settings):
    """A dataset, read by one adapter."""

    adapter: str = setting(..., "Adapter that reads the files: one of the library, or one of an installed package.")
    label: Text = setting(
        None,
        "Name of the dataset in tables and figures.",
        otherwise="its id",
        reruns="the tables and figures that show it",
    )
    limit: Count | None = setting(
        None,
        "Number of groups (prompts, articles or stories) to keep: the first ones of the dataset, for a quick run. Null"
        " keeps all groups.",
    )
    files: dict[Id, File] = setting({})
    options: Arguments = setting({}, "Further arguments of the adapter.")
    stand_in: dict[str, Any] | None = setting(
        {},
        "Shape of the simulated items that replace the dataset in a rehearsal if its files are not at hand. The keys"
        " are options of adapter `simulated`.",
        reruns="rehearsals of the dataset",
    )
    human_scale: Annotated[list[Number], Len(2, 2)] = setting(
        [1, 5],
        "Lowest and highest human score that can be given. Weighted kappa maps this range to the judge's levels.",
        reruns="`human_agreement` and what shows it",
    )
    gold: Gold = setting(
        HUMAN,
        "Origin of the scores with which judges are compared. With `human`, people gave them. With `intended`, nobody"
        " did: each text was written for a level, and cards, tables, figures and captions say intended level instead"
        " of human score.",
        reruns="`human_agreement`, `datasets` and what shows them",
    )
    license: str = setting(None, "Licence of the data.", otherwise="", reruns="nothing")
    citation: str = setting(None, "What to cite.", otherwise="", reruns="nothing")


class References(Settings):
    """Making of reference answers at every score, for one dataset."""

    file: str | None = setting(
        None,
        "Path of your own file of reference answers: a table (CSV, JSON Lines or Parquet) with the columns group_id,"
        " score, text, and criterion if there are several criteria. With a file no judge is asked; null: the judges"
        " write.",
    )
    judges: Annotated[list[str], Len(0, 2)] = setting(
        [],
        "Ids of one or two judges that write and review. In the first round the first judge writes and the second"
        " reviews; after each round they change roles. A single judge reviews its own texts.",
    )
    n: Levels = setting(5, "Number of score levels.")
    levels: Annotated[list[Annotated[int, Ge(1), Le(11)]], Len(1), Unique] = setting(
        None, "Scores for which reference answers are written.", otherwise="all but the highest"
    )
    rounds: Count = setting(
        3,
        "Largest number of rounds of writing and reviewing. A text that is not accepted by the last round is never"
        " shown.",
    )
    sample: Count | None = setting(
        None,
        "Number of groups for which reference answers are written; null: all groups. If `seed` is that of a study, the"
        " groups are drawn as for the sample of that study.",
    )
    seed: Seed = setting(0, "Seed with which the groups of `sample` are drawn.")
    shows_rejected: bool = setting(
        False,
        "Whether a writer is shown the texts that were not accepted. At temperature 0 it would otherwise write the"
        " same text again.",
    )
    instruction: Literal["same", "first"] = setting(
        "same",
        "Instruction that is answered: the `same` instruction that all items of a group have, or that of the group's"
        " `first` item. In MT-Bench an instruction contains the candidate's own earlier answer, so the instructions of"
        " a group differ and `first` is needed.",
    )
    writing: SamplingChange = setting(
        description="Sampling settings of the judges when they write. Settings that are left out are those of the"
        " judge.",
        factory=SamplingChange,
    )
    reviewing: SamplingChange = setting(
        description="Sampling settings of the judges when they review: they say whether a text matches its score."
        " Settings that are left out are those of the judge.",
        factory=SamplingChange,
    )

    @property
    def written_levels(self) -> list[int]:
        """The scores for which reference answers are written."""
        return self.levels if self.levels is not None else list(range(1, self.n))


class Comparisons(Settings):
    """Choice of the pairs and lists that are read."""

    pairs: Literal["given", "all"] = setting(
        "given",
        "Pairs to read: those that the dataset gives (`given`), such as each model with the baseline, or every two"
        " candidates of a group (`all`).",
    )
    sample: Count | None = setting(
        None, "Number of pairs or lists that are drawn at random and read; null: all are read."
    )
    lists: Count = setting(
        3,
        "Largest number of lists for each group. The candidates of the lists are drawn at random, and no two lists"
        " share a candidate. The lists are the same for all groups; a group skips a list if it lacks one of the"
        " candidates.",
    )


class Study(Settings):
    """A study: the reads of some judges on some datasets."""

    probe: str = setting(
        "score_order",
        "What is permuted in the prompt: the score levels of one rubric (score_order), the criteria of a prompt that"
        " asks for several scores (criterion_order), two texts that are compared (pair_order), or a list of texts"
        " (list_order). An installed package can add other probes.",
    )
    datasets: SomeTexts = setting(..., "Ids of the datasets that the study reads.", reruns=JOINS)
    judges: SomeTexts = setting(
        ..., "Ids of the judges of the study: defined under `judges`, or ready-made.", reruns=JOINS
    )
    scales: Annotated[list[Levels], Len(1), Unique] = setting(
        [5],
        "Numbers of score levels to read. If the rubric has more levels, evenly spaced ones are taken. Scores begin at"
        " 0 if the rubric's levels do: 11 levels are 0 to 10. Probes pair_order and list_order: numbers of candidates"
        " in a prompt.",
    )
    strategies: SomeTexts = setting(
        ["balanced", "random", "fixed"],
        "How the orderings of a unit are chosen: balanced, random, fixed, single, descending, all, balanced_williams,"
        " repeated_rotations or rotated, as far as the probe offers them. Pairs also have swap; lists have cyclic and"
        " latin. `recorded` takes answers that exist already. docs/studies.md describes each strategy.",
    )
    budget: Count | None = setting(
        None,
        "Number of reads of each item under random, fixed and repeated_rotations; null: twice the number of options,"
        " which is the number under balanced. Pairs and lists: number of reads of each comparison, also under swap,"
        " cyclic and latin; null: the number of candidates.",
    )
    sample: Count | None = setting(
        None,
        "Probes score_order and criterion_order: number of groups that are drawn from each dataset; null: all groups."
        " All items of a drawn group are read.",
    )
    seed: Seed = setting(0, "Seed of the random orderings and of the random samples.")
    conditions: SomeTexts = setting(
        [BASELINE],
        "Conditions of the prompt to read, of those that the probe offers. A condition is what varies apart from the"
        " order. Each condition is read in the same orderings.",
    )
    crossed: bool = setting(
        False,
        "Probe criterion_order: whether the prompt also lists the score levels of each criterion, in an order that"
        " varies as well.",
    )
    prompt: str | None = setting(
        None,
        "Name of the prompt, of those that the probe offers. Probes pair_order and list_order: mt_bench, devbench,"
        " papers/shi2025_devbench, relative or letter; null is letter for judges that answer with a label alone, and"
        " mt_bench for all others. Prompts as papers print them: papers/li2025, papers/kim2024 and papers/debiasing"
        " (probe score_order, with answer_format feedback), and papers/xu2026 (probe criterion_order).",
    )
    comparisons: Comparisons = setting(
        description="Probes pair_order and list_order: which pairs and lists are read.", factory=Comparisons
    )
    profiles: SomeTexts = setting(
        [DEFAULT_PROFILE],
        "Profiles of the judges to read; `default` is the judge without changes. A judge takes part in those of the"
        " profiles that it has.",
        reruns="`plan_reads` and below",
    )
