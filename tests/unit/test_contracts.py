"""Contracts against the files of a small run of all stages; what breaks a contract is refused."""

import dataclasses
import json
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from factories import ROOT, changed, complete_judge

from rubric_order import catalogue, probes
from rubric_order.base import parquet
from rubric_order.base.errors import InputError
from rubric_order.contracts.__main__ import CONTRACTS, page
from rubric_order.contracts.contract import ContractError
from rubric_order.contracts.items import ITEMS
from rubric_order.contracts.reads import PLAN, REQUESTS
from rubric_order.contracts.responses import RESPONSES, RUN_COLUMNS, STORE
from rubric_order.contracts.scores import SCORES
from rubric_order.jobs.collect_requests import collect_requests
from rubric_order.jobs.estimate_statistic import estimate_statistic
from rubric_order.jobs.judge_shard import judge_shard
from rubric_order.jobs.parse_scores import parse_scores
from rubric_order.jobs.plan_reads import plan_reads
from rubric_order.jobs.prepare_items import prepare_items
from rubric_order.jobs.recorded import plan_recorded, read_recorded
from rubric_order.jobs.references import collect_references, plan_references
from rubric_order.judging.store import Store
from rubric_order.planning import references
from rubric_order.settings import judges

TEMPLATES = ROOT / "resources/templates"
OPTIONS = {"n_groups": 3, "n_candidates": 3, "criteria": ["wit", "plot"], "levels": 5, "turns": 2, "labels": 1}
OPTIONS |= {"references": True, "pairs": "all", "preferences": True, "categories": ["math", "humor"]}
JUDGE = complete_judge(engine="simulated", model="planted", sampling={"temperature": 1.0, "max_tokens": 8})
ROLES = {"writing": {"max_tokens": 100}, "reviewing": {"temperature": 0}}
COMPARISONS = {"pairs": "given", "sample": 4, "lists": 1, "seed": 0, "prompt": None}
STUDIES = {  # scale and strategies, by probe
    "score_order": (5, ["balanced", "random"]),
    "criterion_order": (5, ["balanced"]),
    "pair_order": (2, ["swap"]),
    "list_order": (3, ["cyclic"]),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Files of a small run, by the entry scripts of the rules."""
    folder = tmp_path_factory.mktemp("results")
    tables = {kind: folder / kind / "sim.parquet" for kind in ("items", "rubrics", "pairs")}
    prepare_items("sim", {}, {"adapter": "simulated", "options": OPTIONS, "limit": None}, **tables)
    _reference_answers(folder, tables)
    for probe, (n, strategies) in STUDIES.items():
        _study(folder, tables, probe, n, strategies)
    scores = [folder / "scores" / "score_order" / "sim" / "planted.parquet"]
    bootstrap = {"resamples": 20, "confidence": 0.95, "seed": 0}
    output = folder / "statistics" / "position_selection.parquet"
    module = catalogue.module("statistics", "position_selection")
    estimate_statistic(module, {"scores": scores}, bootstrap, output)
    _recorded(folder, tables)
    return folder


def _judge(requests, probe, store, output, judge):
    options = {"model_folder": None, "weights": None, "gpus": 0}
    judge_shard([requests], [probe], 1, 1, judge, store=store, output=output, **options)


def _study(folder, tables, probe, n, strategies):
    module = probes.load(probe)
    name = module.template(JUDGE)
    design = {"scales": [n], "strategies": strategies, "comparisons": COMPARISONS | {"prompt": name}}
    plan, requests, responses, scores = (
        folder / f"{kind}.parquet"
        for kind in (
            f"plan/{probe}/sim/planted",
            f"requests/{probe}/planted",
            f"responses/{probe}/1",
            f"scores/{probe}/sim/planted",
        )
    )
    template, comparisons = TEMPLATES / f"{name}.jinja", design["comparisons"]
    plan_reads(
        **tables,
        references=folder / "references/sim.parquet",
        template=template,
        study=probe,
        judge_id="planted",
        judge=JUDGE,
        weights=None,
        probe=probe,
        profiles=["default"],
        design=design,
        output=plan,
    )
    datasets = [[path] for path in tables.values()]
    collect_requests(
        [plan], *datasets, [folder / "references/sim.parquet"], [], template, probe, JUDGE, comparisons, requests
    )
    _judge(requests, probe, folder / "store/planted", responses, JUDGE)
    answers = folder / "answers.json"
    answers.write_text(json.dumps({"studies": {}}))
    parse_scores(plan, responses.parent, answers, [probe], 1, probe, {"answer_prefix": ""}, "code", scores)


def _reference_answers(folder, tables):
    judge = changed(JUDGE, answer_prefix="").block() | {"roles": ROLES}
    settings = {"n": 5, "judges": ["planted"], "levels": [1, 2], "sample": None, "seed": 0, "file": None}
    settings |= {"settings": {"planted": judge}, "shows_rejected": False, "instruction": "same"}
    templates = [TEMPLATES / f"{name}.jinja" for name in ("write_reference", "review_reference", "score")]
    inputs = {"items": tables["items"], "rubrics": tables["rubrics"], "templates": templates, "weights": []}
    responses = {}
    for step in references.steps(1):
        requests, answered = (folder / f"{kind}/made/{step}.parquet" for kind in ("requests", "responses"))
        plan_references(**inputs, responses=responses, settings=settings, step=step, output=requests)
        _judge(requests, references.PROBE, folder / "store/planted", answered, judges.read(judge))
        responses[step] = answered
    output = folder / "references/sim.parquet"
    collect_references(**inputs, responses=responses, settings=settings, own=None, output=output)


def _recorded(folder, tables):
    records = folder / "records.jsonl"
    items = pd.read_parquet(tables["items"])["item_id"]
    records.write_text(
        "".join(json.dumps({"item_id": name, "judge": "J", "response": "Score: 2"}) + "\n" for name in items)
    )
    judge = judges.read({"engine": "recorded", "model": "J", "files": [str(records)], "duplicates": "keep"})
    dataset, output = {"name": "sim", "adapter": "simulated"}, folder / "plan/recorded/sim/j.parquet"
    plan_recorded([tables["items"]], [records], dataset, "recorded", "j", judge, output)
    read_recorded([records], judge, folder / "responses/recorded/1.parquet")


FOLDERS = {contract.path.split("/")[1]: contract for contract in CONTRACTS}


@pytest.mark.parametrize("kind", FOLDERS)
def test_the_files_of_a_run_keep_their_contract(results, kind):
    contract, paths = FOLDERS[kind], sorted((results / kind).rglob("*.parquet"))
    assert paths
    for path in paths:
        table = contract.read(path)
        contract.check(path)
        pd.testing.assert_frame_equal(table, pd.read_parquet(path))
        assert parquet.read_metadata(path)["schema_version"] == contract.version
        written = pq.read_table(path)
        contract.write(written, results / "again" / path.name)
        assert pq.read_table(results / "again" / path.name).equals(written)


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_column_of_a_contract_has_values_in_some_file_or_may_be_missing(results, kind):
    tables = [pq.read_table(path) for path in (results / kind).rglob("*.parquet")]
    for column in FOLDERS[kind].columns:
        there = [table[column.name] for table in tables if column.name in table.column_names]
        assert column.optional or len(there) == len(tables)
        assert column.nullable or any(len(values) > values.null_count for values in there)


def test_what_follows_a_contract_that_is_open_comes_of_the_probe(results):
    for probe in STUDIES:
        columns = pq.read_schema(results / f"scores/{probe}/sim/planted.parquet").names
        assert {*SCORES.names, *probes.load(probe).COLUMNS} <= {*columns}
        planned = pq.read_schema(results / f"plan/{probe}/sim/planted.parquet").names
        assert planned[: len(PLAN.names)] == PLAN.names


def test_a_file_of_scores_says_how_many_tokens_its_answers_took(results):
    (part, *_) = parquet.read_metadata(results / "scores/score_order/sim/planted.parquet")["tokens"]
    assert part["n_requests"] > 0
    assert part["n_counted"] == 0  # a simulated judge reports none


def test_a_row_of_the_store_is_a_response_and_its_engine(results):
    answers = Store(results / "store/planted").read()
    assert answers.columns.tolist() == STORE.names
    assert [name for name in RESPONSES.names if name in STORE.names] == STORE.names
    kept = [column.name for column in RESPONSES.columns if not column.optional]
    assert pq.read_schema(results / "responses/score_order/1.parquet").names == kept
    assert {*STORE.names} - {*kept} == {*RUN_COLUMNS}


def plan_of(results):
    return pd.read_parquet(results / "plan/score_order/sim/planted.parquet")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="n"), "column 'n': expected int64, found no such column"),
        (lambda table: table.assign(n="five"), "column 'n': expected int64, found large_string"),
        (lambda table: table.assign(n=5.0), "column 'n': expected int64, found double"),
        (lambda table: table.assign(ordering=1), "column 'ordering': expected list<item: int64>, found int64"),
        (lambda table: table.assign(group_id=None), "column 'group_id': expected string without nulls, found"),
        (
            lambda table: table[["judge", *table.columns.drop("judge")]],
            "column 'study': expected as column 1, found 'judge' there",
        ),
        (lambda table: table.assign(n=[5, *["a"] * (len(table) - 1)]), "Conversion failed for column n"),
    ],
)
def test_a_frame_that_breaks_its_contract_is_not_written(results, tmp_path, change, message):
    with pytest.raises(ContractError, match="contract plan: ") as error:
        PLAN.write(change(plan_of(results)), tmp_path / "plan.parquet")
    assert message in str(error.value)
    assert not list(tmp_path.iterdir())


def test_a_column_that_no_contract_has_is_refused_where_none_may_follow(results, tmp_path):
    items = pd.read_parquet(results / "items/sim.parquet").assign(colour="red")
    with pytest.raises(ContractError, match="contract items: column 'colour': expected no such column"):
        ITEMS.write(items, tmp_path / "items.parquet")
    PLAN.write(plan_of(results).assign(colour="red"), tmp_path / "plan.parquet")


def test_types_that_are_exact_have_one_width(results, tmp_path):
    requests = pq.read_table(results / "requests/score_order/planted.parquet")
    wide = requests.set_column(4, "n", requests["n"].cast(pa.int64()))
    with pytest.raises(ContractError, match="contract requests: column 'n': expected int8, found int64"):
        REQUESTS.write(wide, tmp_path / "requests.parquet")
    assert REQUESTS.table(wide.to_pandas()).schema.field("n").type == pa.int8()  # a frame is cast
    with pytest.raises(ContractError, match=r"contract requests: .*Conversion failed for column n"):
        REQUESTS.table(wide.to_pandas().assign(n="five"))


def test_of_several_tables_each_is_checked(results, tmp_path):
    requests = pq.read_table(results / "requests/score_order/planted.parquet")
    wrong = requests.set_column(0, "request_id", pa.nulls(len(requests), pa.string()))
    with pytest.raises(ContractError, match="column 'request_id': expected string without nulls"):
        REQUESTS.write(iter([requests, wrong]), tmp_path / "requests.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop_columns("n"), "column 'n': expected int64, found no such column among study, judge"),
        (lambda table: table.set_column(12, "n", table["strategy"]), "column 'n': expected int64, found large_string"),
    ],
)
def test_a_file_of_other_columns_is_an_error_of_one_line(results, tmp_path, change, message):
    path = tmp_path / "plan.parquet"
    pq.write_table(change(pq.read_table(results / "plan/score_order/sim/planted.parquet")), path)
    for columns in (None, ["unit_id", "n"]):
        with pytest.raises(InputError) as error:
            PLAN.read(path, columns=columns)
        assert str(error.value).startswith(f"{path}: {message}")
        assert "\n" not in str(error.value)
    assert PLAN.read(path, columns=["unit_id"]).columns.tolist() == ["unit_id"]


def test_a_file_that_is_of_another_version_or_none_is_an_error_of_one_line(results, tmp_path):
    path = results / "plan/score_order/sim/planted.parquet"
    later = dataclasses.replace(PLAN, version=2)
    with pytest.raises(InputError) as error:
        later.read(path)
    assert str(error.value) == f"{path}: schema_version of plan: expected 2, found 1"
    with pytest.raises(InputError, match="no such file"):
        PLAN.read(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("study,judge\n")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        PLAN.read(tmp_path / "text.parquet")


def test_columns_of_a_probe_are_missed_too_where_they_are_read(results):
    path = results / "scores/criterion_order/sim/planted.parquet"
    with pytest.raises(InputError, match="column 'position_probabilities': expected one, found no such column among"):
        SCORES.read(path, columns=["score", "position_probabilities"])


def test_a_store_of_another_version_is_an_error_and_one_that_lacks_columns_is_read(results, tmp_path):
    answers = pq.read_table(next((results / "store/planted").glob("*.parquet")))
    for version, columns in ((1, ["request_id", "text", "engine"]), (2, STORE.names)):
        folder = tmp_path / str(version)
        parquet.write_by_content([answers.select(columns).replace_schema_metadata()], folder, schema_version=version)
    read = Store(tmp_path / "1").read()
    assert read.columns.tolist() == STORE.names
    assert len(read) == len(answers)
    assert read["error"].isna().all()
    with pytest.raises(InputError, match="schema_version of store: expected 1, found 2"):
        Store(tmp_path / "2").read()


def test_every_column_says_what_it_means():
    for contract in CONTRACTS:
        assert len(set(contract.names)) == len(contract.names)
        fields = [field for column in contract.columns for field in column.fields]
        for column in (*contract.columns, *fields):
            assert column.meaning.endswith("."), column


def test_the_page_is_up_to_date(root):
    assert (root / "docs/contracts.md").read_text(encoding="utf-8") == page(), "run make contracts-page"


def test_names_of_columns_are_there_without_pandas_and_pyarrow():
    code = "import sys; from rubric_order.contracts.reads import PLAN; PLAN.names; "
    code += "print(*{'numpy', 'pandas', 'pyarrow'} & set(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "workflow/scripts", capture_output=True, text=True, check=True
    )
    assert not run.stdout.strip()
