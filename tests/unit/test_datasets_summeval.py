import collections
import copy
import json
import re
import statistics

import pytest
import yaml

from rubric_order import datasets
from rubric_order.base.errors import InputError
from rubric_order.extras.papers.datasets import summeval

CRITERIA = ["coherence", "consistency", "fluency", "relevance"]


def record(system, article, **changes):
    """Line of a system's file; the scores differ between articles, systems, experts and criteria."""
    place = summeval.SYSTEMS.index(system)
    scores = [
        {criterion: (article + place + expert * c) % 5 + 1 for c, criterion in enumerate(CRITERIA, start=1)}
        for expert in range(3)
    ]
    values = {
        "id": f"dm-{article}",
        "model_id": system.upper(),
        "text": f"Article {article} with {{braces}} and {{0}}",
        "decoded": f"summary of {article} by {system} .",
        "expert_annotations": scores,
    }
    return {**values, **changes}


@pytest.fixture(scope="module")
def lines():
    return {system: [record(system, article) for article in range(100)] for system in summeval.SYSTEMS}


@pytest.fixture
def write(tmp_path, root, lines):
    """Write the files, with some lines of systems replaced."""

    def write(**replaced):
        paths = {"rubrics": root / "resources/rubrics/summeval.yaml"}
        for system, records in (lines | replaced).items():
            paths[system] = tmp_path / f"{system}.jsonl"
            text = "".join(entry if isinstance(entry, str) else json.dumps(entry) + "\n" for entry in records)
            paths[system].write_text(text, encoding="utf-8")
        return paths

    return write


def prepare(files, limit=None, **options):
    return datasets.prepare("summeval", datasets.read("summeval", files, options), limit=limit)


def error(files, **options):
    with pytest.raises(InputError) as caught:
        prepare(files, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return str(caught.value)


def test_summeval_is_each_summary_of_four_systems_under_each_criterion_with_the_scores_of_three_experts(write):
    items, rubrics, pairs = vars(prepare(write())).values()
    assert len(items) == 1600
    assert sorted(items["candidate"].unique()) == sorted(summeval.DEFAULT_SYSTEMS)
    assert rubrics["rubric_id"].tolist() == [f"summeval_{criterion}" for criterion in CRITERIA]
    assert rubrics["levels"].map(len).unique().tolist() == [9]
    assert pairs.empty
    row = items.set_index("item_id").loc["042-m13-fluency"]
    assert row[["group_id", "candidate", "criterion"]].tolist() == ["dm-42", "m13", "fluency"]
    assert row["instruction"].endswith("\n\nArticle 42 with {braces} and {0}")
    assert row["response"] == "summary of 42 by m13 ."
    assert row["human_scores"] == [(42 + 5 + expert * 3) % 5 + 1 for expert in range(3)]
    assert row["reference"] is None


def test_items_are_ordered_by_article_then_system_then_criterion_in_whatever_order_config_names_files(write):
    files = write()
    expected = prepare(files).items["item_id"].tolist()
    assert expected[:5] == [*(f"000-m8-{criterion}" for criterion in CRITERIA), "000-m13-coherence"]
    assert expected[16] == "001-m8-coherence"
    assert prepare(dict(reversed(files.items()))).items["item_id"].tolist() == expected


def test_all_systems_are_twelve_and_a_list_gives_those_that_it_names(write):
    files = write()
    assert len(prepare(files, systems="all").items) == 4800
    assert prepare(files, systems=["m22", "m9"], limit=1).items["candidate"].tolist() == ["m9"] * 4 + ["m22"] * 4


def test_the_task_can_be_in_another_language(write):
    item = prepare(write(), limit=1, task="Fasse die Meldung zusammen.\n\n{}").items["instruction"].iloc[0]
    article = prepare(write(), limit=1).items["instruction"].iloc[0].split("\n\n", 1)[1]
    assert item == f"Fasse die Meldung zusammen.\n\n{article}"
    for task in ("no place", "{} and {}", 3):
        assert "adapter 'summeval': option 'task': expected a text with one {}" in error(write(), task=task)


def test_systems_that_hold_the_articles_in_another_order_give_the_same_items(write, lines):
    expected = prepare(write(), systems="all").items
    items = prepare(write(m13=lines["m13"][::-1]), systems="all").items
    assert items.equals(expected)


def test_pairs_are_each_two_systems_of_an_article_under_each_criterion(write):
    tables = prepare(write(), systems=["m8", "m9", "m10"], pairs=True, limit=2)
    assert len(tables.pairs) == 2 * 3 * 4
    first = tables.pairs.iloc[0]
    assert first[["pair_id", "group_id", "criterion"]].tolist() == ["000-m8-m9-coherence", "dm-0", "coherence"]
    assert first[["item_a", "item_b"]].tolist() == ["000-m8-coherence", "000-m9-coherence"]


@pytest.mark.parametrize(
    ("scores", "other", "expected"),
    [
        ([3, 4, 5], [4, 4, 3], "a"),
        ([1, 1, 5], [3, 3, 2], "b"),
        ([1, 4, 5], [4, 3, 3], "tie"),
        ([2] * 3, [2] * 3, "tie"),
    ],
)
def test_the_preferred_summary_is_the_one_with_the_higher_mean_expert_score(write, lines, scores, other, expected):
    changed = {system: [copy.deepcopy(lines[system][0]), *lines[system][1:]] for system in ("m8", "m23")}
    for system, values in (("m8", scores), ("m23", other)):
        for expert, value in zip(changed[system][0]["expert_annotations"], values, strict=True):
            expert["fluency"] = value
    pairs = prepare(write(**changed), pairs=True, limit=1).pairs.set_index("pair_id")
    assert pairs.loc["000-m8-m23-fluency", "preference"] == expected


def test_a_line_that_is_not_an_object_is_an_error(write, lines):
    files = write(m9=["[1, 2]\n", *lines["m9"][1:]])
    assert error(files) == f"{files['m9']}: line 1: expected a mapping, found [1, 2]"
    files = write(m9=['{"id": \n', *lines["m9"][1:]])
    assert error(files).startswith(f"{files['m9']}: line 1, column 8: malformed JSON")


@pytest.mark.parametrize("n", [0, 1, 99])
def test_a_file_that_is_cut_short_is_an_error_also_where_the_system_is_not_chosen(write, lines, n):
    files = write(m22=lines["m22"][:n])
    assert error(files) == f"{files['m22']}: expected 100 articles, found {n}"


def test_a_file_of_a_system_that_config_does_not_name_is_an_error(write):
    files = write()
    del files["m9"]
    assert "config does not name 'm9'" in error(files)


def test_a_file_that_is_no_system_is_an_error(write):
    files = write()
    assert error(files | {"m16": files["m15"]}).startswith("adapter 'summeval': file 'm16' is no system; expected m8, ")


def test_a_criterion_without_a_rubric_is_an_error(write, tmp_path):
    files = write()
    entries = yaml.safe_load(files["rubrics"].read_text(encoding="utf-8"))
    files["rubrics"] = tmp_path / "rubrics.yaml"
    files["rubrics"].write_text(yaml.safe_dump(entries[:3]))
    assert error(files).startswith(f"{files['rubrics']}: no rubric for criterion 'relevance'; found coherence, ")


def test_the_config_names_the_rubrics_and_a_pinned_file_of_each_system(root):
    block = yaml.safe_load((root / "config/datasets/summeval.yaml").read_text(encoding="utf-8"))["datasets"]["summeval"]
    assert block["adapter"] == "summeval"
    assert list(block["files"]) == list(summeval.SummEval.files)
    for system in summeval.SYSTEMS:
        source = block["files"][system]
        name = f"{system.upper()}_outputs_annotations.jsonl"
        assert source["mirror"] == f"summeval/{name}"
        assert re.search(rf"/[0-9a-f]{{40}}/model_output_annotations/{name}$", source["url"])


# --- the dataset as published


@pytest.fixture
def published(mirror, root):
    files = {system: mirror / f"summeval/{system.upper()}_outputs_annotations.jsonl" for system in summeval.SYSTEMS}
    return files | {"rubrics": root / "resources/rubrics/summeval.yaml"}


@pytest.fixture
def annotated(published):
    """The published lines by system."""
    return {
        system: [json.loads(line) for line in published[system].read_text(encoding="utf-8").splitlines()]
        for system in summeval.SYSTEMS
    }


@pytest.mark.parametrize(("systems", "n_items", "n_pairs"), [(None, 1600, 2400), ("all", 4800, 26400)])
def test_the_published_summeval_has_100_articles_under_four_criteria(published, systems, n_items, n_pairs):
    tables = prepare(published, systems=systems, pairs=True)
    assert (len(tables.items), len(tables.rubrics), len(tables.pairs)) == (n_items, 4, n_pairs)
    assert tables.items["group_id"].nunique() == 100
    assert tables.items["human_scores"].map(len).unique().tolist() == [3]


def test_the_published_mean_expert_scores_of_all_1200_summaries_are_those_of_the_items(published, annotated):
    expected = {
        (line["id"], system, criterion): statistics.mean(expert[criterion] for expert in line["expert_annotations"])
        for system, lines in annotated.items()
        for line in lines
        for criterion in CRITERIA
    }
    items = prepare(published, systems="all").items
    found = items.set_index(["group_id", "candidate", "criterion"])["human_score"].to_dict()
    assert len(found) == 4800
    assert found == pytest.approx(expected)


def test_each_published_response_is_the_systems_summary_of_the_article_in_the_instruction(published, annotated):
    texts = {(system, line["id"]): line for system, lines in annotated.items() for line in lines}
    for row in prepare(published, systems="all").items.itertuples():
        line = texts[row.candidate, row.group_id]
        assert row.response == datasets.clean(line["decoded"], "here")
        assert row.instruction.endswith("\n\n" + datasets.clean(line["text"], "here"))


def test_the_default_systems_are_the_middle_ones_of_each_three_neighbours_in_the_published_ranking(annotated):
    totals = collections.Counter()
    for system, lines in annotated.items():
        totals[system] = sum(sum(expert.values()) for line in lines for expert in line["expert_annotations"])
    ranking = [system for system, _ in totals.most_common()]
    assert len(set(totals.values())) == 12
    assert tuple(ranking[1::3]) == summeval.DEFAULT_SYSTEMS
