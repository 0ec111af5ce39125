import numpy as np
import pytest

from rubric_order import datasets
from rubric_order.base.errors import InputError
from rubric_order.simulation import judge


def prepare(name="sim", limit=None, **options):
    return datasets.prepare(name, datasets.read("simulated", {}, options, dataset=name), limit=limit)


def test_every_candidate_responds_in_every_group_under_every_criterion():
    tables = prepare(n_groups=3, n_candidates=2, criteria=["plot", "style"], levels=5)
    assert len(tables.items) == 12
    assert tables.items["item_id"][1] == "g0001-c01-style"
    assert tables.items.groupby("group_id").size().tolist() == [4, 4, 4]
    assert tables.rubrics["criterion"].tolist() == ["plot", "style"]
    assert {len(levels) for levels in tables.rubrics["levels"]} == {5}
    assert {len(scores) for scores in tables.items["human_scores"]} == {3}


def test_human_scores_follow_the_quality_that_the_judge_knows():
    items = prepare(n_groups=300, n_candidates=2, raters=5, rater_noise=0.5).items
    quality = judge.latent_quality("sim", items["item_id"])
    assert np.corrcoef(quality, items["human_score"])[0, 1] > 0.9
    assert abs(np.corrcoef(judge.latent_quality("other", items["item_id"]), items["human_score"])[0, 1]) < 0.15


def test_datasets_differ_in_their_items_and_equal_options_give_equal_items():
    assert prepare(n_groups=4).items.equals(prepare(n_groups=4).items)
    first, second = prepare("one").items, prepare("two").items
    assert first["item_id"].equals(second["item_id"])
    assert not first["human_score"].equals(second["human_score"])
    assert not set(first["instruction"]) & set(second["instruction"])


def test_the_first_groups_are_the_same_in_a_smaller_dataset():
    assert prepare(n_groups=2).items.equals(prepare(n_groups=5, limit=2).items)


def test_without_raters_there_are_no_human_scores():
    assert prepare(raters=0).items["human_score"].isna().all()


def test_an_option_that_it_does_not_know_is_one_line():
    with pytest.raises(InputError, match="adapter 'simulated': got an unexpected keyword argument 'groups'"):
        prepare(groups=3)
