"""A config from what a user wrote to what the rules read."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from snakemake.utils import update_config

from rubric_order.base.errors import InputError
from rubric_order.run import checks, loading
from rubric_order.run.core import Run
from rubric_order.run.pages import Pages
from rubric_order.settings import schema

JUDGE = {"engine": "vllm", "model": "org/model"}
MINIMAL = {
    "datasets": {"demo": {"adapter": "demo"}},
    "judges": {"mine": JUDGE},
    "studies": {"position_bias": {"datasets": ["demo"], "judges": ["mine"]}},
}


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def completed(config, root):
    return loading.complete(config, folder=root).block()


CONFIGS = ("papers", "examples")
# Without recorded_dir their studies have no judge.
NEEDS_A_FOLDER = ("recorded", "judging_the_judges", "scoring_bias_recorded")


def written(root):
    """Every config that comes with the project, as Snakemake puts it over the default one, which names nothing."""
    default = read(root / "config/config.yaml")
    demo = copy.deepcopy(default)
    update_config(demo, read(root / "config/demo.yaml"))
    yield "demo", demo
    for path in sorted(path for kind in CONFIGS for path in (root / "config" / kind).glob("*.yaml")):
        config = copy.deepcopy(default)
        update_config(config, read(path))
        if path.stem not in NEEDS_A_FOLDER:
            yield path.stem, config


def test_every_config_that_comes_with_the_project_fits_the_schema_for_editors(root):
    validator = Draft202012Validator(schema.schema())
    for path in sorted((root / "config").rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
        assert (path.parent / named[1]).resolve() == root / "workflow/schemas/config.schema.json"
    for name, config in written(root):
        whole = loading.add_ready_made(config, root / "config")
        loading.size_figures(whole)
        assert [error.message for error in validator.iter_errors(whole)] == [], name


def test_a_second_completion_changes_nothing(root):
    once = completed(read(root / "config/demo.yaml"), root)
    assert completed(once, root) == once


def test_a_key_of_the_schema_that_is_left_out_is_there_afterwards(root):
    config = completed(MINIMAL, root)
    assert config["judges"]["mine"]["sampling"] == {
        "temperature": 0,
        "top_p": 1,
        "max_tokens": 1024,
        "seed": 0,
        "stop": [],
    }
    assert config["figures"] == {}  # a figure is made where it is named
    assert "hanna" in config["datasets"]


def test_defaults_are_not_shared_between_blocks(root):
    config = completed({**MINIMAL, "judges": {"mine": dict(JUDGE), "other": dict(JUDGE)}}, root)
    config["judges"]["mine"]["sampling"]["stop"].append("x")
    assert config["judges"]["other"]["sampling"]["stop"] == []


def test_an_error_is_one_line_for_each_thing_that_is_wrong(root):
    config = copy.deepcopy(MINIMAL)
    config["studies"]["position_bias"]["judges"] = ["gpt_9", "gpt_10"]
    with pytest.raises(InputError) as error:
        loading.complete(config, folder=root)
    lines = str(error.value).split("\n")
    assert [line.split(" is not defined")[0] for line in lines] == [
        "config: studies/position_bias/judges: 'gpt_9'",
        "config: studies/position_bias/judges: 'gpt_10'",
    ]


# Labels.


def test_a_judge_or_dataset_without_a_label_is_called_by_its_id(root):
    config = copy.deepcopy(MINIMAL)
    config["judges"]["other"] = {**JUDGE, "label": "Other-1B"}
    config["datasets"] = {"mine": {"adapter": "demo"}}
    config["studies"]["position_bias"]["datasets"] = ["mine"]
    found = completed(config, root)
    assert found["judges"]["mine"]["label"] == "mine"
    assert found["judges"]["other"]["label"] == "Other-1B"
    assert found["datasets"]["mine"]["label"] == "mine"


def test_every_dataset_and_judge_that_comes_with_the_project_has_a_label_of_its_own(root):
    known = {}
    for path in [*(root / "config/datasets").glob("*.yaml"), *(root / "config/judges").glob("*.yaml")]:
        update_config(known, read(path))
    labels = [settings["label"] for block in ("datasets", "judges") for settings in known[block].values()]
    assert len(set(labels)) == len(labels) == len(known["datasets"]) + len(known["judges"])


# Chat templates.


def test_a_chat_template_is_its_text_in_the_completed_config(root, tmp_path):
    template = tmp_path / "chat.jinja"
    template.write_text("{{ messages }}", encoding="utf-8")
    config = completed({**MINIMAL, "judges": {"mine": {**JUDGE, "chat_template": str(template)}}}, root)
    assert config["judges"]["mine"]["chat_template"] == "{{ messages }}"


def test_a_chat_template_that_is_not_there_is_one_line(root):
    with pytest.raises(InputError, match=r"^config: judges/mine/chat_template: nowhere\.jinja: no such file$"):
        completed({**MINIMAL, "judges": {"mine": {**JUDGE, "chat_template": "nowhere.jinja"}}}, root)


def test_a_chat_template_is_utf_8_and_its_line_ends_are_plain(root, tmp_path):
    template = tmp_path / "chat.jinja"
    config = {**MINIMAL, "judges": {"mine": {**JUDGE, "chat_template": str(template)}}}
    template.write_bytes(b"a\r\nb\rc\n")
    assert completed(config, root)["judges"]["mine"]["chat_template"] == "a\nb\nc\n"
    template.write_bytes("é".encode("latin-1"))
    with pytest.raises(InputError, match=r"^config: judges/mine/chat_template: .*line 1: expected UTF-8"):
        completed(config, root)


# The default config, and where files are.


def test_the_default_config_names_nothing_of_the_demo(root):
    default = read(root / "config/config.yaml")
    assert not any(default.values())
    config = completed({**default, **MINIMAL}, root)
    assert list(config["studies"]) == ["position_bias"]
    assert list(config["judges"]) == ["mine"]
    assert (config["figures"], config["tables"]) == ({}, {})


def test_a_path_starts_where_the_workflow_runs_and_else_in_the_project(tmp_path, monkeypatch):
    project, here = tmp_path / "project", tmp_path / "here"
    for folder in (project, here):
        folder.mkdir()
        (folder / "both.csv").touch()
    (project / "ours.csv").touch()
    (here / "mine.csv").touch()
    monkeypatch.chdir(here)
    assert loading.locate("both.csv", project) == "both.csv"
    assert loading.locate("mine.csv", project) == "mine.csv"
    assert loading.locate("ours.csv", project) == str(project / "ours.csv")
    assert loading.locate("none.csv", project) == "none.csv"
    assert loading.locate(str(project / "ours.csv"), here) == str(project / "ours.csv")


def test_the_home_of_a_user_that_is_not_there_is_one_line(root):
    with pytest.raises(InputError, match=r"^config: '~nobody123/x': no home folder is known of that user$"):
        completed({**MINIMAL, "dataset_mirror": "~nobody123/x"}, root)


def test_every_file_that_a_config_names_is_found_by_that_rule(root, tmp_path, monkeypatch):
    (tmp_path / "mine.csv").touch()
    (tmp_path / "chat.jinja").write_text("{{ messages }}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    files = {"items": {"path": "mine.csv"}, "rubrics": {"path": "resources/rubrics/hanna.yaml"}}
    config = {
        "datasets": {"mine": {"adapter": "custom", "files": files}},
        "judges": {"mine": {**JUDGE, "chat_template": "chat.jinja"}},
        "studies": {"position_bias": {"datasets": ["mine"], "judges": ["mine"]}},
        "references": {"mine": {"file": "mine.csv"}, "hanna": {"file": "resources/rubrics/hanna.yaml"}},
        "dataset_mirror": "resources",
    }
    found = completed(config, root)
    assert found["references"]["mine"]["file"] == "mine.csv"
    assert found["references"]["hanna"]["file"] == str(root / "resources/rubrics/hanna.yaml")
    assert found["datasets"]["mine"]["files"]["items"]["path"] == "mine.csv"
    assert found["datasets"]["mine"]["files"]["rubrics"]["path"] == str(root / "resources/rubrics/hanna.yaml")
    assert found["dataset_mirror"] == str(root / "resources")
    assert found["judges"]["mine"]["chat_template"] == "{{ messages }}"


# Recorded judges.


def test_recorded_judges_join_the_studies_of_their_strategy(root, tmp_path):
    (tmp_path / "old.jsonl").write_text('{"item_id": "a", "response": "4"}\n', encoding="utf-8")
    studies = MINIMAL["studies"] | {"old_answers": {"datasets": ["demo"], "strategies": ["recorded"]}}
    config = completed({**MINIMAL, "recorded_dir": str(tmp_path), "studies": studies}, root)
    assert config["judges"]["old"]["engine"] == "recorded"
    assert config["studies"]["old_answers"]["judges"] == ["old"]
    assert config["studies"]["position_bias"]["judges"] == ["mine"]


# What is put over what.


@pytest.mark.parametrize(
    ("config", "over"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}, "d": 4}),
        ({"a": 1}, {"a": {"b": 2}}),
        ({"a": {"b": 2}}, {"a": None}),
        ({"a": [1, 2]}, {"a": [3]}),
        ({}, {"a": {}}),
    ],
)
def test_configs_are_merged_as_snakemake_merges_them(config, over):
    ours, theirs = copy.deepcopy(config), copy.deepcopy(config)
    loading.merge(ours, over)
    update_config(theirs, over)
    assert ours == theirs


def test_loading_imports_nothing_that_is_slow_to_import(root):
    code = (
        "import sys; from pathlib import Path; from rubric_order.run import loading\n"
        "import yaml; config = yaml.safe_load(Path('config/demo.yaml').read_text(encoding='utf-8'))\n"
        "loading.complete(config, folder=Path.cwd())\n"
        "print(*{'numpy', 'pandas', 'scipy', 'pyarrow', 'jinja2', 'snakemake'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, 'workflow/scripts')\n{code}"]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout == "\n"


def scale_of(root, studies, kind, name, **block):
    """Scale of a figure or table in the completed demo, with these studies of its dataset."""
    config = read(root / "config/demo.yaml")
    common = {"datasets": ["demo"], "judges": ["smollm2_135m"]}
    config |= {"studies": {key: common | study for key, study in studies.items()}, "figures": {}, "tables": {}}
    config[kind] = {name: block}
    return loading.complete(config, folder=root).block()[kind][name]["n"]


def test_a_table_shows_the_scale_of_its_study_where_the_usual_one_is_none_of_its(root):
    assert scale_of(root, {"position_bias": {}}, "tables", "bias_cost") == 5
    assert scale_of(root, {"position_bias": {"scales": [3, 5]}}, "tables", "bias_cost") == 5
    assert scale_of(root, {"position_bias": {"scales": [3]}}, "tables", "bias_cost") == 3
    assert scale_of(root, {"position_bias": {"scales": [3, 4]}}, "figures", "score_position") == 3
    assert scale_of(root, {"position_bias": {"scales": [3, 4]}}, "figures", "score_position", n=4) == 4
    criteria = {"criteria": {"probe": "criterion_order", "scales": [4]}}
    for name in ("criterion_order", "criteria_agreement", "carry_over", "halo"):
        assert scale_of(root, criteria, "tables", name, study="criteria") == 4
    two = {"position_bias": {"scales": [3]}, "other": {}}
    assert scale_of(root, two, "tables", "bias_cost", also=["other"]) == 5


def test_a_scale_that_no_study_has_is_one_error_also_where_it_is_written(root):
    with pytest.raises(InputError, match="tables/bias_cost/n: 5 is not among the scales of study 'position_bias'"):
        scale_of(root, {"position_bias": {"scales": [3]}}, "tables", "bias_cost", n=5)


def test_a_study_need_not_have_the_name_of_a_papers_to_be_shown(root):
    study = {"datasets": ["demo"], "judges": ["planted"], "strategies": ["balanced", "fixed"]}
    pairs = {"datasets": ["mtbench_pairs"], "judges": ["planted"], "probe": "pair_order", "strategies": ["swap"]}
    pairs["scales"] = [2]
    written = {
        "judges": {"planted": {"engine": "simulated", "model": "m"}},
        "studies": {"compared": pairs, "mine": study, "second": study},
        "figures": {"position_selection": {}, "position_consistency": {}},
        "tables": {"replication": {}, "human_agreement": {}, "rank_reversal": {"study": "second"}},
    }
    config = loading.complete(written, folder=root)
    shown = {name: block.block().get("study") for name, block in (config.figures | config.tables).items()}
    assert shown["position_selection"] == shown["human_agreement"] == "mine"
    assert shown["rank_reversal"] == "second"
    assert shown["position_consistency"] == "compared"
    assert config.statistics.replication.studies == ["compared", "mine", "second"]

    written["studies"]["position_bias"] = study
    config = loading.complete(written, folder=root)
    assert config.figures["position_selection"].block()["study"] == "position_bias"
    assert config.statistics.replication.studies == ["position_bias"]
    assert "studies" not in written.get("statistics", {}).get("replication", {})


def test_a_run_has_a_folder_of_its_own_in_results(root):
    study = {"datasets": ["demo"], "judges": ["planted"], "strategies": ["balanced"]}
    written = {"judges": {"planted": {"engine": "simulated", "model": "m"}}, "studies": {"mine": study}}
    assert loading.complete(written, folder=root).output == "results"
    assert loading.complete(written | {"output": "results/mine"}, folder=root).output == "results/mine"
    for output in ("results/store", "results/plan", "elsewhere", "results/../x", "/results/mine", "results/a/b"):
        with pytest.raises(InputError, match="config: output: "):
            loading.complete(written | {"output": output}, folder=root)
    taken = r"'pairs' is a folder that each run has in its results; expected another name, such as results/pairs_run"
    with pytest.raises(InputError, match=taken):
        loading.complete(written | {"output": "results/pairs"}, folder=root)
    assert loading.complete(written | {"output": "results/pairs_run"}, folder=root).output == "results/pairs_run"


def test_every_folder_that_a_run_writes_cannot_be_the_folder_of_another(root):
    texts = [path.read_text(encoding="utf-8") for path in (root / "workflow/rules").glob("*.smk")]
    folders = {name for text in texts for name in re.findall(r"""(?:<results>|"results)/([a-z]+)[/"]""", text)}
    folders |= {"settings"}  # made by `Run.settings_file`
    assert folders - {"summary"} == checks.TAKEN


@pytest.fixture
def small(root, tmp_path, monkeypatch):
    """A function that makes a run over one dataset, in a folder of its own; it takes changes of config."""
    monkeypatch.chdir(tmp_path)
    study = {"datasets": ["demo"], "judges": ["planted"], "strategies": ["balanced"]}
    planted = {"engine": "simulated", "model": "m"}
    shown = {"figures": {"position_selection": {}}, "tables": {"parse_failures": {}}}
    return lambda **changes: Run.load(
        {"judges": {"planted": planted}, "studies": {"mine": study}} | shown | changes, root
    )


def test_braces_in_a_path_are_refused_since_snakemake_reads_them_as_wildcards(small, tmp_path):
    small().check_paths()
    (tmp_path / "ta{c}sks.yaml").touch()
    files = {"tasks": {"path": "ta{c}sks.yaml"}}
    with pytest.raises(InputError, match=r"^ta\{c\}sks.yaml: Snakemake reads braces in a path as wildcards"):
        small(datasets={"demo": {"files": files}}).check_paths()


def test_settings_are_written_where_they_have_changed_alone(small):
    """Finished results may be on a disk that cannot be written to."""
    settings = {"timeout": 1}
    path = Path(small().settings_file(settings, tracked={}))
    before = path.stat()
    assert small().settings_file(settings, tracked={}) == str(path)
    assert path.stat().st_ino == before.st_ino
    assert small().settings_file({"timeout": 2}, tracked={}) == str(path)
    assert json.loads(path.read_text()) == {"timeout": 2}


def test_each_form_of_a_result_is_a_target_and_so_are_missing_pages_of_a_summary(small):
    """A page links to them."""
    pages = Pages(small())
    named = [f"results/figures/position_selection.{ending}" for ending in ("svg", "png", "pdf")]
    named += [f"results/tables/parse_failures.{ending}" for ending in ("csv", "md", "tex", "html")]
    assert pages.named_results(None) == named
    Path("results/reads/mine/demo").mkdir(parents=True)
    Path("results/summary.html").touch()
    Path("results/reads/mine/demo/planted.js").touch()
    assert pages.named_results(None) == [*named, "results/reads/mine/index.html"]
