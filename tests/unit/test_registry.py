"""Results of other packages: what is found of them, and what is wrong with their records and modules."""

import json
import sys

import jsonschema
import pytest

from rubric_order import catalogue, registry
from rubric_order.base import plugins
from rubric_order.base.errors import InputError
from rubric_order.run import loading
from rubric_order.run.core import Run
from rubric_order.run.results import Derived, Shown
from rubric_order.settings import results, schema
from rubric_order.settings.config import Config

WHERE = "package my-package: entry point '{}' of rubric_order.results"
RECORD = """
from rubric_order.catalogue import Result, Shown, Statistic
from rubric_order.settings.base import Count, Settings, setting


class Block(Settings):
    least: Count = setting(2, "The least.")
    study: str = setting("s", "Study to show.")
    columns: Count = setting(4, "Panels a row.")


RESULT = Result(
    "plugin_gap",
    statistic=Statistic(
        probes=("score_order",), reads=("power",), settings=("gap", "bootstrap/seed"), derived=("bases",), block=Block,
        methods="It is a gap [@me2026; @you2026].",
    ),
    table=Shown(("gap", "power"), "Gaps", "Gap, table", block=Block),
    figure=Shown(("gap",), "Gaps", "Gap, figure", block=Block),
    references="@misc{me2026,\\n  title = {Gaps}\\n}\\n\\n@misc{you2026,\\n  title = {More}\\n}",
)
"""
MODULES = {
    "estimate": "COLUMNS = {}\n\n\ndef estimate(scores, power, **settings):\n    return scores\n",
    "table": "from there import TABLE\n\nCAPTION = 'Of {gap[least]} and {least} at {bootstrap[confidence]:.0%}.'\n",
    "figure": "CAPTION = 'A gap.'\n\n\ndef draw(gap, *, view, layout, labels):\n    return gap\n",
}
CONFIG = {"datasets": {"demo": {"adapter": "demo"}}, "judges": {}, "studies": {}}
STUDY = {"datasets": ["demo"], "judges": ["j"], "strategies": ["balanced"]}
JUDGES = {
    "j": {"engine": "simulated", "model": "m", "simulation": {"preference": "first"}, "answer_format": "score"},
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package with a result, whose record or modules are changed; forget it in the end."""

    def forget():
        plugins.forget()
        registry.load.cache_clear()
        results.model.cache_clear()

    def install(name="gap", *, value="plugin_gap:RESULT", package="my-package", **replaced):
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[rubric_order.results]\n{name} = {value}\n")
        (tmp_path / "plugin_gap").mkdir(exist_ok=True)
        (tmp_path / "plugin_quits.py").write_text("raise SystemExit(0)\n")
        for module, text in {"__init__": RECORD, **MODULES}.items():
            old, new = replaced.get(module.strip("_"), ("", ""))
            assert old in text
            (tmp_path / f"plugin_gap/{module}.py").write_text(text.replace(old, new, 1))
        monkeypatch.delitem(sys.modules, "plugin_gap", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        forget()

    yield install
    forget()


def test_results_of_other_packages_stand_after_ours_and_have_modules_of_their_own(install):
    install()
    for kind, module in catalogue.MODULES.items():
        assert registry.names(kind)[-1] == "gap"
        assert registry.module(kind, "gap") == registry.code(kind, "gap") == f"plugin_gap.{module}"
        assert "plugin_gap.table" not in sys.modules  # only its syntax is read
    assert registry.behind(["gap"]) == ["gap", "power", "position_selection"]
    assert registry.probes(["gap"]) == {"score_order"}
    assert registry.code("tables", "scales") == "analyses/position/scales/table.py"


def test_names_are_told_without_importing_a_package(install):
    install(init=("", "raise RuntimeError\n"))
    assert registry.names("tables")[-1] == "gap"
    Config.read(CONFIG | {"tables": {"datasets": {}}})
    assert "plugin_gap" not in sys.modules


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({"init": ("RESULT = Result", "OTHER = Result")}, "cannot be imported: AttributeError"),
        ({"init": ("from rubric_order.catalogue", "from rubric_order.absent")}, "cannot be imported: ModuleNotFound"),
        ({"value": "plugin_gap:Block"}, "expected a record of rubric_order.catalogue.Result, found <class"),
        ({"init": ('"plugin_gap",', '"plugin_gaps",')}, "module 'plugin_gaps.estimate' is missing"),
        ({"init": ("Statistic(\n", "dict(\n")}, "statistic: expected a catalogue.Statistic, found {'probes'"),
        (
            {"init": ('"power",), settings', '"powr",), settings')},
            "reads: 'powr' is no statistic; did you mean 'po",
        ),
        (
            {"init": ('("gap", "power")', '("gasp", "power")')},
            "table: statistics: 'gasp' is no statistic; did you",
        ),
        (
            {"init": ('("bases",)', '("basis",)')},
            "statistic: derived: 'basis' is not one of bases, call_prices,",
        ),
        ({"init": ("misc{you2026", "misc{you")}, "methods: 'you2026' is cited; expected an entry of this key in refer"),
        ({"estimate": ("def estimate", "def estimat")}, "module 'plugin_gap.estimate' lacks estimate"),
        ({"estimate": ("COLUMNS", "COLUMN")}, "module 'plugin_gap.estimate' lacks COLUMNS"),
        ({"estimate": ("def", "dfe")}, "module 'plugin_gap.estimate' cannot be read: SyntaxError"),
        (
            {"init": ('"plugin_gap",', '"plugin_quits.gap",')},
            "module 'plugin_quits.gap.estimate' cannot be read: SystemExit",
        ),
        ({"table": ("import TABLE", "import TABLES")}, "module 'plugin_gap.table' lacks TABLE"),
        ({"figure": ("def draw", "def drew")}, "module 'plugin_gap.figure' lacks draw"),
        ({"figure": ("'A gap.'", "str(1)")}, "module 'plugin_gap.figure': CAPTION: expected a plain text"),
        ({"init": ('"Gap, table"', '""')}, "table: expected a category and a title, found ('Gaps', '')"),
        ({"name": "Gap"}, "expected a name of small letters, digits and single underscores, found 'Gap'"),
    ],
)
def test_what_is_wrong_with_a_result_is_one_line_that_names_the_package(install, replaced, message):
    name = replaced.get("name", "gap")
    install(**replaced)
    for kind in ("tables", "figures"):
        with pytest.raises(InputError) as error:
            Config.read(CONFIG | {kind: {name: {}}})
        assert str(error.value).startswith(f"config: {kind}/{name}: {WHERE.format(name)}: ")
        assert message in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("replaced", "config", "message"),
    [
        ({"init": ('"gap", "boot', '"gip", "boot')}, {}, "settings: 'gip' is no block under statistics; did you mean"),
        ({"init": ("/seed", "/sed")}, {}, "settings: 'bootstrap/sed' has no such key; did you mean 'seed'?"),
        ({"init": ("(Settings)", "")}, {}, "block: expected a subclass of rubric_order.settings.base.Settings, found"),
        ({}, {"tables": {"gap": {"lest": 1}}}, "tables/gap: unknown key 'lest'; expected least, study, columns; did"),
        ({}, {"tables": {"gap": {"least": 0}}}, "tables/gap/least: 0 is less than the minimum of 1"),
        (
            {},
            {"figures": {"gap": {"preset": "pge"}}},
            "figures/gap/preset: 'pge' is not one of 'page', 'column', 'slide'",
        ),
        ({}, {"statistics": {"gap": {"lest": 1}}}, "statistics/gap: unknown key 'lest'; expected least"),
        ({}, {"statistics": {"gp": {}}}, "statistics: unknown key 'gp'; expected bootstrap, "),
        ({}, {"tables": {"gop": {}}}, "tables: unknown key 'gop'; expected position_selection, "),
        ({}, {"tables": {"gap": {"study": "t"}}}, "tables/gap/study: 't' is not defined under studies"),
    ],
)
def test_settings_of_a_result_are_checked_as_ours_are(install, root, replaced, config, message):
    install(**replaced)
    whole = {"tables": {"gap": {}}} | config
    with pytest.raises(InputError) as error:
        loading.complete(CONFIG | whole | {"studies": {"s": STUDY}, "judges": JUDGES}, folder=root)
    assert message in str(error.value)


def test_a_name_of_ours_or_of_two_packages_is_an_error_that_names_them(install):
    install("power")
    for use in (registry.statistic, lambda name: registry.module("figures", name)):
        with pytest.raises(InputError, match=r"'power' is registered in .*results by rubric-order and my-package; exp"):
            use("power")
    assert registry.statistic("scales")  # others can be used
    install(package="yours", name="gap")
    install(package="theirs", name="gap")
    with pytest.raises(InputError, match=r"'gap' is registered in .* by theirs and yours; expected one package"):
        registry.statistic("gap")


def test_a_result_without_a_figure_has_none(install, root):
    install(init=('figure=Shown(("gap",), "Gaps", "Gap, figure", block=Block),', ""))
    with pytest.raises(InputError, match=f"figures/gap: {WHERE.format('gap')}: it has no figure$"):
        Config.read(CONFIG | {"figures": {"gap": {}}})
    assert Config.read(CONFIG | {"tables": {"gap": {}}}).statistics.block()["gap"]["least"] == 2


def test_settings_have_their_defaults_presets_and_texts_of_a_command_line(install):
    install()
    text = '{"gap": {"least": 7}}'
    config = CONFIG | {"figures": {"gap": {"preset": "column"}}, "statistics": text}
    loading.size_figures(config)
    read = Config.read(config).block()
    assert read["statistics"]["gap"] == {"least": 7, "study": "s", "columns": 4}
    assert read["figures"]["gap"] == {"preset": "column", "least": 2, "study": "s", "columns": 2}


def test_a_caption_that_names_no_setting_is_one_line(install, root):
    install(table=("{least}", "{most}"))
    config = CONFIG | {"studies": {"s": STUDY}, "judges": JUDGES, "tables": {"gap": {}}}
    run = Run.load(config, root, refuse=InputError)
    with pytest.raises(InputError, match=f"^{WHERE.format('gap')}: CAPTION of its table: KeyError: 'most'; expected"):
        Shown(run, "tables").caption_of("gap")


def test_a_record_can_have_the_caption_and_leave_out_its_own_statistic_and_titles(install):
    figure = 'Shown(category="Gaps", caption="At {least}.", notes="So few.", block=Block), title="Gap"'
    install(init=('Shown(("gap",), "Gaps", "Gap, figure", block=Block)', figure), figure=("CAPTION = 'A gap.'", ""))
    assert registry.caption("figures", "gap") == "At {least}. So few."
    assert registry.shown("figures", "gap")[:3] == (("gap",), "Gaps", "Gap, figure")


def test_the_schema_for_editors_can_have_the_results_that_are_installed(install):
    before = schema.schema()
    install()
    assert schema.schema() == before
    made = json.loads(json.dumps(schema.schema(installed=True)))
    jsonschema.validate(CONFIG | {"tables": {"gap": {"least": 3}}}, made)
    blocks, ours = (part["properties"]["statistics"]["properties"] for part in (made, before))
    assert blocks.keys() - ours.keys() == {"gap"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(CONFIG | {"figures": {"gap": {"lest": 3}}}, made)


def test_a_module_that_cannot_be_imported_in_a_job_is_one_line(install):
    install()
    with pytest.raises(InputError, match=r"^package my-package: 'plugin_gap.table' cannot be imported: ModuleNotFound"):
        plugins.imported("plugin_gap.table")
    with pytest.raises(ModuleNotFoundError):
        plugins.imported("rubric_order.absent")


def test_derived_arguments_are_those_that_a_run_makes():
    assert {name for name in vars(Derived) if name[0] != "_"} - {"of"} == set(catalogue.DERIVED)
