"""The kind of label of a dataset: what nobody rated is nowhere called human."""

import json

import pandas as pd
import pytest
import yaml
from factories import ROOT, simulated_reads

from rubric_order import registry
from rubric_order.analyses.agreement.human_agreement import estimate as human_agreement
from rubric_order.analyses.overview.datasets import estimate as data_cards
from rubric_order.analyses.overview.datasets import table as datasets_table
from rubric_order.base import gold
from rubric_order.base.errors import InputError
from rubric_order.base.keys import KEYS
from rubric_order.base.labels import Labels, replace_ids
from rubric_order.cards import card, methods, row, terms
from rubric_order.datasets import Item, prepare
from rubric_order.datasets.rubrics import Rubric
from rubric_order.extras.gate import limits
from rubric_order.library import estimates
from rubric_order.run.core import Run
from rubric_order.run.pages import Pages, statistic_facts
from rubric_order.run.results import Derived, Shown, labels_of
from rubric_order.settings.config import Config

SIMULATED = {"engine": "simulated", "model": "m", "simulation": {"preference": "first"}, "answer_format": "score"}
LIBRARY = (ROOT / "workflow/scripts/rubric_order/cards/references.bib").read_text(encoding="utf-8")
SHOWN = {"tables": {"human_agreement": {}}, "figures": {"human_scores": {}, "budget_curve": {}}}


def loaded(*datasets):
    """A run whose datasets have the given kinds of label."""
    blocks = {
        f"d_{place}": {"adapter": "simulated", "label": f"Set {place}"} | ({} if kind is None else {"gold": kind})
        for place, kind in enumerate(datasets)
    }
    study = {"datasets": list(blocks), "judges": ["a"], "scales": [5], "strategies": ["balanced", "single"]}
    config = {"datasets": blocks, "judges": {"a": SIMULATED}, "studies": {"position_bias": study}} | SHOWN
    return Run.load(config, ROOT, refuse=InputError)


def texts(run):
    """All that a run says of its tables and figures."""
    return [
        text
        for kind in SHOWN
        for listed in Shown(run, kind).listed("{}")
        for text in (listed["title"], listed["caption"])
    ]


def test_captions_and_titles_of_people_s_scores_are_as_they_were():
    run = loaded(None, "human")
    captions = {entry["title"]: entry["caption"] for entry in Shown(run, "tables").listed("{}")}
    caption = captions["Agreement with human scores"]
    assert caption.startswith("Agreement of each item's mean score with its human score: Pearson's r")
    assert not any("ntended level" in text for text in texts(run) if "levels that texts were written for" not in text)
    assert Derived(run).golds({}) == {}
    assert "gold" not in labels_of(run)


def test_captions_and_titles_of_what_nobody_rated_say_intended_level():
    run = loaded("intended")
    titles = [entry["title"] for kind in SHOWN for entry in Shown(run, kind).listed("{}")]
    assert titles == ["Agreement with intended levels", "Intended levels, figure", "Number of reads, figure"]
    assert not any("human" in text.lower() for text in texts(run))
    assert Derived(run).golds({}) == {"d_0": "intended"}
    (caption,) = [entry["caption"] for entry in Shown(run, "tables").listed("{}")]
    assert caption.endswith("Nobody rated Set 0: the intended level of a text is the level that it was written for.")
    labels = Labels(**labels_of(run))
    assert labels.gold_scores == "intended levels"
    assert list(replace_ids(pd.DataFrame(columns=["judge", "r with people"]), labels)) == [
        "judge",
        "r with intended levels",
    ]


def test_captions_of_both_kinds_say_which_dataset_nobody_rated():
    run = loaded("human", "intended")
    (caption,) = [entry["caption"] for entry in Shown(run, "tables").listed("{}")]
    assert "with its human score" in caption
    assert caption.endswith(
        "Nobody rated Set 1: the level that each text was written for (intended level) stands for a human score."
    )
    assert Labels(**labels_of(run)).gold_scores == "human scores"


def test_every_caption_of_ours_can_be_said_of_intended_levels():
    """A text that still speaks of people is followed by the sentence that says who is meant."""
    for kind in ("tables", "figures"):
        for name in registry.names(kind):
            caption = registry.caption(kind, name)
            worded = gold.worded(caption, gold.INTENDED)
            assert "human score" not in worded.lower(), name
            if "people" in caption:
                assert gold.note(caption, {"Demo": gold.INTENDED}, gold.INTENDED), name


def test_another_kind_of_label_is_refused_in_one_line():
    block = {"adapter": "simulated", "gold": "silver"}
    with pytest.raises(InputError, match=r"datasets/d/gold: 'silver' is not one of 'human', 'intended'"):
        Config.read({"datasets": {"d": block}, "judges": {}, "studies": {}})


def test_agreement_and_data_cards_keep_the_kind_of_label():
    reads = simulated_reads(groups=6, candidates=2, reads=1)
    known = reads["dataset"].iloc[0]
    made = human_agreement.estimate(reads, confidence=0.95, golds={known: "intended"})
    assert set(made["gold"]) == {"intended"}
    plain = human_agreement.estimate(reads, confidence=0.95)
    assert set(plain["gold"]) == {"human"}
    pd.testing.assert_frame_equal(made.drop(columns="gold"), plain.drop(columns="gold"))


@pytest.mark.parametrize(("kind", "by"), [("intended", "intended levels"), ("human", "1 rater")])
def test_the_table_of_datasets_says_who_scored(kind, by):
    rubric = Rubric("r", "quality", "Is it good?", ("bad", "good"))
    items = [Item("w", f"i{k}", f"g{k}", "c", "Do it.", "Done.", rubric, human_scores=[k]) for k in (1, 2)]
    tables = prepare("d", items)
    golds = {} if kind == "human" else {"d": kind}
    made = data_cards.estimate(tables.items, tables.pairs, resamples=20, confidence=0.95, seed=1, golds=golds)
    assert set(made["source"]) == {kind}
    printed = datasets_table.TABLE.printout(datasets_table.TABLE.table(made))
    assert printed["scored by"].tolist() == [by]


@pytest.fixture(scope="module", params=["human", "intended"])
def made(request):
    reads = simulated_reads(groups=30, candidates=2, reads=2)
    found = dict(estimates.card_statistics(reads))
    rows = {"criterion": "all", "readout": "hard", "cluster": "group", "n_items": 30, "quantity": "pearson"}
    rows |= {"estimate": 0.75, "ci_low": 0.65, "ci_high": 0.85, "gold": request.param}
    found["human_agreement"] = pd.DataFrame([{name: reads[name].iloc[0] for name in KEYS} | rows])
    one = next(each for each in card.cards(found) if each.evidence.agreement)
    return request.param, one


def test_a_card_says_whom_the_judge_agrees_with(made):
    kind, one = made
    facts = dict(card.facts(one.evidence))
    fact = {"human": "Agreement of the mean of all reads"}
    fact["intended"] = "Agreement with intended levels (r), mean of all reads"
    assert facts[fact[kind]] == "0.75 [0.65, 0.85]"
    assert ("Highest r that the raters allow" in facts) == (kind == "human")
    assert ("people" in terms.term(fact[kind])) == (kind == "human")
    assert one.to_dict()["agreement"].get("gold", "human") == kind
    cell = {cell.label: cell.text for cell in row.cells(one.to_dict())}["r with people"]
    assert cell == "0.75 [0.65, 0.85]" + ("" if kind == "human" else ", of intended levels")
    (found,) = limits.check([one.to_dict()], limits.Limits(agreement=0.5))
    expected = "people" if kind == "human" else "intended levels"
    assert found.limit == f"agreement with {expected} (r) at least 0.5"


def test_the_methods_say_that_nobody_rated():
    config = yaml.safe_load((ROOT / "config/datasets/demo.yaml").read_text("utf-8"))["datasets"]["demo"]
    run = {
        "judges": {},
        "datasets": {"demo": {"label": config["label"], "citation": "", "limit": None, "gold": config["gold"]}},
        "studies": {},
        "statistics": {"bootstrap": {"resamples": 1000, "confidence": 0.95, "seed": 1}},
        "described": {"human_agreement": statistic_facts("human_agreement")},
    }
    about = {"counts": {"s": {"demo": methods.Counts(80, 20, 880, 0)}}, "versions": {}, "library": LIBRARY}
    said, _ = methods.text(run, **about, statistics=["human_agreement"], software={"rubric-order": "1"})
    assert "Nobody rated it: its texts were written for levels, the intended levels." in said
    assert "Agreement with intended levels was measured" in said
    assert "human" not in said


def test_pages_of_single_reads_know_the_name_of_the_labels():
    class Wildcards:
        study, dataset, judge = "position_bias", "d_0", "a"

    names = {"study": "position_bias", "dataset": "d_0", "judge": "a"}
    for kind, expected in (("intended", names | {"gold": "intended level"}), ("human", names)):
        run = loaded(kind)
        kept = []
        object.__setattr__(run, "settings_file", lambda value, kept=kept: kept.append(value) or "path")
        Pages(run).reads_about(Wildcards())
        assert kept == [json.loads(json.dumps(expected))]
