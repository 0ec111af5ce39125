"""Runs of some of a config's judges."""

from pathlib import Path

import pytest
import yaml

from rubric_order import registry
from rubric_order.base.errors import InputError
from rubric_order.run import loading
from rubric_order.run.core import Run
from rubric_order.run.results import Statistics

ROOT = Path(__file__).resolve().parents[2]
JUDGE = {"engine": "vllm", "model": "org/model"}
STUDY = {"datasets": ["demo"]}
CONFIG = {
    "judges": dict.fromkeys(("one", "two", "three"), JUDGE),
    "studies": {
        "position_bias": STUDY | {"judges": ["one", "two"]},
        "alone": STUDY | {"judges": ["three"]},
        "both": STUDY | {"judges": ["three", "one"]},
    },
    "statistics": {"scales": {"studies": ["alone", "both"]}, "halo": {"alone": ["alone"]}},
    "figures": {"position_selection": {"study": "alone"}, "score_effects": {"study": "both"}},
    "tables": {"scoring_averages": {"studies": ["alone", "both"]}, "scoring_advice": {"studies": ["alone"]}},
}


def completed(root, *only, config=CONFIG):
    return loading.complete(config | {"only_judges": [*only]}, folder=root)


def test_studies_keep_the_judges_that_are_named_and_results_the_studies_that_are_left(root):
    config = completed(root, "one")
    assert {name: study.judges for name, study in config.studies.items()} == {"position_bias": ["one"], "both": ["one"]}
    assert list(config.figures) == ["score_effects"]
    assert {name: block.studies for name, block in config.tables.items()} == {"scoring_averages": ["both"]}
    assert config.statistics.scales.studies == ["both"]
    assert config.statistics.halo.alone == []
    assert list(config.judges) == list(CONFIG["judges"])


def test_without_the_key_nothing_is_left_out(root):
    assert list(loading.complete(CONFIG, folder=root).studies) == list(CONFIG["studies"])


def test_judges_stand_in_the_order_of_their_study(root):
    assert completed(root, "one", "three").studies["both"].judges == ["three", "one"]


@pytest.mark.parametrize(
    ("only", "message"),
    [
        (["ome"], "only_judges: no study has judge 'ome'; expected judges of studies: one, two, three; .* 'one'"),
        ([], "only_judges: .* has too few entries"),
        (["one", "one"], "only_judges"),
    ],
)
def test_a_judge_that_no_study_has_is_one_line(root, only, message):
    with pytest.raises(InputError, match=message) as error:
        completed(root, *only)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["position_bias", "criterion_order", "scoring_bias", "position_bias_v1"])
def test_a_run_of_a_paper_is_that_of_one_judge(root, name):
    written = yaml.safe_load((root / f"config/papers/{name}.yaml").read_text(encoding="utf-8"))
    whole = loading.complete(written, folder=root)
    judge = next(iter(whole.studies.values())).judges[0]
    config = completed(root, judge, config=written)
    assert {judge for study in config.studies.values() for judge in study.judges} == {judge}
    assert [*config.studies] == [name for name, study in whole.studies.items() if judge in study.judges]


PAPERS = sorted(
    path.stem
    for path in (ROOT / "config/papers").glob("*.yaml")
    if "recorded_dir" not in (text := path.read_text("utf-8")) and "studies:" in text
)


@pytest.mark.parametrize("name", PAPERS)
def test_every_judge_of_a_paper_can_be_run_alone(root, name):
    """All statistics behind its figures and tables find the studies that they read."""
    written = yaml.safe_load((root / f"config/papers/{name}.yaml").read_text(encoding="utf-8"))
    whole = loading.complete(written, folder=root)
    for judge in dict.fromkeys(judge for study in whole.studies.values() for judge in study.judges):
        config = completed(root, judge, config=written)
        statistics = Statistics(Run(config, root))
        for kind in ("figures", "tables"):
            shown = [registry.shown(kind, block).statistics for block in getattr(config, kind)]
            for statistic in registry.behind({name for names in shown for name in names}):
                files = [path for paths in statistics.inputs(statistic).values() for path in paths]
                studies = {path.split("/")[2] for path in files if path.startswith("results/scores/")}
                assert studies <= {*config.studies}, (judge, statistic)


def test_what_compares_studies_that_are_left_out_is_left_out_too(root):
    config = completed(
        root,
        "two",
        config=CONFIG
        | {"tables": {"scales": {}, "judge_versions": {}}}
        | {"statistics": {"scales": {"studies": ["alone"]}, "golden_scores": {"studies": ["alone"]}}},
    )
    assert [*config.tables] == ["judge_versions"]
    assert config.statistics.golden_scores.studies == []


@pytest.mark.parametrize(
    ("tables", "shown"),
    [
        ({"position_selection": {"study": "alone", "also": ["both"]}}, {"study": "both", "also": []}),
        ({"position_selection": {"study": "alone"}}, None),
    ],
)
def test_a_result_that_can_show_a_study_that_is_left_shows_it(root, tables, shown):
    studies = {name: CONFIG["studies"][name] for name in ("alone", "both")}
    studies["alone"] = studies["alone"] | {"judges": ["two"]}
    config = completed(root, "one", config={"judges": CONFIG["judges"], "studies": studies, "tables": tables})
    block = config.tables.get("position_selection")
    assert (block and {key: getattr(block, key) for key in shown}) == shown
