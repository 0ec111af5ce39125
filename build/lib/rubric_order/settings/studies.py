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
from rubric_order.settings.judges import SamplingChange

JOINS = "what joins or leaves the study"


class File(Settings):
    """A file of a dataset."""

    path: str = setting(None, "A file of the project or of the user.", otherwise="")
    url: str = setting(None, "Where the file is published.", otherwise="")
    sha256: Sha256 = setting(None, "Checksum that the file must have.", otherwise="")
    git_blob: Annotated[str, StringConstraints(pattern="^[0-9a-f]{40}$")] = setting(
        None, "The same as the id that git gives the file's content, where no SHA-256 is known.", otherwise=""
    )
    mirror: str = setting(None, "Path of the file under dataset_mirror.", otherwise="")


class Dataset(Settings):
    """A dataset, read by one adapter."""

    adapter: str = setting(..., "Reader of the files: an adapter of the library, or of an installed package.")
    label: Text = setting(
        None,
        "Name of the dataset in tables and figures.",
        otherwise="its id",
        reruns="the tables and figures that show it",
    )
    limit: Count | None = setting(None, "Keep only the first so many groups (prompts, stories), for a quick run.")
    files: dict[Id, File] = setting({})
    options: Arguments = setting({}, "Further arguments of the adapter.")
    stand_in: dict[str, Any] | None = setting(
        {},
        "Shape of the simulated items that a rehearsal reads where the files are not at hand: options of adapter"
        " `simulated`.",
        reruns="rehearsals of the dataset",
    )
    human_scale: Annotated[list[Number], Len(2, 2)] = setting(
        [1, 5],
        "Least and greatest human score that can be given; weighted kappa maps it to the judge's levels.",
        reruns="`human_agreement` and what shows it",
    )
    gold: Gold = setting(
        HUMAN,
        "Who gave the scores that judges are compared with: people (`human`), or nobody (`intended`): each text was"
        " written for a level. Cards, tables, figures and captions then say intended level, and not human score.",
        reruns="`human_agreement`, `datasets` and what shows them",
    )
    license: str = setting(None, "Licence of the data.", otherwise="", reruns="nothing")
    citation: str = setting(None, "What to cite.", otherwise="", reruns="nothing")


class References(Settings):
    """Making of reference answers at every score, for one dataset."""

    file: str | None = setting(
        None,
        "Your own: a table (CSV, JSON Lines or Parquet) with the columns group_id, score, text, and criterion where"
        " there"
        " are several. Then no judge is asked.",
    )
    judges: Annotated[list[str], Len(0, 2)] = setting(
        [],
        "One or two judges, which change roles by round: the first one writes in the first round, the second one"
        " reviews. A single judge reviews itself.",
    )
    n: Levels = setting(5, "Number of score levels.")
    levels: Annotated[list[Annotated[int, Ge(1), Le(11)]], Len(1), Unique] = setting(
        None, "Scores to write for.", otherwise="all but the highest"
    )
    rounds: Count = setting(3, "Rounds, at most; what is not accepted by then is never shown.")
    sample: Count | None = setting(
        None, "Groups to write for; null takes all. With the seed of a study, the groups of its sample."
    )
    seed: Seed = setting(0, "Seed of the sample.")
    shows_rejected: bool = setting(
        False,
        "Whether a writer sees the answers that were not accepted. At temperature 0 it would else write the same"
        " again.",
    )
    instruction: Literal["same", "first"] = setting(
        "same",
        "What is answered: the one instruction that all items of a group have, or that of its first item. In MT-Bench"
        " an"
        " instruction holds its candidate's earlier answer, so that those of a group differ.",
    )
    writing: SamplingChange = setting(
        description="How the judges sample when they write; what is not said is as the judge has it.",
        factory=SamplingChange,
    )
    reviewing: SamplingChange = setting(
        description="The same when they say whether a text matches its score.", factory=SamplingChange
    )

    @property
    def written_levels(self) -> list[int]:
        """The scores that reference answers are written for."""
        return self.levels if self.levels is not None else list(range(1, self.n))


class Comparisons(Settings):
    """Choice of the pairs and lists that are read."""

    pairs: Literal["given", "all"] = setting(
        "given", "The dataset's pairs, such as each model with the baseline, or every two candidates of a group."
    )
    sample: Count | None = setting(None, "Pairs or lists that are drawn from these; null takes all.")
    lists: Count = setting(
        3, "Lists of different candidates that are drawn for each group; the same candidates wherever they are there."
    )


class Study(Settings):
    """A study: the reads of some judges on some datasets."""

    probe: str = setting(
        "score_order",
        "What is permuted: the score levels of one rubric (score_order), the criteria of a prompt that asks for several"
        " scores (criterion_order), two texts (pair_order), a list of texts (list_order), or what a probe of an"
        " installed package says.",
    )
    datasets: SomeTexts = setting(..., "Ids under datasets.", reruns=JOINS)
    judges: SomeTexts = setting(..., "Ids under judges.", reruns=JOINS)
    scales: Annotated[list[Levels], Len(1), Unique] = setting(
        [5],
        "Numbers of score levels; fewer than the rubric has are chosen evenly. A rubric whose levels begin with 0 has"
        " scores from 0: 11 levels are 0 to 10.",
    )
    strategies: SomeTexts = setting(
        ["balanced", "random", "fixed"],
        "How the orderings of a unit are chosen, of the strategies that the probe offers: balanced, random, fixed,"
        " single, descending, all, balanced_williams, repeated_rotations, rotated; `recorded` takes answers that exist"
        " already.",
    )
    budget: Count | None = setting(
        None,
        "Reads an item of random, fixed and repeated_rotations; by default twice the number of options, as many as"
        " balanced has.",
    )
    sample: Count | None = setting(
        None,
        "Probes score_order and criterion_order; groups that are drawn from each dataset, of which all items are read;"
        " null takes all.",
    )
    seed: Seed = setting(0, "Seed of the random orderings and of the sample.")
    conditions: SomeTexts = setting(
        [BASELINE],
        "What is varied beside the order, of the conditions that the probe offers; each is read in the same orderings.",
    )
    crossed: bool = setting(
        False,
        "Probe criterion_order; whether the prompt lists the score levels of each criterion, in an order that is varied"
        " too.",
    )
    prompt: str | None = setting(
        None,
        "The prompt, of those that the probe offers. Probes pair_order and list_order: mt_bench, devbench,"
        " papers/shi2025_devbench, relative or letter; by default letter for judges that answer with a label alone,"
        " else"
        " mt_bench. As papers print them: papers/li2025, papers/kim2024 and papers/debiasing (probe score_order; judges"
        " of answer_format feedback), papers/xu2026 (criterion_order).",
    )
    comparisons: Comparisons = setting(
        description="Probes pair_order and list_order; which pairs and lists are read.", factory=Comparisons
    )
    profiles: SomeTexts = setting(
        [DEFAULT_PROFILE],
        "Profiles of the judges; `default` is the judge as it stands, and a judge takes part in those that it has.",
        reruns="`plan_reads` and below",
    )
