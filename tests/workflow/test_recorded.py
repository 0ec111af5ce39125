"""A folder of answers that exist already, from files to tables."""

import json

import pandas as pd
import pytest
import yaml

from rubric_order.prompts.orderings import balanced

from .conftest import Project


@pytest.mark.slow
def test_recorded_answers_go_through_the_same_parsing_and_statistics(fresh: Project):
    items = fresh.file("items.csv")
    levels = ",".join(f"Description of level {level}" for level in range(1, 6))
    rows = [f'item_{k},Say hello.,"Hello, {k}.",Is it a greeting?,{levels},{k}' for k in range(1, 5)]
    header = "item_id,instruction,response,question,level_1,level_2,level_3,level_4,level_5,human_score"
    items.write_text("\n".join([header, *rows]) + "\n")
    folder = fresh.file("answers")
    folder.mkdir()
    answers = [{"judge": "Old Judge", "item_id": f"item_{k}", "response": f"Fine. [RESULT] {k}"} for k in range(1, 4)]
    # Of another judge the orderings are known, and it selects the first line of each.
    for index, ordering in enumerate(balanced(5)):
        response = f"[RESULT] {ordering[0]}"
        answers += [
            {"judge": "First", "item_id": f"item_{k}", "ordering_index": index, "response": response}
            for k in range(1, 5)
        ]
    answers.append({"judge": "Old Judge", "item_id": "item_4", "response": "Either 3.5 or nothing"})
    (folder / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    config = {
        "recorded_dir": "answers",
        "datasets": {"mine": {"adapter": "custom", "files": {"items": {"path": "items.csv"}}}},
        "studies": {"position_bias": {"datasets": ["mine"], "judges": [], "strategies": ["recorded"]}},
        "figures": {
            name: {"strategy": "recorded"} for name in ("position_selection", "score_effects", "position_preference")
        },
        "tables": {"position_selection": {"strategy": "recorded"}},
        "statistics": {"bootstrap": {"resamples": 100}},
    }
    run = fresh.snakemake(config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    agreement = pd.read_csv(fresh.file("results/tables/human_agreement.csv"))
    assert set(agreement["judge"]) == {"first", "old_judge"}
    agreement = agreement[agreement["judge"] == "old_judge"]
    assert agreement[["judge", "dataset", "criterion", "strategy", "readout"]].values.tolist() == [
        ["old_judge", "mine", "all", "recorded", "hard"]
    ]
    assert agreement["n_items"].item() == 3
    assert agreement["n_failed"].item() == 1
    assert agreement["pearson"].item() == 1
    failures = pd.read_csv(fresh.file("results/tables/parse_failures.csv"))
    assert failures.query("reason == 'all' and judge == 'old_judge'")["n_failed"].tolist() == [1]
    positions = pd.read_csv(fresh.file("results/tables/position_selection.csv"))
    assert positions["judge"].tolist() == ["first"]  # where no ordering is known there is no position
    assert positions["cramers_v"].item() == pytest.approx(1)
    assert not fresh.file("results/store").exists()  # no model was asked


@pytest.mark.slow
def test_comparisons_of_any_benchmark_go_from_a_file_to_a_table(fresh: Project, root):
    """The example's config, with labels of the user's own: a judge that takes the first answer, and ties on others."""
    records = []
    for k in range(40):
        for first, second in (("model-x", "model-y"), ("model-y", "model-x")):
            record = {"benchmark": "MyBench", "question_id": f"q{k}", "answer_a": first, "answer_b": second}
            answer = {"response": "Both are sound. I cannot say."} if k == 39 else {"response": "0" if k < 9 else "1"}
            records.append(record | ({"winner": "1"} if k == 20 else answer))
    fresh.file("comparisons.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    config = yaml.safe_load((root / "config/examples/recorded_comparisons.yaml").read_text(encoding="utf-8"))
    wanted = ["results/tables/pairwise_position_bias.csv", "results/tables/parse_failures.csv"]
    run = fresh.snakemake(*wanted, *fresh.own(config))
    assert run.returncode == 0, run.stdout + run.stderr
    table = pd.read_csv(fresh.file("results/tables/pairwise_position_bias.csv"))
    assert set(table["judge"]) == {"My judge"}
    assert set(table["benchmark"]) == {"MyBench"}
    scores = pd.read_parquet(fresh.file("results/scores/my_comparisons/my_bench/my_judge.parquet"))
    chosen = scores["position"].astype("Int8")
    assert (chosen == 0).sum() == 18
    assert (chosen == 1).sum() == 60
    assert chosen.isna().sum() == 2  # nothing is guessed
    failures = pd.read_csv(fresh.file("results/tables/parse_failures.csv"))
    assert failures.query("reason == 'all' and option == 'all' and position == 'all'")["n_failed"].tolist() == [2]
    assert not fresh.file("results/store").exists()
