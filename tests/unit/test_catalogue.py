"""The catalogue fits the modules, the schema and the captions."""

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys

import docutils.core
import pytest
from factories import blocks_of_all_results

from rubric_order import catalogue, registry
from rubric_order.figures import presets, style

SHOWN = [
    (kind, name, shown)
    for kind, block in (("tables", catalogue.TABLES), ("figures", catalogue.FIGURES))
    for name, shown in block.items()
]


@pytest.fixture(scope="module")
def defaults():
    """A config of all figures and tables, with every default."""
    return blocks_of_all_results()


def arguments(function):
    """Names of a function's arguments: all, and those that must be given."""
    named = [p for p in inspect.signature(function).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    return {p.name for p in named}, {p.name for p in named if p.default is inspect.Parameter.empty}


def fields_read(code):
    """Fields of its view and layout that code reads, and of a layout that it hands on what `style` reads."""
    fields = set()
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Attribute(value=ast.Name(id="view" | "layout"), attr=field) if field != "rows":
                fields.add(field)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="view"), attr="rows"), args=[_, *keys]):
                fields |= {ast.literal_eval(key) for key in keys}
            case ast.Call(func=ast.Attribute(value=ast.Name(id="style"), attr=name) | ast.Name(id=name), args=args):
                if "layout" in map(ast.unparse, args) and hasattr(style, name):
                    fields |= fields_read(inspect.getsource(getattr(style, name)))
    return fields


def settings_of(statistic, config):
    found = set()
    for path in statistic.settings:
        value = config["statistics"]
        for key in path.split("/"):
            value = value[key]
        found |= {path.rpartition("/")[2]} if "/" in path else set(value)
    return found | {*statistic.derived}


@pytest.mark.parametrize("name", catalogue.STATISTICS)
def test_a_statistic_takes_the_inputs_and_settings_that_the_catalogue_names(name, defaults):
    statistic = catalogue.STATISTICS[name]
    module = importlib.import_module(catalogue.module("statistics", name))
    others = {read for read in statistic.reads if read in catalogue.STATISTICS}
    assert {*statistic.reads} - others <= {*catalogue.INPUTS}
    inputs = {*statistic.reads} | ({"scores"} if statistic.probes else set())
    known, needed = arguments(module.estimate)
    given = inputs | settings_of(statistic, defaults)
    variable = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(module.estimate).parameters.values())
    assert needed <= given
    assert given - known <= (others if variable else set())
    assert set(module.COLUMNS) <= inputs


@pytest.mark.parametrize(("kind", "name", "shown"), SHOWN)
def test_a_table_or_figure_takes_the_statistics_and_settings_that_the_catalogue_names(kind, name, shown, defaults):
    module = importlib.import_module(catalogue.module(kind, name))
    known, needed = arguments(module.TABLE.table if kind == "tables" else module.draw)
    # The rules choose the rows of the condition; modules do not see it.
    given = {*shown.statistics, *defaults[kind][name]} - {"condition"}
    if kind == "figures":
        assert {"view", "layout", "labels"} <= needed
        read = fields_read(inspect.getsource(inspect.getmodule(module.draw)))
        known, needed = (names - {"view", "layout"} | read for names in (known, needed))
        given = {"height_in" if key in presets.LENGTHS else key for key in given} | {"labels"}
    else:
        given -= {"also"}  # nor further studies, see `tables.study_rows`
    assert {*shown.statistics} <= {*catalogue.STATISTICS}
    assert {*shown.derived} <= given
    assert needed <= given <= known
    if kind == "tables":
        assert list(inspect.signature(module.TABLE.printout).parameters) == ["rows"]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name, _ in SHOWN])
def test_a_caption_is_short_and_filled_with_settings_and_is_plain_text(kind, name, defaults):
    assert 0 < len(registry.shown(kind, name).caption.split()) <= 60
    caption = registry.caption(kind, name).format(**defaults["statistics"] | defaults[kind][name])
    assert not set("{}") & set(caption)
    settings = {"report_level": 1, "halt_level": 1}  # any remark of docutils is an error
    html = docutils.core.publish_parts(caption, writer="html", settings_overrides=settings)["body"]
    assert not any(mark in html for mark in ("<em>", "<strong>", "<li>", "<blockquote>", "href"))


@pytest.mark.parametrize(("kind", "name", "shown"), SHOWN, ids=[f"{kind} {name}" for kind, name, _ in SHOWN])
def test_a_caption_that_speaks_of_a_bootstrap_is_of_a_statistic_that_draws_one(kind, name, shown):
    caption = registry.caption(kind, name)
    drawing = {"bootstrap", "bootstrap/resamples", "paired", "paired/resamples"}
    draws = any(drawing & {*catalogue.STATISTICS[read].settings} for read in shown.statistics)
    assert draws or "bootstrap" not in re.sub(r"\{.*?\}", "", caption)


def test_a_folder_has_the_modules_of_its_record_and_no_others(root):
    library = root / "workflow/scripts/rubric_order"
    folders = [path.parent for path in library.glob("analyses/*/*/__init__.py")]
    folders += [path.parent for path in library.glob("extras/**/record.py")]
    assert len(folders) == len({folder.name for folder in folders}) > 70
    for folder in folders:
        record = catalogue.result(folder.name)
        parts = {catalogue.RECORDS[kind] for kind in catalogue.MODULES if folder.name in registry.OURS[kind]}
        assert parts == {part for part in catalogue.RECORDS.values() if getattr(record, part) is not None}
        assert {path.stem for path in folder.glob("*.py")} - {"__init__", "record"} == {
            module for kind, module in catalogue.MODULES.items() if catalogue.RECORDS[kind] in parts
        }


def test_no_record_is_imported_before_it_is_looked_up(root):
    code = "import sys; from rubric_order import catalogue as c; list(c.TABLES); c.module('figures', 'power'); "
    code += "'power' in c.FIGURES; c.STATISTICS['halo']; print(*(name for name in sys.modules if '.record' in name))"
    environment = os.environ | {"PYTHONPATH": str(root / "workflow/scripts")}
    command = [sys.executable, "-c", code]
    listed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    assert listed == ["rubric_order.analyses.criteria.halo.record"]


def test_the_probes_of_a_result_are_those_behind_its_statistics():
    assert registry.probes(("power",)) == {"score_order"}
    assert registry.probes(("halo",)) == {"criterion_order"}
    assert registry.probes(("datasets",)) == set()
    assert registry.probes(("replication",)) == {"score_order", "criterion_order", "pair_order", "list_order"}
