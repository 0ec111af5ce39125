"""Labels in place of ids, and the order of config."""

import pandas as pd
import pytest

from rubric_order.base.labels import Labels, every_profile, order_by_labels, replace_ids
from rubric_order.figures import style

LABELS = Labels({"zoe": "Zoe-7B", "abe": "Abe_2"}, {"tides": "Tides", "moon": "Moon"})


def test_judges_and_datasets_stand_in_the_order_of_config_and_all_of_them_last():
    rows = [
        ("s", judge, "default", data, n)
        for judge in ("abe", "zoe")
        for data in ("all", "moon", "tides")
        for n in (3, 5)
    ]
    table = pd.DataFrame(rows, columns=["study", "judge", "profile", "dataset", "n"])
    found = order_by_labels(table, LABELS)
    assert found["judge"].tolist() == ["zoe"] * 6 + ["abe"] * 6
    assert found["dataset"].tolist() == ["tides", "tides", "moon", "moon", "all", "all"] * 2
    assert found["n"].tolist() == [3, 5] * 6
    assert found.index.tolist() == list(range(12))


def test_rows_of_one_judge_and_dataset_keep_their_order_and_studies_and_profiles_theirs():
    rows = [("s", "abe", "default", 2), ("s", "abe", "warm", 1), ("s", "zoe", "default", 4), ("s", "zoe", "default", 3)]
    rows += [("t", "zoe", "default", 5)]
    table = pd.DataFrame(rows, columns=["study", "judge", "profile", "value"])
    assert order_by_labels(table, LABELS)["value"].tolist() == [4, 3, 2, 1, 5]


def test_keys_before_the_dataset_count_before_it():
    rows = [("abe", 3, "moon"), ("abe", 3, "tides"), ("abe", 5, "moon"), ("zoe", 3, "moon"), ("zoe", 3, "mean")]
    found = order_by_labels(pd.DataFrame(rows, columns=["judge", "n", "dataset"]), LABELS)
    assert found.to_numpy().tolist() == [list(rows[place]) for place in (3, 4, 1, 0, 2)]


def test_estimates_of_no_judge_are_kept():
    table = pd.DataFrame({"study": [None, "s"], "judge": [None, "abe"], "value": [1, 2]})
    assert sorted(order_by_labels(table, LABELS)["value"]) == [1, 2]


def test_published_numbers_keep_the_order_of_the_paper():
    table = pd.DataFrame({"judge": ["abe", "zoe"], "dataset": ["moon", "tides"], "published": [0.1, 0.2]})
    pd.testing.assert_frame_equal(order_by_labels(table, LABELS), table)


def test_a_printed_table_has_labels_and_other_columns_and_unknown_ids_as_they_are():
    printed = pd.DataFrame(
        {
            "Judge": ["zoe", "all"],
            "our judge": ["abe/warm", ""],
            "golden": ["human", "zoe/warm"],
            "dataset": ["tides moon", "stars"],
            "criterion": ["zoe", "abe"],
        }
    )
    found = replace_ids(printed, LABELS)
    assert found["Judge"].tolist() == ["Zoe-7B", "all"]
    assert found["our judge"].tolist() == ["Abe_2/warm", ""]
    assert found["golden"].tolist() == ["human", "Zoe-7B/warm"]
    assert found["dataset"].tolist() == ["Tides, Moon", "stars"]
    assert found["criterion"].tolist() == ["zoe", "abe"]
    assert printed["Judge"].tolist() == ["zoe", "all"]


def test_what_a_row_compares_says_whether_its_sides_are_judges_or_datasets():
    rows = [("judge", "zoe", "abe"), ("dataset", "moon", "tides"), ("profile", "zoe", "moon"), ("n", "5", "3")]
    found = replace_ids(pd.DataFrame(rows, columns=["compared", "one", "other"]), LABELS)
    assert found["one"].tolist() == ["Zoe-7B", "Moon", "zoe", "5"]
    assert found["other"].tolist() == ["Abe_2", "Tides", "moon", "3"]
    alone = pd.DataFrame({"other": ["zoe"]})  # a condition or a strategy, where nothing says what it is
    assert replace_ids(alone, LABELS)["other"].tolist() == ["zoe"]


def test_heads_that_begin_with_a_dataset_have_its_label_and_that_of_a_judge_whose_scores_are_golden():
    heads = ["moon, zoe/warm: r", "tides, human: ρ", "moon, PC", "cost, canonical", "moon"]
    found = replace_ids(pd.DataFrame(columns=heads), LABELS)
    assert found.columns.tolist() == ["Moon, Zoe-7B/warm: r", "Tides, human: ρ", "Moon, PC", "cost, canonical", "moon"]


def test_a_judge_that_is_not_known_has_the_place_after_all_others():
    assert [LABELS.place_of_judge(name) for name in ("zoe", "abe", "eve")] == [0, 1, 2]
    assert [LABELS.place_of_dataset(name) for name in ("moon", "stars")] == [1, 2]


@pytest.mark.parametrize("several", [7, 14, 40])
def test_things_are_told_apart_also_where_there_are_many(several):
    looks = [(style.look(place)["color"], style.look(place)["marker"]) for place in range(several)]
    assert len(set(looks)) == several
    assert len({style.colour(place) for place in range(14)}) == 14


def test_every_profile_is_a_judge_of_its_own_after_the_judge_whose_it_is():
    rows = [
        ("abe", "default", "s", 1),
        ("zoe", "default", "zoe", 2),
        ("zoe", "warm", "zoe", 3),
        ("abe", "warm", "s", 4),
    ]
    table = pd.DataFrame(rows, columns=["judge", "profile", "other", "value"])
    found, labels = every_profile({"one": table, "two": table[["value"]]}, LABELS)
    ordered = order_by_labels(found["one"], labels)
    assert ordered["judge"].tolist() == ["zoe", "zoe/warm", "abe", "abe/warm"]
    assert ordered["value"].tolist() == [2, 3, 1, 4]
    assert set(ordered["profile"]) == {"all"}
    assert ordered["other"].tolist() == ["zoe", "zoe/warm", "s", "s"]
    assert [labels.judge(name) for name in ordered["judge"]] == ["Zoe-7B", "Zoe-7B, warm", "Abe_2", "Abe_2, warm"]
    assert len({labels.place_of_judge(name) for name in ordered["judge"]}) == 4
    assert replace_ids(ordered, labels)["judge"].tolist()[1] == "Zoe-7B, warm"
    assert found["two"].equals(table[["value"]])
