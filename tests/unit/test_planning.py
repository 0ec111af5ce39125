import hashlib
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from factories import changed, complete_judge
from hypothesis import given
from hypothesis import strategies as st

from rubric_order import datasets, probes
from rubric_order.base import parquet
from rubric_order.base.errors import InputError
from rubric_order.judging.second_requests import second_id
from rubric_order.planning import reads as planned
from rubric_order.planning import requests as asked
from rubric_order.prompts import frames
from rubric_order.settings import judges
from rubric_order.settings.base import Role, fields

criterion_order, score_order = map(probes.load, ("criterion_order", "score_order"))

DESIGN = {"scales": [5], "strategies": ["balanced", "random", "fixed"], "budget": None, "seed": 1}
NO_PAIRS = pd.DataFrame()


def request_ids(judge, prompts, repeats, n):
    """Names of requests of probe `score_order`."""
    name = asked.namer(judge, n, score_order)
    return [name(prompt.encode(), repeat) for prompt, repeat in zip(prompts, repeats, strict=True)]


def render(requests, items, rubrics, template):
    units = asked.units_asked(requests, items, rubrics, NO_PAIRS, template, probe="score_order")
    return asked.render_requests(requests, units)


@pytest.fixture
def make(small_dataset, judge, template):
    """Plan the small dataset, with some settings changed."""

    def plan_small(*, items=None, judge=judge, template=template, profiles=("default",), **design):
        table, rubrics = small_dataset.items, small_dataset.rubrics
        return planned.plan_reads(
            table if items is None else items,
            rubrics,
            NO_PAIRS,
            study="s",
            judge_id="j",
            judge=judge,
            template=template,
            design=planned.Design(**{**DESIGN, **design}),
            probe="score_order",
            profiles=profiles,
        )

    return plan_small


def test_a_defect_of_a_probe_keeps_its_traceback_and_a_setting_that_does_not_fit_is_one_line(make, monkeypatch):
    def broken(*args, **others):
        raise ValueError("operands could not be broadcast together")

    with pytest.raises(InputError, match=r"^study s: scale 4: rubric .*: a rubric with 5 levels has no 4 evenly"):
        make(scales=[4])
    monkeypatch.setattr(score_order, "units", broken)
    with pytest.raises(ValueError, match=r"^operands could not"):
        make()


def test_every_item_is_read_as_often_as_each_strategy_says(make):
    reads = make(strategies=["balanced", "random", "fixed", "single"], scales=[3, 5])
    counts = reads.groupby(["n", "strategy", "item_id"]).size().unstack(["n", "strategy"])
    assert (counts.nunique() == 1).all()
    assert counts.iloc[0].to_dict() == {
        **{(3, name): 6 for name in ("balanced", "random", "fixed")},
        **{(5, name): 10 for name in ("balanced", "random", "fixed")},
        (3, "single"): 1,
        (5, "single"): 1,
    }
    assert reads.groupby(["n", "strategy", "item_id"])["read_index"].apply(list).map(lambda x: x == sorted(x)).all()


def test_a_read_carries_the_keys_and_the_human_score_of_its_item(make, small_dataset):
    reads = make()
    assert reads.columns.tolist() == [
        *("study", "judge", "profile", "dataset", "unit_id", "group_id", "candidate", "criterion", "human_score"),
        *("probe", "condition", "strategy", "n", "read_index", "ordering", "levels", "repeat", "request_id"),
        "item_id",
    ]
    assert reads[["study", "judge", "dataset", "probe"]].drop_duplicates().to_numpy().tolist() == [
        ["s", "j", "small", "score_order"]
    ]
    keys = ["item_id", "group_id", "candidate", "criterion", "human_score"]
    pd.testing.assert_frame_equal(reads[keys].drop_duplicates().reset_index(drop=True), small_dataset.items[keys])


def test_repeats_are_counted_for_each_ordering(make):
    reads = make(strategies=["fixed"], budget=4)
    assert reads[reads["item_id"] == "ebb-a"]["repeat"].tolist() == [0, 1, 2, 3]
    assert make(strategies=["balanced"])["repeat"].eq(0).all()
    two = make(strategies=["balanced"], scales=[2])
    assert two[two["item_id"] == "ebb-a"]["repeat"].tolist() == [0, 0, 1, 1]


def test_repeats_of_random_count_how_often_the_ordering_came_before(make):
    reads = make(strategies=["random"], scales=[2], budget=30)
    for _, block in reads.groupby("item_id"):
        seen = []
        for ordering, repeat in zip(map(tuple, block["ordering"]), block["repeat"], strict=True):
            assert repeat == seen.count(ordering)
            seen.append(ordering)


def test_fixed_and_balanced_share_the_request_of_the_canonical_ordering(make):
    reads = make(strategies=["balanced", "fixed", "single"])
    canonical = reads[reads["ordering"].map(lambda ordering: ordering == [1, 2, 3, 4, 5])]
    first = canonical[canonical["repeat"] == 0]
    assert first.groupby("item_id")["request_id"].nunique().tolist() == [1] * 4
    assert first.groupby("item_id")["strategy"].apply(set).map(len).tolist() == [3] * 4
    # 10 orderings, and 9 more reads of the canonical one.
    assert reads.groupby("item_id")["request_id"].nunique().tolist() == [19] * 4


def test_reads_that_differ_in_item_scale_ordering_or_repeat_are_different_requests(make):
    reads = make(strategies=["all", "fixed"], scales=[2, 3])
    key = list(zip(reads["item_id"], reads["n"], map(tuple, reads["ordering"]), reads["repeat"], strict=True))
    assert reads["request_id"].nunique() == len(set(key))


def test_two_items_with_one_text_share_their_requests(make, small_dataset):
    items = small_dataset.items.copy()
    items.loc[items["item_id"] == "ebb-b", "response"] = items["response"][items["item_id"] == "ebb-a"].item()
    requests = make(items=items).groupby("item_id")["request_id"].apply(set)
    assert len(requests["ebb-a"] & requests["ebb-b"]) >= 19
    assert not requests["ebb-a"] & requests["flow-a"]


CHANGES = {
    "engine": "simulated",
    "model": "org/other",
    "revision": "abc",
    "gguf": {"package": "p", "file": "f", "sha256": "0" * 64},
    "dtype": "float16",
    "quantization": "fp8",
    "max_model_len": 4096,
    "system_prompt": "You are fair.",
    "chat_template": "{{ messages }}",
    "chat_template_kwargs": {"enable_thinking": True},
    "reasoning_end": "</think>",
    "batch_invariant": True,
    "answer_format": "feedback",
    "answer_prefix": "",
    "sampling": {"temperature": 0.3},
    "simulation": {"preference": "first"},
    "engine_args": {"kv_cache_dtype": "fp8"},
}


def test_every_setting_of_identity_is_tried_below():
    named = {name for kind in (judges.Vllm, judges.Simulated) for name in fields(kind, {Role.IDENTITY})}
    assert set(CHANGES) == {*named, *score_order.IDENTITY}


@pytest.mark.parametrize("key", CHANGES)
def test_request_ids_change_with_every_setting_that_changes_answers(judge, key):
    judge = changed(judge, engine="simulated") if key == "simulation" else judge
    (before,) = request_ids(judge, ["prompt"], [0], 5)
    (after,) = request_ids(changed(judge, **{key: CHANGES[key]}), ["prompt"], [0], 5)
    assert after != before


@pytest.mark.parametrize(
    "change", [{"temperature": 0.1}, {"top_p": 0.9}, {"max_tokens": 9}, {"seed": 1}, {"stop": ["\n"]}], ids=str
)
def test_request_ids_change_with_every_sampling_parameter(judge, change):
    other = changed(judge, sampling=judge.sampling.block() | change)
    assert request_ids(other, ["prompt"], [0], 5) != request_ids(judge, ["prompt"], [0], 5)


@pytest.mark.parametrize(
    "change",
    [
        {"gpu": 4},
        {"shards": 7},
        {"mem": "1TB"},
        {"runtime": "1h"},
        {"engine_args": {"max_num_seqs": 3}},
        {"sampling": {"stop": [], "seed": 0, "max_tokens": 8, "top_p": 1.0, "temperature": 0.0}},
    ],
    ids=str,
)
def test_request_ids_do_not_change_with_where_a_judge_runs_or_how_its_settings_are_written(judge, change):
    assert request_ids(changed(judge, **change), ["prompt"], [0], 5) == request_ids(judge, ["prompt"], [0], 5)


def identity(judge):
    return judge.identity(score_order.IDENTITY)


def named(judge, *, weights=None, **settings):
    """A judge with other settings, and perhaps the digest of its weights."""
    judge = changed(judge, **settings)
    return judge.add_weights({"weights": weights}) if weights else judge


ENDPOINT = {"engine": "openai", "model": "a/b/c", "base_url": "https://example.org/v1"}


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://127.0.0.1:8000/v1"},
        {"api_key_env": "OTHER_KEY"},
        {"extra_headers": {"X-Tenant": "$TENANT"}},
        {"concurrency": 3, "timeout": 5, "max_attempts": 1, "requests_per_minute": 5, "tokens_per_minute": 5},
        {"budget": {"calls": 1}, "prices": {"prompt": 1, "completion": 1}},
        {"accept_models": ["b"]},
        {"extra_body": {}},
    ],
    ids=str,
)
def test_request_ids_do_not_change_with_how_an_endpoint_is_asked(judge, change):
    judge = changed(judge, **ENDPOINT)
    assert request_ids(changed(judge, **change), ["prompt"], [0], 5) == request_ids(judge, ["prompt"], [0], 5)


def test_request_ids_change_with_what_an_endpoint_is_asked(judge):
    judge = changed(judge, **ENDPOINT)
    changes = [
        *({}, {"extra_body": {"top_k": 1}}, {"extra_body": {"top_k": 2}}, {"model": "b/b/c"}),
        *({"serve": {"arguments": {"reasoning_parser": "qwen3"}}}, {"serve": {}}),
    ]
    names = [request_ids(changed(judge, **change), ["prompt"], [0], 5)[0] for change in changes]
    assert len(set(names)) == len(changes)


def test_a_server_of_our_own_is_the_offline_engine_but_for_the_kind_of_engine(judge):
    served = changed(judge, engine="openai", serve={}, model="/scratch/llama")
    wire = {"dialect": "vllm", "max_tokens_name": "max_tokens", "serve": {"arguments": {}}}
    assert identity(served) == identity(changed(judge, model="./llama")) | {"engine": "openai"} | wire


@pytest.mark.parametrize("path", ["/scratch/a/llama", "/home/b/models/llama", "./other", "../llama/"])
def test_a_local_model_is_known_by_its_weights_and_not_by_its_folder(judge, path):
    local = identity(named(judge, model=path, weights="abc"))
    assert local["weights"] == "abc"
    assert "model" not in local
    assert identity(changed(judge, model="org/llama"))["model"] == "org/llama"


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"model": "./llama", "weights": "abc"},
        {"engine_args": {"max_num_seqs": 2, "kv_cache_dtype": "fp8"}},
        {"engine": "openai", "serve": {"arguments": {"reasoning_parser": "qwen3"}, "ready_timeout": 3}},
        {"engine": "openai", "base_url": "https://example.org/v1", "extra_body": {"a": 1}},
        {"engine": "openai", "answer_format": "feedback", "dialect": "vllm"},
    ],
    ids=str,
)
def test_the_judge_that_a_job_reads_has_the_identity_of_the_one_that_was_written(judge, settings, tmp_path):
    written = changed(judge, **{key: value for key, value in settings.items() if key != "weights"})
    (tmp_path / "judge.json").write_text(json.dumps(written.block()))
    weights = {"weights": settings["weights"]} if "weights" in settings else {}
    read = judges.Judge.from_file(tmp_path / "judge.json").add_weights(weights)
    once = identity(written.add_weights(weights))
    assert identity(read) == once
    assert json.loads(json.dumps(once)) == once


ENDPOINT_20 = {"engine": "openai", "base_url": "https://example.org/v1", "top_logprobs": 20}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"model": "run1/checkpoint", "weights": "a" * 64}, {"model": "run2/checkpoint", "weights": "b" * 64}),
        ({"engine_args": {"load_format": "dummy"}}, {}),
        (ENDPOINT_20, {**ENDPOINT_20, "top_logprobs": 0}),
        (ENDPOINT_20, {**ENDPOINT_20, "dialect": "vllm"}),
        (ENDPOINT_20, {**ENDPOINT_20, "max_tokens_name": "max_completion_tokens"}),
        ({"engine": "openai", "serve": {}}, {"engine": "openai", "serve": {"arguments": {"reasoning_parser": "x"}}}),
        ({"answer_prefix": "Score: "}, {"answer_prefix": '{"score": '}),
        ({"revision": "a" * 40}, {"revision": "b" * 40}),
    ],
    ids=str,
)
def test_settings_that_can_change_an_answer_have_different_names(judge, one, other):
    names = {request_ids(named(judge, **settings), ["prompt"], [0], 5)[0] for settings in (one, other)}
    assert len(names) == 2


def test_log_probabilities_that_are_not_read_name_nothing(judge):
    feedback = changed(judge, **ENDPOINT_20, answer_format="feedback")
    assert identity(feedback) == identity(changed(feedback, top_logprobs=0))
    several = [changed(feedback, top_logprobs=n).identity(criterion_order.IDENTITY) for n in (0, 20)]
    assert several[0] != several[1]


def test_weights_are_open_where_config_does_not_say_which_they_are(judge):
    pinned = {"revision": "a" * 40}
    gguf = {"gguf": {"package": "p", "file": "f", "sha256": "0" * 64}}
    open_ = [{}, {"revision": "main"}, {"model": "./llama"}, pinned | {"model": "./llama"}]
    named = [pinned, gguf, {"engine": "simulated"}, {"engine": "openai", "base_url": "https://example.org/v1"}]
    assert all(changed(judge, **settings).has_open_weights for settings in open_)
    assert not any(changed(judge, **settings).has_open_weights for settings in named)
    assert changed(judge, engine="openai", serve={}).has_open_weights


@given(
    st.lists(st.tuples(st.text(max_size=5), st.integers(0, 12), st.integers(2, 9)), min_size=2, max_size=8, unique=True)
)
def test_different_messages_repeats_and_scales_have_different_names(triples):
    judge = complete_judge()
    names = [request_ids(judge, [prompt], [repeat], n)[0] for prompt, repeat, n in triples]
    assert len(set(names)) == len(triples)
    assert all(len(name) == 32 for name in names)


def test_request_ids_are_what_they_were():
    # A change here makes every stored answer useless: it is meant to hurt.
    judge = complete_judge(model="/x/m", answer_prefix="", sampling={"temperature": 0.5, "seed": 3})
    sampling = '"sampling": {"max_tokens": 1024, "seed": 3, "stop": [], "temperature": 0.5, "top_p": 1}'
    asked_for = '"answer_format": "score", "answer_prefix": "", "chat_template_kwargs": {}'
    model = '"dtype": "bfloat16", "engine": "vllm", "model": "m"'
    head = f'[{{{asked_for}, {model}, {sampling}, "version": 2}}, 5]'
    expected = hashlib.blake2b(f"{head}2\x1fhé".encode(), digest_size=16).hexdigest()
    assert request_ids(judge, ["hé"], [2], 5) == [expected]


def test_request_ids_change_with_the_words_of_the_template(make, root):
    other = frames.compile_template((root / "resources/templates/score.jinja").read_text().replace("nothing", "no"))
    assert not set(make()["request_id"]) & set(make(template=other)["request_id"])


def keyed(reads):
    key = ["item_id", "strategy", "n", "read_index"]
    return reads.sort_values(key).set_index(key)[["request_id", "ordering", "repeat"]]


def test_a_plan_does_not_depend_on_the_order_of_the_items(make, small_dataset):
    shuffled = small_dataset.items.iloc[[2, 0, 3, 1]].reset_index(drop=True)
    pd.testing.assert_frame_equal(keyed(make(items=shuffled)), keyed(make()))


def test_a_plan_of_some_items_is_part_of_the_plan_of_all(make, small_dataset):
    some = keyed(make(items=small_dataset.items.iloc[2:]))
    pd.testing.assert_frame_equal(some, keyed(make()).loc[some.index])


def test_the_seed_moves_the_random_orderings_and_nothing_else(make):
    one, other = make(seed=1), make(seed=2)
    same = one["ordering"].map(tuple) == other["ordering"].map(tuple)
    assert same[one["strategy"] != "random"].all()
    assert not same[one["strategy"] == "random"].all()


def test_items_draw_different_random_orderings(make):
    reads = make(strategies=["random"])
    assert reads.groupby("item_id")["ordering"].apply(lambda chosen: str(list(chosen))).nunique() == 4


def test_a_scale_that_a_rubric_does_not_have_is_an_error_that_names_study_scale_and_rubric(make):
    with pytest.raises(InputError, match="study s: scale 4: rubric 'ebb': a rubric with 5 levels has no 4 evenly"):
        make(scales=[4])


def test_a_coarser_scale_shows_evenly_spaced_levels_renumbered(make, small_dataset, template):
    items, rubrics = small_dataset.items, small_dataset.rubrics
    requests = asked.distinct_requests(make(scales=[3], strategies=["single"]), owned_elsewhere=set())
    text = render(requests, items, rubrics, template)["prompt"][0]
    assert "Score 1: ebb level 1\nScore 2: ebb level 3\nScore 3: ebb level 5\n" in text


def test_the_prompt_of_a_request_is_that_of_its_item_and_ordering(requests, small_dataset, template):
    items = small_dataset.items.set_index("item_id")
    for read in (requests.loc[index] for index in (0, 25, len(requests) - 1)):
        item = items.loc[read["unit_id"]]
        assert read["prompt"] == frames.render(
            template,
            instruction=item["instruction"],
            response=item["response"],
            reference=None if item["group_id"] == "ebb" else item["reference"],
            question=f"Is {item['group_id']} explained?",
            levels=[f"{item['group_id']} level {k}" for k in range(1, 6)],
            ordering=read["ordering"],
        )
    assert not requests["prompt"][requests["unit_id"].str.startswith("ebb")].str.contains("###Reference Answer").any()


@pytest.fixture
def requests(make, small_dataset, template):
    table = asked.distinct_requests(make(), owned_elsewhere=set())
    return render(table, small_dataset.items, small_dataset.rubrics, template)


def test_distinct_requests_has_each_request_of_the_reads_once(make, requests):
    assert requests["request_id"].is_unique
    assert set(requests["request_id"]) == set(make()["request_id"])


def test_distinct_requests_keeps_orderings_of_an_item_and_repeats_of_an_ordering_adjacent(requests):
    items = requests["unit_id"].tolist()
    assert [item for place, item in enumerate(items) if items[place - 1] != item] == sorted(set(items))
    for _, block in requests.groupby("unit_id"):
        shown = block["ordering"].map(tuple).tolist()
        assert shown == sorted(shown)
        assert block["repeat"][block["ordering"].map(lambda o: o == [1, 2, 3, 4, 5])].tolist() == list(range(10))


def test_distinct_requests_gives_each_request_the_prompt_of_its_name(requests, judge):
    assert request_ids(judge, requests["prompt"], requests["repeat"], 5) == requests["request_id"].tolist()


def test_distinct_requests_leaves_out_what_an_earlier_study_asks(requests, make):
    reads = make()
    owned = set(requests["request_id"][::3])
    rest = asked.distinct_requests(reads, owned_elsewhere=owned)
    assert rest["request_id"].tolist() == [name for name in requests["request_id"] if name not in owned]
    nothing = asked.distinct_requests(reads, owned_elsewhere=set(requests["request_id"]))
    assert nothing.empty
    assert nothing.columns.tolist() == rest.columns.tolist()


def test_distinct_requests_does_not_depend_on_the_order_of_the_reads(make, requests, small_dataset):
    items = small_dataset.items.assign(response="the same words")  # so that several items share a request
    reads = make(items=items)
    expected = asked.distinct_requests(reads, owned_elsewhere=set())
    assert len(expected) < len(requests)
    shuffled = reads.sample(frac=1, random_state=5)
    pd.testing.assert_frame_equal(asked.distinct_requests(shuffled, owned_elsewhere=set()), expected)


@pytest.fixture
def warm(judge):
    """A judge with a profile of another temperature."""
    return changed(judge, profiles={"warm": {"sampling": {"temperature": 0.6}}})


def test_each_profile_reads_the_same_orderings_by_requests_of_its_own(make, warm):
    reads = make(judge=warm, profiles=["default", "warm"])
    one, other = (block.reset_index(drop=True) for _, block in reads.groupby("profile"))
    assert one["ordering"].tolist() == other["ordering"].tolist()
    assert not set(one["request_id"]) & set(other["request_id"])
    assert one["request_id"].tolist() == make()["request_id"].tolist()


def test_a_profile_is_the_judge_with_its_settings(make, warm, judge):
    hot = changed(judge, sampling=judge.sampling.block() | {"temperature": 0.6})
    expected = make(judge=hot)["request_id"].tolist()
    assert make(judge=warm, profiles=["warm"])["request_id"].tolist() == expected


def test_greedy_repeats_are_one_request_where_they_are_declared_equal(make, warm):
    reuse = changed(warm, greedy_repeats="reuse")
    reads = make(judge=reuse, profiles=["default", "warm"], strategies=["fixed"])
    assert reads.groupby(["profile", "item_id"])["request_id"].nunique().groupby("profile").first().to_dict() == {
        "default": 1,
        "warm": 10,
    }
    assert reads["repeat"].max() == 9
    requests = asked.distinct_requests(reads, owned_elsewhere=set(), greedy={"default"})
    assert requests[requests["profile"] == "default"]["repeat"].tolist() == [0] * 4
    first = asked.distinct_requests(make(strategies=["single"]), owned_elsewhere=set())["request_id"]
    assert set(first) == set(requests[requests["profile"] == "default"]["request_id"])


def table_of(sizes):
    """Requests of items with the given numbers of requests."""
    item = np.repeat(np.arange(len(sizes)), sizes)
    names = [f"{number:03d}" for number in item]
    return pd.DataFrame({"dataset": "d", "unit_id": names, "request_id": [str(k) for k in range(len(item))]})


@pytest.fixture(scope="module")
def shards_of(tmp_path_factory):
    """The parts of a table of requests, of which so many rows are a row group of its file."""
    path = tmp_path_factory.mktemp("requests") / "requests.parquet"

    def parts(table, shards, rows=5):
        parquet.write(parquet.split_row_groups(pa.Table.from_pandas(table, preserve_index=False), rows), path)
        return [asked.read_shard(path, shard, shards) for shard in range(1, shards + 1)]

    return parts


@given(st.lists(st.integers(1, 12), max_size=12), st.integers(1, 20), st.integers(1, 7))
def test_shards_partition_the_requests_in_order_and_split_no_item(shards_of, sizes, shards, rows):
    table = table_of(sizes)
    parts = shards_of(table, shards, rows)
    assert [name for part in parts for name in part["request_id"]] == table["request_id"].tolist()
    owners = [item for part in parts for item in part["unit_id"].unique()]
    assert len(owners) == len(set(owners))
    assert all(part.columns.tolist() == table.columns.tolist() for part in parts)


@given(st.integers(1, 8), st.integers(1, 40), st.integers(1, 10))
def test_shards_of_equal_items_differ_by_no_more_than_one_item(shards_of, reads, items, shards):
    sizes = [len(part) for part in shards_of(table_of([reads] * items), shards)]
    assert max(sizes) - min(sizes) <= reads


def test_items_of_one_name_in_two_datasets_are_two_items(shards_of):
    table = pd.concat([table_of([3]), table_of([3]).assign(dataset="e")], ignore_index=True)
    assert [len(part) for part in shards_of(table, 2)] == [3, 3]


def test_a_shard_reads_its_own_row_groups_alone(shards_of, monkeypatch):
    read, seen = pq.ParquetFile.read_row_groups, []
    monkeypatch.setattr(
        pq.ParquetFile, "read_row_groups", lambda self, groups, *rest: seen.append(groups) or read(self, groups, *rest)
    )
    parts = shards_of(table_of([10] * 40), 8)  # 400 requests in 80 groups
    assert [len(part) for part in parts] == [50] * 8
    assert [len(groups) for groups in seen] == [10] * 8


def test_the_demo_is_planned_with_19_requests_an_item_and_those_of_random(root, judge, template):
    tables = datasets.prepare("demo", datasets.read("demo", {"tasks": root / "resources/demo/tasks.yaml"}))
    arguments = {"study": "s", "judge_id": "j", "judge": judge, "template": template, "probe": "score_order"}
    reads = planned.plan_reads(tables.items, tables.rubrics, tables.pairs, design=planned.Design(**DESIGN), **arguments)
    assert len(reads) == 80 * 30
    without = reads[reads["strategy"] != "random"]
    assert without["request_id"].nunique() == 80 * 19


# Names of version 2: numbers of reads and of distinct requests, the first name, and a hash of all names in order. A
# store that was paid for stays valid as long as these stay: never change them again. `test_recorded_names.py` has more.
RECORDED = {
    ("score", "score_order", False): (1200, 980, "8a9770f2c047afbedb824ba02e3a4f96", "fa78275b351f1fe6"),
    ("score", "criterion_order", False): (304, 198, "40b2e79c5df0d161f6875fdea259494f", "473b665242364e38"),
    ("score", "criterion_order", True): (304, 280, "1431696221fbd36de0301d36547e1069", "7a182f81e8393c45"),
    ("feedback", "score_order", False): (600, 297, "044fcbd6e2b8d02c9c3a7c38dbbf72df", "d51f208942545f21"),
    ("feedback", "criterion_order", False): (152, 48, "9400c5eadfab765629121fe89397ddef", "356e3bbd49600064"),
    ("feedback", "criterion_order", True): (152, 99, "84e8f9169bb1d3d2477209b28ea55e6c", "d07cd66e044f59aa"),
}


@pytest.mark.parametrize("key", RECORDED, ids=str)
def test_the_names_of_a_whole_plan_are_those_that_were_recorded(judge, root, key):
    answer_format, probe, crossed = key
    settings = {
        "score": {"profiles": {"warm": {"sampling": {"temperature": 0.6}}}},
        "feedback": {"answer_prefix": "", "system_prompt": "Be fair.", "greedy_repeats": "reuse"},
    }
    judge = changed(judge, answer_format=answer_format, dtype="bfloat16", **settings[answer_format])
    options = {"n_groups": 2, "n_candidates": 2, "criteria": ["plot", "style", "wit"]}
    tables = datasets.prepare("sim", datasets.read("simulated", {}, options, dataset="sim"))
    name = probes.load(probe).template(judge)
    strategies = ["balanced", "random", "fixed", "single"]
    reads = planned.plan_reads(
        tables.items,
        tables.rubrics,
        tables.pairs,
        study="s",
        judge_id="j",
        judge=judge,
        template=frames.load_template(root / f"resources/templates/{name}.jinja"),
        design=planned.Design(scales=[3, 5], strategies=strategies, seed=7, crossed=crossed),
        probe=probe,
        profiles=["default", *judge.profiles],
    )
    names = reads["request_id"].tolist()
    digest = hashlib.blake2b("".join(names).encode(), digest_size=8).hexdigest()
    assert (len(names), len(set(names)), names[0], digest) == RECORDED[key]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"engine": "openai", "base_url": "https://example.org/v1"}, "646ea1e7ddff1dd22e772e274db46704"),
        (
            {"engine": "openai", "base_url": "https://example.org/v1", "answer_format": "feedback"},
            "80855b214aaf09afe037996df10031a0",
        ),
        (
            {"engine": "openai", "serve": {"arguments": {"reasoning_parser": "qwen3"}}, "revision": "a" * 40},
            "886d6013e41c81818a745d927d694c4e",
        ),
        ({"model": "run1/checkpoint", "weights": "b" * 64}, "afa70df33cf4d716d0a0174b8ad08bce"),
        ({"engine": "simulated", "simulation": {"preference": "first"}}, "4040c63e2a95cd61ca5ac818f1c1da1c"),
    ],
    ids=str,
)
def test_names_of_each_kind_of_judge_are_those_that_were_recorded(judge, settings, expected):
    # Never change them again, see above.
    judge = named(judge, **settings, dtype="bfloat16")
    assert request_ids(judge, ["a prompt"], [1], 5) == [expected]


def test_the_name_of_a_second_request_is_the_one_that_was_recorded():
    # Never change it again, see above.
    assert second_id("0123456789abcdef", "Score: ") == "6e00eaa197d21b166d4271fd82abb1c9"


def test_a_sample_reads_whole_groups_and_a_larger_one_holds_it(make, small_dataset):
    everything, groups = make(), sorted(small_dataset.items["group_id"].unique())
    read = {size: set(make(sample=size)["group_id"]) for size in range(1, len(groups) + 1)}
    assert [len(found) for found in read.values()] == list(read)
    assert all(read[size] < read[size + 1] for size in range(1, len(groups)))
    one = make(sample=1)
    same = everything[everything["group_id"].isin(read[1])].reset_index(drop=True)
    pd.testing.assert_frame_equal(one, same)
    assert len({frozenset(make(sample=1, seed=seed)["group_id"]) for seed in range(20)}) > 1


def test_a_sample_does_not_depend_on_the_order_of_the_items(small_dataset):
    turned = small_dataset.items.iloc[::-1]
    for seed in range(8):  # of two groups: half of the draws would differ
        chosen = [planned.draw_sample(items, sample=1, seed=seed) for items in (small_dataset.items, turned)]
        assert {*chosen[0]["group_id"]} == {*chosen[1]["group_id"]}


def test_a_rotated_item_is_read_once_and_items_together_in_every_position(make, small_dataset):
    reads = make(strategies=["balanced", "rotated"], scales=[5])
    rotated = reads[reads["strategy"] == "rotated"]
    assert rotated["item_id"].tolist() == small_dataset.items["item_id"].tolist()
    balanced = reads[reads["strategy"] == "balanced"]
    order = balanced["ordering"].map(tuple).drop_duplicates().tolist()
    assert rotated["ordering"].map(tuple).tolist() == [order[place % 10] for place in range(len(rotated))]
    assert set(rotated["request_id"]) < set(balanced["request_id"])  # nothing more is asked


def test_the_mean_of_rotated_reads_is_free_of_what_positions_do(make, small_dataset):
    """A judge that adds the place at which its score stands, so that each ordering moves all its scores."""
    one = small_dataset.items.iloc[[0]]
    items = pd.concat([one.assign(item_id=f"i{number:02d}", group_id=f"g{number:02d}") for number in range(20)])
    reads = make(items=items.reset_index(drop=True), strategies=["balanced", "rotated", "single"], scales=[5])
    place_of_three = reads["ordering"].map(lambda ordering: list(ordering).index(3))
    means = (3 + place_of_three / 10).groupby(reads["strategy"]).mean()
    assert means["rotated"] == pytest.approx(means["balanced"])
    assert (
        reads[reads["strategy"] == "rotated"]["ordering"].map(lambda ordering: ordering[0]).value_counts().eq(4).all()
    )
