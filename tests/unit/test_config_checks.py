import copy
import dataclasses

import pytest
import yaml
from factories import demo_config
from pydantic import ValidationError

from rubric_order import datasets
from rubric_order.base.errors import InputError
from rubric_order.run import checks, loading
from rubric_order.settings import judges, schema, values
from rubric_order.settings.config import Config
from rubric_order.settings.judges.judge import Sampling
from rubric_order.settings.judges.vllm import OWN_SETTINGS
from rubric_order.simulation.judge import Simulation


@pytest.fixture
def config():
    return demo_config()


def read(config):
    """The config as a model."""
    values.check(config)
    return Config.read(config)


def check(config, ready=()):
    """The check of what a model cannot say."""
    checks.check_meaning(read(config), ready)


def put(config, path, value):
    *parents, last = path.split("/")
    place = config
    for key in parents:
        place = place.setdefault(key, {})
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return config


def problem(check, *arguments):
    with pytest.raises(InputError) as error:
        check(*arguments)
    return str(error.value)


def test_the_demo_passes(config):
    check(config)


def with_ready_made(root, *layers):
    """A config as Snakemake puts it together: files over each other, and under them what is ready-made."""
    config, whole = {}, {}
    for layer in (root / "config/config.yaml", *layers):
        loading.merge(config, yaml.safe_load(layer.read_text(encoding="utf-8")))
    for path in loading.ready_made(root / "config", config):
        loading.merge(whole, yaml.safe_load(path.read_text(encoding="utf-8")))
    loading.merge(whole, config)
    loading.name_studies(whole)
    loading.follow_scales(whole)
    return whole


def test_every_config_of_a_paper_passes(root):
    need_a_folder = ("recorded", "judging_the_judges", "scoring_bias_recorded")
    papers = [path for path in (root / "config/papers").glob("*.yaml") if path.stem not in need_a_folder]
    papers.append(root / "config/demo.yaml")
    for path in [*papers, *(root / "config/examples").glob("*.yaml")]:
        config = with_ready_made(root, path)
        check(config)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "judges/smollm2_135m/chat_template_kwargs/date_string",
            "2026-07-26",
            "expected text, a number, true, false, null, a list or a mapping, found datetime.date(2026, 7, 26); put",
        ),
        ("datasets/demo/options/since", "2026-07-26", "found datetime.date(2026, 7, 26)"),
        ("datasets/demo/options/seen", "[1, [2026-07-26]]", "/1/0: expected text"),
        ("datasets/demo/options/mapped", "[{1: a}]", "/0: expected a name as key, found 1; put it in quotes"),
        ("datasets/demo/options/share", ".nan", "expected a finite number, found nan"),
        ("judges/smollm2_135m/engine_args/most", "-.inf", "expected a finite number, found -inf"),
    ],
)
def test_what_json_cannot_hold_is_one_line(config, path, value, message):
    said = problem(read, put(config, path, yaml.safe_load(value)))
    assert said.startswith(f"config: {path}")
    assert message in said


# Ready-made judges.


def named(judges_, studies):
    return {"judges": judges_, "studies": {name: {"judges": listed} for name, listed in studies.items()}}


@pytest.fixture
def shelf(tmp_path):
    """A folder of ready-made datasets and judges."""
    for kind, names in (("datasets", ("one", "two")), ("judges", ("alpha", "beta", "gamma"))):
        (tmp_path / kind).mkdir()
        for name in names:
            (tmp_path / kind / f"{name}.yaml").write_text(f"{kind}: {{{name}: {{}}}}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("config", "judge_files"),
    [
        ({}, []),
        (named({}, {"a": ["beta"], "b": ["other", "alpha"]}), ["alpha", "beta"]),
        (named({"gamma": {"gpu": 2}}, {"a": ["mine"]}), ["gamma"]),
        ({"references": {"one": {"judges": ["beta", "mine"]}, "two": {"file": "own.csv"}}}, ["beta"]),
        # What the check of the shape will name must not stop here.
        ({"references": {"one": None, "two": {"judges": None}}}, []),
        ({"judges": None, "studies": None}, []),
        ({"judges": [], "studies": {"a": None, "b": {"judges": "alpha"}}}, []),
        (named({}, {"a": [["alpha"], None, "beta"]}), ["beta"]),
    ],
)  # fmt: skip
def test_of_the_ready_made_judges_those_that_are_named_are_read(shelf, config, judge_files):
    found = loading.ready_made(shelf, config)
    assert [path.stem for path in found if path.parent.name == "judges"] == judge_files
    assert [path.stem for path in found if path.parent.name == "datasets"] == ["one", "two"]


def test_an_unknown_judge_is_answered_with_those_that_are_defined_and_those_that_are_ready_made(config):
    put(config, f"{STUDY}/judges", ["smollm2_135m", "gpt_9"])
    found = problem(check, config, ["gpt_4o", "smollm2_135m", "qwen3_8b"])
    assert found == (
        f"config: {STUDY}/judges: 'gpt_9' is not defined under judges; defined: smollm2_135m; "
        "ready-made in config/judges: gpt_4o, qwen3_8b; did you mean 'gpt_4o'?"
    )


def test_what_config_says_of_a_ready_made_judge_goes_over_it(root, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "judges: {qwen3_8b: {gpu: 4, sampling: {seed: 7}}}\nstudies: {position_bias: {judges: [qwen3_8b]}}\n"
    )
    config = with_ready_made(root, root / "config/demo.yaml", mine)
    check(config)
    judge = config["judges"]["qwen3_8b"]
    ready = yaml.safe_load((root / "config/judges/qwen3_8b.yaml").read_text(encoding="utf-8"))["judges"]["qwen3_8b"]
    assert (judge["gpu"], judge["sampling"]["seed"]) == (4, 7)
    assert judge["model"] == ready["model"]
    assert judge["sampling"]["temperature"] == ready["sampling"]["temperature"]


def test_every_setting_is_described():
    def undescribed(part, path):
        for key, entry in part.get("properties", {}).items():
            blocks = entry.get("additionalProperties")
            inner = [entry, *([blocks] if isinstance(blocks, dict) else [])]
            inner += [kind for block in inner for kind in block.get("anyOf", ())]
            if not any("properties" in block for block in inner) and "description" not in entry:
                yield f"{path}/{key}"
            for block in inner:
                yield from undescribed(block, f"{path}/{key}")

    engines = {f"/judges/{name}" for name in ("engine",)}
    assert set(undescribed(schema.schema(), "")) <= engines


JUDGE = "judges/smollm2_135m"
STUDY = "studies/position_bias"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        # unknown keys
        ("studeis", {}, "top level: unknown key 'studeis'; expected dataset_mirror, recorded_dir, output"),
        (f"{JUDGE}/modle", "x", f"{JUDGE}: unknown key 'modle'; expected engine, model, label, answer_format"),
        (f"{JUDGE}/sampling/temprature", 1, f"{JUDGE}/sampling: unknown key 'temprature'; expected temperature, top_p"),
        (f"{STUDY}/stategies", [], f"{STUDY}: unknown key 'stategies'; expected probe, datasets"),
        ("figures/budget", {}, "figures: unknown key 'budget'; expected "),
        ("figures", [5], "figures: expected a mapping, found [5]"),
        ("tables", "all", "tables: expected a mapping, found 'all'"),
        # a key that there was
        (
            "figures/strategy_forest/interval",
            "bca",
            "figures/strategy_forest: key 'interval' is no longer there; leave it out: intervals are ",
        ),
        ("judges/SmolLM2", {"engine": "vllm", "model": "x"}, "judges: unknown key 'SmolLM2'; expected an id"),
        ("datasets/demo/files/Tasks", {"path": "x"}, "datasets/demo/files: unknown key 'Tasks'; expected an id like"),
        # wrong types and values
        (f"{STUDY}/scales", 5, f"{STUDY}/scales: expected a list, found 5"),
        (f"{STUDY}/scales", ["5"], f"{STUDY}/scales/0: expected a whole number, found '5'"),
        (f"{STUDY}/scales", [5.0], f"{STUDY}/scales/0: expected a whole number, found 5.0"),
        (f"{STUDY}/scales", [12], f"{STUDY}/scales/0: 12 is greater than the maximum of 11"),
        (f"{STUDY}/scales", [5, 5], f"{STUDY}/scales: [5, 5] has non-unique elements"),
        (f"{STUDY}/budget", True, f"{STUDY}/budget: expected a whole number or null, found True"),
        (f"{STUDY}/strategies", "fixed", f"{STUDY}/strategies: expected a list, found 'fixed'"),
        (f"{STUDY}/datasets", [], f"{STUDY}/datasets: [] "),
        (f"{JUDGE}/engine", "gpt", f"{JUDGE}/engine: 'gpt' is not one of 'vllm'"),
        (
            "figures/position_selection/readouts",
            ["hrd"],
            "figures/position_selection/readouts/0: 'hrd' is not one of 'hard', 'soft'; did you mean 'hard'?",
        ),
        (f"{JUDGE}/sampling", None, f"{JUDGE}/sampling: expected a mapping, found None"),
        (f"{JUDGE}/sampling/temperature", -1, f"{JUDGE}/sampling/temperature: -1 is less than the minimum of 0"),
        (f"{JUDGE}/runtime", "x", f"{JUDGE}/runtime: 'x' does not match"),
        (f"{JUDGE}/mem", "much", f"{JUDGE}/mem: 'much' does not match"),
        (f"{JUDGE}/gguf/sha256", "abc", f"{JUDGE}/gguf/sha256: 'abc' does not match"),
        ("dataset_mirror", None, "dataset_mirror: expected text, found None"),
        ("statistics/bootstrap/resamples", 10, "statistics/bootstrap/resamples: 10 is less than the minimum of 100"),
        ("datasets", {}, "datasets: {} "),
        ("judges", None, "judges: expected a mapping, found None"),
        # keys that YAML takes for something else than text
        ("judges", {4: {"engine": "vllm", "model": "x"}}, "judges: expected a name as key, found 4; put it in quotes"),
        (STUDY, {True: 1}, f"{STUDY}: expected a name as key, found True; put it in quotes"),
        # missing keys
        ("judges", ..., "top level: key 'judges' is missing"),
        (f"{JUDGE}/model", ..., f"{JUDGE}: key 'model' is missing"),
        (f"{STUDY}/judges", ..., f"{STUDY}: key 'judges' is missing"),
        ("datasets/demo/adapter", ..., "datasets/demo: key 'adapter' is missing"),
    ],
)  # fmt: skip
def test_a_config_of_the_wrong_shape_is_one_line_with_the_path_of_the_key(config, path, value, message):
    found = problem(read, put(config, path, value))
    assert found.startswith(f"config: {message}")
    assert "\n" not in found


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            f"{STUDY}/judges",
            ["gpt4"],
            f"{STUDY}/judges: 'gpt4' is not defined under judges; defined: smollm2_135m",
        ),
        (
            f"{STUDY}/datasets",
            ["demo", "hana"],
            f"{STUDY}/datasets: 'hana' is not defined under datasets; defined: demo",
        ),
        (
            "figures/position_selection/study",
            "none",
            "figures/position_selection/study: 'none' is not defined under studies; defined: position_bias",
        ),
        (
            "tables/parse_failures/study",
            "none",
            "tables/parse_failures/study: 'none' is not defined under studies; defined: position_bias",
        ),
        (
            "tables/human_agreement/n",
            3,
            "tables/human_agreement/n: 3 is not among the scales of study 'position_bias'",
        ),
        (
            "figures/position_selection/strategy",
            "all",
            "figures/position_selection/strategy: 'all' is not among the strategies of study 'position_bias'",
        ),
        (
            "tables/rank_reversal",
            {"other": "all"},
            "tables/rank_reversal/other: 'all' is not among the strategies of study 'position_bias'",
        ),
        (
            "tables/permutation_vs_repeat",
            {"baseline": "fixed"},
            "tables/permutation_vs_repeat/baseline: 'fixed' is not among the strategies of study 'position_bias'",
        ),
        (
            "figures/score_position",
            {"dataset": "hanna"},
            "figures/score_position/dataset: 'hanna' is not among the datasets of study 'position_bias'",
        ),
        (
            "figures/position_selection/profile",
            "high",
            "figures/position_selection/profile: 'high' is not among the profiles of study 'position_bias'",
        ),
        (
            "datasets/demo/human_scale",
            [5, 1],
            "datasets/demo/human_scale: expected the least score and then the greatest, found 5, 1",
        ),
        (
            "datasets/demo/adapter",
            "csv",
            f"datasets/demo/adapter: 'csv' is not one of {', '.join(map(repr, datasets.REGISTRY.names()))}",
        ),
        (
            "datasets/demo/files/tasks",
            {"url": "https://example.org/tasks"},
            "datasets/demo/files/tasks: expected either 'path', or 'url' and 'sha256'",
        ),
        (
            f"{JUDGE}/answer_format",
            "feedback",
            f"{JUDGE}/answer_prefix: it is for answer_format 'score', found answer_format 'feedback'",
        ),
        (
            "tables/corrected_means",
            {"margin": 0.07},
            "tables/corrected_means/margin: expected one of statistics/corrected_means/margins, 0.05, 0.1, 0.15, 0.2,"
            " 0.3, 0.5, found 0.07",
        ),
        (
            f"{JUDGE}/engine_args/quantization",
            "fp8",
            f"{JUDGE}/engine_args/quantization: set {JUDGE}/quantization instead",
        ),
        (
            f"{JUDGE}/engine_args/seed",
            1,
            f"{JUDGE}/engine_args/seed: set {JUDGE}/sampling/seed instead",
        ),
        (
            f"{JUDGE}/engine_args/data_parallel_size",
            2,
            f"{JUDGE}/engine_args/data_parallel_size: set {JUDGE}/shards instead: a job uses one copy of the model",
        ),
    ],
)
def test_what_a_schema_cannot_say_is_one_line_with_the_path_of_the_key(config, path, value, message):
    config = put(config, path, value)
    read(config)
    assert problem(check, config) == f"config: {message}"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("strategies", ["sorted"], "'descending', 'rotated', 'recorded', found 'sorted'"),
        ("conditions", ["letters"], "'neutral_1', 'neutral_2', 'neutral_3', 'together', found 'letters'"),
        ("strategies", ["balance"], "found 'balance'; did you mean 'balanced'?"),
        ("probe", "order", "'list_order', 'pair_order', 'score_order'; did you mean 'pair_order'?"),
    ],
)
def test_a_study_is_told_what_its_probe_offers(config, key, value, message):
    config["studies"]["other"] = config["studies"]["position_bias"] | {key: value}
    (line,) = problem(check, config).splitlines()
    assert line.startswith(f"config: studies/other/{key}: ")
    assert message in line


# Studies of the order of criteria.

SEVERAL = {"probe": "criterion_order", "datasets": ["hanna"], "judges": ["smollm2_135m"]}


@pytest.fixture
def several(root):
    """The demo with a study of the order of criteria."""
    config = with_ready_made(root, root / "config/demo.yaml")
    config["studies"]["several"] = copy.deepcopy(SEVERAL)
    return config


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "studies/position_bias/crossed",
            True,
            "studies/position_bias/crossed: it is for probe 'criterion_order', found probe 'score_order'",
        ),
        (
            "tables/halo",
            {"study": "position_bias"},
            "tables/halo: study 'position_bias' has probe 'score_order'; expected 'criterion_order'",
        ),
        (
            "tables/human_agreement/study",
            "several",
            "tables/human_agreement: study 'several' has probe 'criterion_order'; expected 'score_order'",
        ),
        (
            "statistics/halo/alone",
            ["several"],
            "statistics/halo/alone: study 'several' has probe 'criterion_order'; expected 'score_order'",
        ),
        (
            "statistics/halo/alone",
            ["none"],
            "statistics/halo/alone: 'none' is not defined under studies; defined: position_bias, several",
        ),
        (
            "tables/crossed_orders",
            {"study": "several"},
            "tables/crossed_orders/study: study 'several' varies one order only; expected one with crossed: true",
        ),
        (
            "figures/criterion_order",
            {"study": "several", "datasets": ["hanna", "hana"]},
            "figures/criterion_order/datasets: 'hana' is not among the datasets of study 'several'",
        ),
        (
            "tables/rank_reversal",
            {"other": "balanced"},
            "tables/rank_reversal/other: expected a strategy to compare with 'balanced', found the same",
        ),
        (
            f"{JUDGE}",
            {"engine": "vllm", "model": "m", "criteria_format": "lines", "reasoning_end": "</think>"},
            f"{JUDGE}/criteria_format: 'lines' leaves no room to reason; expected 'free' with reasoning_end",
        ),
    ],
)
def test_what_does_not_fit_the_order_of_criteria_is_one_line(several, path, value, message):
    config = put(several, path, value)
    read(config)
    assert problem(check, config) == f"config: {message}"


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ("several", "statistics/scales: study 'several' has probe 'criterion_order'; expected 'score_order'"),
        ("none", "statistics/scales/studies: 'none' is not defined under studies; defined: position_bias, several"),
    ],
)
def test_the_studies_of_scales_are_checked_where_their_table_is_made(several, study, message):
    config = put(several, "statistics/scales/studies", [study])
    check(config)
    assert problem(check, put(config, "tables/scales", {})) == f"config: {message}"


def test_a_study_of_the_order_of_criteria_may_use_every_ordering_whatever_the_scale(several):
    put(several, "studies/several/strategies", ["all", "balanced_williams"])
    put(several, "studies/several/scales", [9])
    put(several, "tables/criterion_order", {"study": "several", "n": 9, "strategy": "all"})
    check(several)


SIMULATION = {
    "seed": 1,
    "preference": [0, 0.5, 1],
    "interaction": [[0, 1], [1, 0]],
    "criterion_position": -0.5,
    "failure_rate": [0, 0.1],
    "seconds_per_request": 0.5,
}


def test_a_simulated_judge_is_described_by_its_parameters(config):
    config[JUDGE.split("/")[0]]["planted"] = {"engine": "simulated", "model": "planted", "simulation": SIMULATION}
    check(config)
    filled = read(config).judges["planted"].simulation.block()
    assert Simulation(**filled) == Simulation(**SIMULATION, family=[])  # the schema's defaults are those of the model
    # Later ones are not filled in: requests are named by what is, and keep their names.
    later = {"writing_error", "reviewing_error"}
    assert set(filled) == {field.name for field in dataclasses.fields(Simulation)} - later


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("bias", 1, "judges/planted/simulation: unknown key 'bias'; expected seed, leniency, spread"),
        ("tolerance", 0, "judges/planted/simulation/tolerance: 0 is less than or equal to the minimum of 0"),
        ("preference", "middle", "judges/planted/simulation/preference: 'middle' does not match '^(none|first|last|"),
        ("failure_rate", 1.5, "judges/planted/simulation/failure_rate: 1.5 is greater than the maximum of 1"),
        ("failure_rate", [0, 2], "judges/planted/simulation/failure_rate/1: 2 is greater than the maximum of 1"),
        ("interaction", [[0, 1], 2], "judges/planted/simulation/interaction/1: expected a list, found 2"),
    ],
)
def test_a_parameter_of_a_simulated_judge_that_is_wrong_is_one_line(config, key, value, message):
    config["judges"]["planted"] = {"engine": "simulated", "model": "planted", "simulation": {key: value}}
    assert problem(read, config).startswith(f"config: {message}")


def test_an_interaction_is_a_rectangle(config):
    config["judges"]["planted"] = {
        "engine": "simulated",
        "model": "p",
        "simulation": {"interaction": [[0, 1], [1, 2, 3]]},
    }
    found = problem(check, config)
    assert found == "config: judges/planted/simulation/interaction: expected rows of one length, found lengths 2, 3"


def test_a_simulation_is_for_simulated_judges(config):
    found = problem(check, put(config, f"{JUDGE}/simulation", {"seed": 1}))
    assert found == f"config: {JUDGE}/simulation: it is for engine 'simulated', found engine 'vllm'"


def test_how_long_a_simulated_answer_takes_is_not_part_of_a_judges_identity():
    def identity(**settings):
        return judges.read({"engine": "simulated", "model": "m", **settings}).identity(judges.FORMATS)

    def simulated(**simulation):
        return identity(simulation=simulation)

    assert simulated(seconds_per_request=1.0, preference=[1.0, 0]) == simulated(
        seconds_per_request=0, preference=[1, 0]
    )
    assert simulated(preference=[1, 0]) != simulated(preference=[0, 1])
    assert "simulation" not in identity()


ENDPOINT = {"engine": "openai", "model": "a-model", "base_url": "https://example.org/v1"}


@pytest.mark.parametrize(
    ("changes", "problem_"),
    [
        ({}, None),
        ({"base_url": None, "serve": {}}, None),
        ({"sampling": {"temperature": None, "seed": None}}, None),
        ({"dialect": "vllm", "answer_format": "score", "answer_prefix": "Score: ", "second_request": True}, None),
        ({"base_url": None, "serve": {}, "answer_format": "score", "answer_prefix": "Score: "}, None),
        ({"base_url": None, "serve": {}, "engine_args": {"enforce_eager": True}}, None),
        ({"prices": {"prompt": 1, "completion": 2}, "budget": {"cost": 5}}, None),
        ({"base_url": None}, "base_url: engine 'openai' needs either base_url, or serve for a server of its own"),
        (
            {"base_url": "http://127.0.0.1:99999/v1"},
            "base_url: 'http://127.0.0.1:99999/v1': Port out of range 0-65535",
        ),
        ({"base_url": "http://localhost:8000/v1", "api_key_env": "KEY"}, None),
        ({"base_url": "http://127.0.0.9/v1", "extra_headers": {"X-Tenant": "$TENANT"}}, None),
        ({"base_url": "http://[::1]:8000/v1", "api_key_env": "KEY"}, None),
        ({"base_url": "http://example.org/v1", "extra_headers": {"X-Price": "$$5"}}, None),
        ({"base_url": "http://gpu17:8000/v1", "api_key_env": "KEY", "key_over_http": True}, None),
        (
            {"base_url": "http://gpu17:8000/v1", "api_key_env": "KEY"},
            "base_url: 'http://gpu17:8000/v1': the key or a header with a variable would cross the network in plain"
            " text; expected https, or key_over_http: true",
        ),
        (
            {"base_url": "http://10.0.0.7/v1", "extra_headers": {"X-Tenant": "$TENANT"}},
            "base_url: 'http://10.0.0.7/v1': the key or a header with a variable would cross the network in plain"
            " text; expected https, or key_over_http: true",
        ),
        ({"extra_body": {"stream": True}}, "extra_body/stream: leave it out; an answer is read whole"),
        ({"extra_body": {"n": 2}}, "extra_body/n: set greedy_repeats and a strategy's budget instead"),
        (
            {"extra_body": {"max_completion_tokens": 4000}},
            "extra_body/max_completion_tokens: set sampling/max_tokens, with max_tokens_name instead",
        ),
        (
            {"profiles": {"low": {"extra_body": {"temperature": 1}}}},
            "profiles/low/extra_body/temperature: set sampling/temperature instead",
        ),
        (
            {"budget": {"tokens": 5}, "profiles": {"p": {"sampling": {"max_tokens": None}}}},
            "profiles/p/sampling/max_tokens: limits of tokens or cost need a value, to know the most that a call can"
            " use",
        ),
        ({"serve": {}}, "base_url: engine 'openai' needs either base_url, or serve for a server of its own"),
        (
            {"base_url": None, "serve": {}, "api_key_env": "KEY"},
            "api_key_env: the server of serve has a key of its own",
        ),
        (
            {"base_url": None, "serve": {}, "sampling": {"seed": None}},
            "sampling/seed: the server of serve needs a value",
        ),
        (
            {"engine_args": {"enforce_eager": True}},
            "engine_args: it is for a model that is loaded here, by engine 'vllm' or with serve",
        ),
        (
            {"answer_format": "score", "answer_prefix": "Score: "},
            "answer_prefix: over an endpoint it needs dialect 'vllm'",
        ),
        ({"second_request": True}, "second_request: over an endpoint it needs dialect 'vllm'"),
        ({"criteria_format": "lines"}, "criteria_format: over an endpoint it needs dialect 'vllm'"),
        (
            {"reasoning_end": "</think>"},
            "reasoning_end: over an endpoint the server parts reasoning from answer; expected null",
        ),
        (
            {"sampling": {"max_tokens": None}, "budget": {"tokens": 5}},
            "sampling/max_tokens: limits of tokens or cost need a value, to know the most that a call can use",
        ),
        (
            {"sampling": {"max_tokens": None}, "tokens_per_minute": 5},
            "sampling/max_tokens: limits of tokens or cost need a value, to know the most that a call can use",
        ),
        ({"budget": {"cost": 5}}, "budget/cost: it needs prices"),
        ({"engine": "vllm"}, "base_url: it is for engine 'openai'"),
        (
            {"engine": "vllm", "base_url": None, "profiles": {"low": {"extra_body": {"reasoning_effort": "low"}}}},
            "profiles/low/extra_body: it is for engine 'openai'",
        ),
        (
            {"engine": "vllm", "base_url": None, "profiles": {"own": {"sampling": {"seed": None}}}},
            "profiles/own/sampling/seed: null leaves it to an endpoint; engine 'vllm' needs a value",
        ),
        ({"engine": "vllm", "base_url": None, "extra_body": {"a": 1}}, "extra_body: it is for engine 'openai'"),
        (
            {"engine": "vllm", "base_url": None, "sampling": {"top_p": None}},
            "sampling/top_p: null leaves it to an endpoint; engine 'vllm' needs a value",
        ),
    ],
)
def test_settings_that_do_not_fit_an_engine_are_named(config, changes, problem_):
    config["judges"]["mine"] = {**ENDPOINT, **changes}
    if problem_ is None:
        check(config)
    else:
        assert problem(check, config) == f"config: judges/mine/{problem_}"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("base_url", "example.org/v1"),
        ("base_url", "https://user:password@example.org/v1"),
        ("base_url", "https://example.org/v1?key=1"),
        ("api_key_env", "sk-0123-456"),
        ("extra_headers", {"X-Number": 5}),
        ("concurrency", 0),
        ("prices", {"prompt": 1}),
        ("serve", {"port": 8000}),
    ],
)
def test_settings_of_an_endpoint_have_their_shape(config, key, value):
    config["judges"]["mine"] = {**ENDPOINT, key: value}
    if key == "serve":
        del config["judges"]["mine"]["base_url"]
    assert problem(read, config).startswith(f"config: judges/mine/{key}")


def test_two_judges_of_one_model_name_take_their_weights_from_one_file(config):
    first = config["judges"]["smollm2_135m"]
    config["judges"]["another"] = {**copy.deepcopy(first), "answer_format": "feedback", "answer_prefix": ""}
    check(config)
    config["judges"]["another"]["gguf"]["file"] = "Other.gguf"
    found = problem(check, config)
    assert (
        found
        == "config: judges/smollm2_135m/gguf: judge 'another' takes model 'SmolLM2-135M-Instruct' from another file"
    )


def test_all_orderings_of_nine_levels_are_too_many(config):
    put(config, f"{STUDY}/scales", [5, 9])
    put(config, f"{STUDY}/strategies", ["all", "balanced"])
    found = problem(check, config)
    assert found == (
        f"config: {STUDY}/strategies: strategy 'all' with 9 options has 362880 orderings; use 'random' instead"
    )


def test_all_that_is_wrong_is_said_at_once_a_line_each(config):
    put(config, f"{STUDY}/judges", ["gpt4", "gpt5"])
    put(config, "tables/human_agreement/n", 3)
    lines = problem(check, config).split("\n")
    assert [line.split(": ")[:2] for line in lines] == [
        ["config", f"{STUDY}/judges"],
        ["config", f"{STUDY}/judges"],
        ["config", "tables/human_agreement/n"],
    ]


def test_the_settings_that_engine_arguments_may_not_repeat_exist():
    for own in OWN_SETTINGS.values():
        place = schema.of_model(judges.Vllm)
        for key in own.split("/"):
            place = place["properties"][key]


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("datasets/demo/limit", "2", 2),
        ("datasets/demo/limit", "null", None),
        ("datasets/demo/limit", "many", "many"),
        ("datasets/demo/limit", "2.5", "2.5"),
        ("judges/smollm2_135m/sampling/temperature", "0.3", 0.3),
        ("studies/position_bias/scales", "[2, 3]", [2, 3]),
        ("judges/smollm2_135m/model", "5", "5"),
        ("judges/smollm2_135m/answer_format", "score", "score"),
    ],
)
def test_a_text_of_the_command_line_is_read_where_the_schema_wants_no_text(config, path, text, value):
    *blocks, key = path.split("/")
    block = config
    for name in blocks:
        block = block[name]
    block[key] = text
    if type(value) is str and value != "score" and key != "model":  # it does not become what the model wants
        assert f"found {value!r}" in problem(read, config)
        return
    found = read(config).block()
    for name in path.split("/"):
        found = found[name]
    assert found == value
    assert type(found) is type(value)


def test_an_endpoint_is_asked_by_one_job(config):
    """Its jobs would wait for each other, each with a slot of its own."""
    config["judges"]["smollm2_135m"] = {"engine": "openai", "model": "m", "answer_format": "feedback", "shards": 2}
    config["judges"]["smollm2_135m"]["base_url"] = "https://example.org/v1"
    said = problem(check, config)
    assert "shards: one job asks an endpoint, with many calls at once; expected 1, found 2" in said


@pytest.mark.parametrize(
    ("references", "message"),
    [
        ({"hana": {"file": "own.csv"}}, "references/hana: 'hana' is not defined under datasets"),
        ({"demo": {}}, "references/demo: expected either 'judges' or a 'file'"),
        ({"demo": {"file": "own.csv", "judges": ["smollm2_135m"]}}, "expected either 'judges' or a 'file'"),
        ({"demo": {"judges": ["nobody"]}}, "references/demo/judges: 'nobody' is no judge that can be asked"),
        ({"demo": {"judges": ["smollm2_135m"], "levels": [1, 6]}}, "levels: expected scores from 1 to 5, found 6"),
        (
            {"demo": {"judges": ["smollm2_135m"], "rounds": 2}},
            "writes at temperature 0, and would write the same again",
        ),
        ({}, "conditions: 'reference_3' shows an answer that is written for 3; expected a dataset of the study under"),
    ],
)
def test_what_is_wrong_with_reference_answers_is_one_line(config, references, message):
    config["references"] = references
    config["studies"]["position_bias"]["conditions"] = ["baseline", "reference_3"]
    read(config)
    assert message in problem(check, config)


@pytest.mark.parametrize("role", ["writing", "reviewing"])
def test_the_sampling_of_reference_answers_is_checked_as_a_profile_is(config, role):
    config["judges"]["paid"] = {"engine": "openai", "base_url": "https://e.org/v1", "model": "m", "budget": {"cost": 1}}
    config["judges"]["paid"] |= {"prices": {"prompt": 1, "completion": 1}, "answer_format": "feedback"}
    config["references"] = {"demo": {"judges": ["paid"], "rounds": 1, role: {"max_tokens": None}}}
    expected = (
        f"config: references/demo/{role}/max_tokens: limits of tokens or cost need a value, to know the most that"
    )
    assert problem(check, config) == f"{expected} a call can use (judge 'paid')"
    config["references"]["demo"] |= {"judges": ["smollm2_135m"], role: {"temperature": None}}
    expected = f"references/demo/{role}/temperature: null leaves it to an endpoint; engine"
    assert expected in problem(check, config)


def test_reference_answers_that_can_be_made_pass(config):
    config["references"] = {"demo": {"judges": ["smollm2_135m"], "rounds": 2, "writing": {"temperature": 1}}}
    config["studies"]["position_bias"]["conditions"] = ["baseline", "reference_3"]
    check(config)


def test_a_sample_of_items_is_for_studies_that_score(config):
    config["studies"]["position_bias"] |= {"probe": "pair_order", "strategies": ["swap"], "sample": 3}
    read(config)
    assert "/sample: probe 'pair_order' compares texts" in problem(check, config)


@pytest.mark.parametrize(
    ("path", "value", "close"),
    [
        ("studies/position_bias/stratgies", ["balanced"], "strategies"),
        ("studeis", {}, "studies"),
        ("judges/mine/engine", "opnai", "openai"),
        ("datasets/demo/adapter", "dmo", "demo"),
        ("studies/position_bias/judges", ["smollm_135m"], "smollm2_135m"),
    ],
)
def test_a_misspelt_key_or_name_is_answered_with_the_nearest_one(config, path, value, close):
    config["judges"]["mine"] = dict(ENDPOINT)
    put(config, path, value)

    assert problem(check, config).endswith(f"; did you mean {close!r}?")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("timeout", 1e308),
        ("requests_per_minute", 1e300),
        ("max_attempts", 10**30),
        ("budget", {"cost": 1e308}),
        ("budget", {"calls": 10**30}),
        ("sampling", {"seed": 2**63}),
        ("sampling", {"temperature": 1e308}),
        ("extra_body", {"n_probs": 10**30}),
        ("base_url", "http://x y"),
        ("base_url", "http://x/v 1"),
        ("base_url", "http://x\ny/v1"),
        ("base_url", "http://x/v1\n"),
        ("base_url", "http://x\\y"),
        ("base_url", "http://x:99999/v1"),
        ("extra_headers", {"Content-Length": "5"}),
        ("extra_headers", {"transfer-encoding": "chunked"}),
        ("extra_headers", {"X-Title": "a\nb"}),
        ("extra_headers", {"X-Title": "für"}),
        ("extra_headers", {"X Title": "a"}),
        ("extra_headers", {"": "a"}),
        ("label", "red \x1b[31m"),
        ("label", "half \ud83d"),
    ],
)
def test_nonsense_of_an_endpoint_is_refused_before_anything_is_asked(config, key, value):
    config["judges"]["mine"] = {**ENDPOINT, key: value}

    message = problem(check, config)
    assert message.startswith(f"config: judges/mine/{key}")
    assert message.isprintable()


def test_a_key_that_was_renamed_is_taken_with_a_warning_and_one_that_went_says_why(monkeypatch, caplog):
    monkeypatch.setattr(Sampling, "RENAMED", {"nucleus": "top_p"})
    judge = judges.read({"engine": "simulated", "model": "m", "sampling": {"nucleus": 0.5}})
    assert judge.sampling.top_p == 0.5
    assert "key 'nucleus' is called 'top_p' now" in caplog.text
    with pytest.raises(ValidationError, match="keys nucleus and top_p are one"):
        judges.read({"engine": "simulated", "model": "m", "sampling": {"nucleus": 0.5, "top_p": 1}})
