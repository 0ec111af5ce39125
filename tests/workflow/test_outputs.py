"""Files that a run leaves behind."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from rubric_order.base import parquet
from rubric_order.judging.store import Store

from .conftest import SMALL, Project

RESPONSES = "results/responses/smollm2_135m/1.parquet"
SCORES = "results/scores/position_bias/demo/smollm2_135m.parquet"


def test_every_read_is_answered_and_every_answer_is_kept_raw(judged: Project):
    scores = pd.read_parquet(judged.file(SCORES))
    responses = pd.read_parquet(judged.file(RESPONSES))
    assert scores.groupby("strategy").size().to_dict() == {"balanced": 40}
    assert set(scores["request_id"]) == set(responses["request_id"])
    assert responses["request_id"].is_unique
    assert responses["text"].notna().all()
    assert (scores["score"].notna() ^ scores["failure"].notna()).all()


def test_log_probabilities_of_all_options_are_stored(judged: Project):
    responses = pd.read_parquet(judged.file(RESPONSES))
    logprobs = np.array(responses["option_logprobs"].tolist())
    assert logprobs.shape == (len(responses), 5)
    mass = np.exp(logprobs).sum(axis=1)
    assert ((mass > 0) & (mass <= 1 + 1e-6)).all()
    scores = pd.read_parquet(judged.file(SCORES))
    assert scores["expected_score"].between(1, 5).all()
    assert np.allclose(np.stack(scores["position_probabilities"].to_list()).sum(axis=1), 1)


def test_selected_position_is_where_the_score_stands_in_the_prompt(judged: Project):
    scored = pd.read_parquet(judged.file(SCORES)).dropna(subset="score")
    requests = pd.read_parquet(judged.file("results/requests/position_bias/smollm2_135m.parquet"))
    prompt_of = requests.set_index("request_id")["prompt"]
    for read in scored.itertuples():
        rubric = prompt_of[read.request_id].rpartition("###Score Rubrics:")[2].strip().split("\n")
        assert rubric[int(read.position)].startswith(f"Score {int(read.score)}: ")


def test_reads_of_one_item_share_most_of_their_prompt_tokens(judged: Project):
    # How an answer was got is kept in the store alone.
    answers = Store(judged.file("results/store/smollm2_135m"))
    kept = answers.read(pd.read_parquet(judged.file(RESPONSES))["request_id"])
    assert kept["cached_tokens"].sum() > 0.5 * kept["prompt_tokens"].sum()


def test_responses_say_what_gave_them(judged: Project):
    assert parquet.read_metadata(judged.file(RESPONSES))["judge"]["model"] == "SmolLM2-135M-Instruct"
    engine = json.loads(pd.read_parquet(judged.file(RESPONSES))["engine"].drop_duplicates().item())
    assert engine["engine"] == "vllm"
    assert engine["engine_version"]
    assert engine["engine_args"]["dtype"] == "float32"


def test_tables_are_written_in_all_formats(finished: Project):
    for table in ("position_selection", "human_agreement", "parse_failures"):
        for ending in ("csv", "md", "tex", "html"):
            assert finished.file(f"results/tables/{table}.{ending}").stat().st_size > 0
    agreement = pd.read_csv(finished.file("results/tables/human_agreement.csv"))
    assert list(agreement["strategy"].unique()) == ["balanced", "fixed", "random"]
    assert set(agreement["readout"]) == {"hard", "soft"}
    selection = pd.read_csv(finished.file("results/tables/position_selection.csv"))
    shares = selection[[f"pos{position}" for position in range(1, 6)]]
    assert np.allclose(shares.sum(axis=1), 1)


@pytest.mark.slow
def test_figures_have_the_same_bytes_each_time(project: Project):
    figures = [project.file(f"results/figures/position_selection.{ending}") for ending in ("svg", "png", "pdf")]
    before = [hashlib.sha256(figure.read_bytes()).hexdigest() for figure in figures]
    # Started alone, the job has another seed of hashes, and imports for itself what it needs.
    run = project.snakemake("--force", "results/figures/position_selection.svg", config=SMALL, fork=False)
    assert run.returncode == 0, run.stderr
    assert [hashlib.sha256(figure.read_bytes()).hexdigest() for figure in figures] == before


def test_statistics_carry_method_and_counts_and_those_that_draw_their_seed(finished: Project):
    for name, draws in (("position_selection", True), ("human_agreement", False)):
        table = pq.read_table(finished.file(f"results/statistics/{name}.parquet")).to_pandas()
        assert {"method", "confidence", "n_items", "n_reads", "n_failed"} <= set(table.columns)
        if draws:
            assert table["seed"].notna().all()


@pytest.mark.slow
def test_a_run_with_a_folder_of_its_own_leaves_the_results_of_others_and_asks_nothing_twice(project: Project):
    def contents(folder: str) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in project.file(folder).rglob("*") if path.is_file()}

    kept = {name: contents(f"results/{name}") for name in ("tables", "statistics", "scores", "responses", "store")}
    other = SMALL | {"output": "results/other", "statistics": {"bootstrap": {"resamples": 150}}}
    table = "results/other/tables/position_selection.csv"
    run = project.snakemake(table, config=other)
    assert run.returncode == 0, run.stdout + run.stderr
    assert {name: contents(f"results/{name}") for name in kept} == kept
    assert project.file(table).read_bytes() != project.file("results/tables/position_selection.csv").read_bytes()
    assert not {"store", "data", "models"} & {path.name for path in project.file("results/other").iterdir()}
    shown = project.snakemake("show_cards", "--quiet", "all", config=SMALL)
    assert shown.returncode == 0, shown.stderr
    (card, *_) = json.loads(project.file("results/summary.json").read_text())["cards"]
    name, finding, advice, *_ = shown.stdout.splitlines()
    assert name == "planted, demo, position_bias, balanced, 5 levels"
    assert (finding.strip(), advice.strip()) == (card["headline"], card["advice"])
    assert shown.stdout.splitlines()[-1] == "All cards, figures and tables: results/summary.html"


def test_report_shows_figure_and_tables_with_captions(project: Project):
    made = project.snakemake("results/summary.json", config=SMALL)
    assert made.returncode == 0, made.stderr
    run = project.snakemake("--report=report.html", config=SMALL)
    assert run.returncode == 0, run.stderr
    page = project.file("report.html").read_text()
    assert json.loads(project.file("results/summary.json").read_text())["cards"][0]["headline"] in page
    for text in (
        "Position selection",
        "Agreement with intended levels",
        "Parse failures",
        "bootstrap intervals over groups",
    ):
        assert text in page
