import ast
import json
import os
import shutil
import sys

import pytest

from rubric_order import catalogue
from rubric_order.base import code_hash
from rubric_order.base.code_hash import code_version

FILES = {
    "entry_a.py": '"""Entry."""\nfrom rubric_order import plan\n\nplan.go()\n',
    "entry_b.py": "from rubric_order.figures import bars\n\nbars.draw()\n",
    "entry_c.py": "import json\nfrom rubric_order import engines\n\nengines.load()\n",
    "entry_d.py": "from rubric_order import figures\n\nprint(figures.lines.draw())\n",
    "entry_e.py": "import rubric_order.figures\n\nrubric_order.figures.bars.draw()\n",
    "rubric_order/__init__.py": '__version__ = "1"\n',
    "rubric_order/plan.py": "from rubric_order import __version__\nfrom rubric_order.seeds import SEED\n\n"
    "def go():\n    return SEED\n",
    "rubric_order/seeds.py": "import rubric_order.deep\n\nSEED = 1\n",
    "rubric_order/deep.py": "import rubric_order.plan\n\nVALUE = [1, 2]\n",
    "rubric_order/unrelated.py": "X = 1\n",
    "rubric_order/figures/__init__.py": "WIDTH = 1\n",
    "rubric_order/figures/bars.py": "def draw():\n    return 1\n",
    "rubric_order/figures/pies.py": "def draw():\n    from rubric_order.figures import bars\n\n"
    "    return bars.draw()\n",
    "rubric_order/figures/lines.py": "def draw():\n    return 2\n",
    "rubric_order/engines/__init__.py": "import importlib\n\ndef load():\n    importlib.import_module('x')\n",
    "rubric_order/engines/fast.py": "from rubric_order.engines import load\n\nSPEED = 9\n",
}


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def versions(scripts):
    code_hash._read.cache_clear()  # files are written faster here than their time stamps tell apart
    loaded = {"c": ["engines/fast.py"]}
    return {name: code_version(scripts / f"entry_{name}.py", loaded.get(name, ())) for name in "abcde"}


def changed_by(scripts, name, text):
    """Entries that have another version after a file got another text."""
    before = versions(scripts)
    (scripts / name).write_text(text)
    after = versions(scripts)
    return "".join(entry for entry in before if before[entry] != after[entry])


@pytest.mark.parametrize(
    "text",
    [
        "# A comment.\nimport rubric_order.deep\n\n\n\nSEED = 1  # another\n",
        '"""A docstring\n\nof three lines."""\n\nimport rubric_order.deep\nSEED = 1\n',
        "import rubric_order.deep\nSEED = (\n    1\n)\n",
        FILES["rubric_order/seeds.py"],
    ],
)
def test_comments_docstrings_layout_and_touching_change_nothing(scripts, text):
    assert changed_by(scripts, "rubric_order/seeds.py", text) == ""


@pytest.mark.parametrize("head", ["def go():", "async def go():", "class go:"])
def test_docstrings_of_functions_and_classes_change_nothing(scripts, head):
    changed_by(scripts, "rubric_order/plan.py", f"{head}\n    x = 1\n")
    assert changed_by(scripts, "rubric_order/plan.py", f'{head}\n    """Go."""\n    x = 1\n') == ""
    assert changed_by(scripts, "rubric_order/plan.py", f'{head}\n    x = 1\n    """No docstring."""\n') == "a"


SHOWN = (
    "from rubric_order.catalogue import Shown\n",
    "A = Shown(('b',), title='A.', caption='B.', derived=('c',))\n",
)
COLUMN = (
    "from rubric_order.contracts.contract import Column\n",
    "A = Column('a', 'int8', unit='points', meaning='Length.')\n",
)
SETTING = (
    "from rubric_order.settings.base import Role, setting\n",
    "a = setting(1, 'A text.', reruns='all', role=Role.RUN)\n",
)


@pytest.mark.parametrize(
    ("before", "text", "entries"),
    [
        (COLUMN, "A = Column('a', 'int8', unit='tokens', meaning='Length of the answer.')\n", ""),
        (COLUMN, "A = Column('a', 'int16', unit='points', meaning='Length.')\n", "a"),
        (SHOWN, "A = Shown(('b',), title='Another.', caption='Longer.', derived=('c',))\n", ""),
        (SHOWN, "A = Shown(('b',), title='A.', caption='B.', derived=('d',))\n", "a"),
        (COLUMN, "A = other('a', 'int8', unit='tokens', meaning='Length.')\n", "a"),
        (SETTING, "a = setting(1, 'A better text.', reruns='less', role=Role.RUN)\n", ""),
        (SETTING, "a = setting(1, description='A better text.', role=Role.RUN)\n", ""),
        (SETTING, "a = setting(2, 'A text.', reruns='all', role=Role.RUN)\n", "a"),
        (SETTING, "a = setting(1, 'A text.', reruns='all', role=Role.WIRE)\n", "a"),
        (SETTING, "a = setting(1, 'A text.', reruns='all', role=Role.RUN, otherwise='none')\n", "a"),
    ],
)
def test_descriptions_of_columns_and_settings_count_for_nothing_and_all_else_counts(scripts, before, text, entries):
    changed_by(scripts, "rubric_order/plan.py", "".join(before))
    assert changed_by(scripts, "rubric_order/plan.py", before[0] + text) == entries


def test_a_function_of_the_same_name_that_is_not_ours_counts_whole(scripts):
    other = "from helpdesk.settings import setting\n"
    changed_by(scripts, "rubric_order/plan.py", f"{other}a = setting('alpha', 0.05, reruns=3)\n")
    assert changed_by(scripts, "rubric_order/plan.py", f"{other}a = setting('alpha', 0.5, reruns=3)\n") == "a"
    assert changed_by(scripts, "rubric_order/plan.py", f"{other}a = setting('alpha', 0.5, reruns=5)\n") == "a"


@pytest.mark.parametrize(
    ("before", "after"),
    [("x = 1", "x = 1.0"), ("x = None", "x = ''"), ("x = []", "x = [0]"), ("def f(): return", "def f(a): return")],
)
def test_every_change_of_what_the_code_does_counts(scripts, before, after):
    changed_by(scripts, "rubric_order/plan.py", before)
    assert changed_by(scripts, "rubric_order/plan.py", after) == "a"


def test_the_version_of_a_file_is_the_same_in_every_version_of_python(scripts):
    # Python 3.12 and 3.13 gave functions new fields and leave out empty ones; this is a hash that all of them give.
    (scripts / "entry_x.py").write_text("def go(n, *, fast=None):\n    return [f'{n:03d}', {}]\n")
    assert code_version(scripts / "entry_x.py") == "9544f4e57c7b4ea4"


def test_touching_a_file_changes_nothing(scripts):
    before = versions(scripts)
    for path in scripts.rglob("*.py"):
        os.utime(path, (1, 1))
    assert versions(scripts) == before


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("entry_a.py", "a"),
        ("rubric_order/plan.py", "a"),
        ("rubric_order/seeds.py", "a"),
        ("rubric_order/deep.py", "a"),
        ("rubric_order/unrelated.py", ""),
        ("rubric_order/figures/bars.py", "be"),
        ("rubric_order/figures/__init__.py", "bde"),
        ("rubric_order/figures/lines.py", "d"),
        ("rubric_order/figures/pies.py", ""),
        ("rubric_order/engines/__init__.py", "c"),
        ("rubric_order/engines/fast.py", "c"),  # it is loaded by its name
    ],
)
def test_a_changed_constant_changes_the_entries_that_import_it_and_no_others(scripts, name, entries):
    text = FILES[name] + "ADDED = 1\n"
    assert changed_by(scripts, name, text) == entries


def test_another_program_version_alone_changes_nothing(scripts):
    assert changed_by(scripts, "rubric_order/__init__.py", '__version__ = "2"\n') == ""


def test_a_module_that_is_loaded_by_its_name_counts_with_what_it_imports(scripts):
    entry = scripts / "entry_c.py"
    assert len({code_version(entry, [f"figures/{name}.py"]) for name in ("bars", "lines", "pies")}) == 3
    before = [code_version(entry, ["figures/pies.py"]), code_version(entry, ["engines/fast.py"])]
    changed_by(scripts, "rubric_order/figures/bars.py", "def draw():\n    return 3\n")  # pies imports it when it draws
    after = [code_version(entry, ["figures/pies.py"]), code_version(entry, ["engines/fast.py"])]
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True]


def test_a_new_module_that_nobody_names_changes_nothing(scripts):
    assert changed_by(scripts, "rubric_order/engines/slow.py", "SPEED = 1\n") == ""


def test_a_module_that_is_not_there_is_an_error(scripts):
    with pytest.raises(FileNotFoundError, match=r"slow\.py"):
        code_version(scripts / "entry_c.py", ["engines/slow.py"])


def test_a_version_does_not_depend_on_where_the_project_lies(scripts, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name, text in FILES.items():
        (elsewhere / name).parent.mkdir(parents=True, exist_ok=True)
        (elsewhere / name).write_text(text)
    assert versions(elsewhere) == versions(scripts)


def test_a_changed_file_is_seen_by_a_process_that_goes_on(scripts):
    before = code_version(scripts / "entry_a.py")
    (scripts / "rubric_order/deep.py").write_text("VALUE = [1, 3]\n")
    os.utime(scripts / "rubric_order/deep.py", (1, 1))
    assert code_version(scripts / "entry_a.py") != before


def kept_of(scripts, name="deep"):
    return scripts / f"rubric_order/__pycache__/{name}.syntax.json"


def test_what_was_found_of_a_file_is_taken_while_the_file_and_the_way_to_hash_are_the_same(scripts, monkeypatch):
    before = versions(scripts)
    found = json.loads(kept_of(scripts).read_text())
    kept_of(scripts).write_text(json.dumps(found | {"syntax": "another"}))
    assert versions(scripts)["a"] != before["a"]  # it is what counts
    monkeypatch.setattr(code_hash, "_own", lambda: b"another way")
    assert versions(scripts) == before
    assert changed_by(scripts, "rubric_order/deep.py", "VALUE = [1, 3]\n") == "a"


@pytest.mark.parametrize("kept", ["", "{", "[]", "{}", '{"content": 1}', "\N{LATIN SMALL LETTER E WITH ACUTE}"])
def test_what_was_kept_badly_is_found_again(scripts, kept):
    before = versions(scripts)
    kept_of(scripts).write_text(kept, encoding="latin-1")
    assert versions(scripts) == before
    assert json.loads(kept_of(scripts).read_text())["used"] == ["rubric_order.plan"]


def test_where_nothing_can_be_kept_versions_are_the_same(scripts):
    before = versions(scripts)
    shutil.rmtree(scripts / "rubric_order/__pycache__")
    (scripts / "rubric_order/__pycache__").touch()
    assert versions(scripts) == before


def test_every_entry_script_of_the_project_has_a_version_of_its_own(root):
    scripts = sorted((root / "workflow/scripts").glob("*.py"))
    assert len({code_version(script) for script in scripts}) == len(scripts) >= 10


def test_the_project_has_no_relative_imports_which_would_not_be_followed(root):
    for path in (root / "workflow/scripts").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path


def test_no_code_that_judges_is_part_of_what_draws_a_figure_or_a_table(root):
    root /= "workflow/scripts"
    shown = [("render_table.py", catalogue.module_file("tables", table)) for table in catalogue.TABLES]
    shown += [("draw_figure.py", catalogue.module_file("figures", figure)) for figure in catalogue.FIGURES]
    for script, module in shown:
        library = closure(root, script, module) - {root / script}
        parts = [path.relative_to(root / "rubric_order").parts for path in library if path.name != "__init__.py"]
        packages = {part[0] if part[0] != "extras" else part[2] for part in parts} - {module.split("/")[2]}
        assert packages <= {"base", "contracts", "strategies.py", "methods", "analyses", "tables", "figures", "jobs"}, (
            module
        )


def test_a_table_counts_no_other_table(root):
    root /= "workflow/scripts"
    for table in catalogue.TABLES:
        module = catalogue.module_file("tables", table)
        library = closure(root, "render_table.py", module) - {root / "render_table.py"}
        library = [path.relative_to(root / "rubric_order") for path in library]
        found = {path.as_posix() for path in library if path.name == "table.py" or path.parts[0] == "tables"}
        shared = {f"tables/{name}.py" for name in ("__init__", "columns", "spec")}  # what all tables are made of
        assert found == {*shared, module}


def closure(root, script, module):
    pending, seen = [root / script, root / "rubric_order" / module], set()
    while pending:
        path = pending.pop()
        if path not in seen:
            seen.add(path)
            _, imported = code_hash._read(path, path.stat().st_mtime_ns)
            pending += [found for name in imported for found in code_hash._files(root, name)]
    return seen


@pytest.fixture
def other(tmp_path_factory, monkeypatch):
    """A folder on the path, with packages that nobody has imported."""
    folder = tmp_path_factory.mktemp("other")
    for name in ("letters/__init__.py", "letters/data/deep.py", "letters/table.py", "space/one/a.py", "space/two/b.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("X = 1\n")
    (folder / "letters/probe.py").write_text("from letters import words\n\n\ndef go():\n    import letters.data.deep\n")
    (folder / "letters/words.py").write_text("from . import signs\nfrom .data.near import X\n")
    for name in ("letters/signs.py", "letters/data/__init__.py", "letters/data/near.py"):
        (folder / name).write_text("X = 1\n")
    for name in ("space/one/__init__.py", "space/two/__init__.py", "alone.py"):
        (folder / name).write_text("from rubric_order import plan\n\nraise RuntimeError\n")
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.mark.parametrize(
    ("module", "counted", "others"),
    [
        (
            "letters.probe",
            [
                *("letters/__init__.py", "letters/probe.py", "letters/words.py", "letters/signs.py"),
                *("letters/data/__init__.py", "letters/data/near.py", "letters/data/deep.py"),
            ],
            ["alone.py", "letters/table.py"],
        ),
        ("letters.data.near", ["letters/__init__.py", "letters/data/__init__.py"], ["letters/data/deep.py"]),
        ("space.one.a", ["space/one/__init__.py", "space/one/a.py"], ["space/two/b.py", "letters/probe.py"]),
        ("alone", ["alone.py"], ["letters/probe.py"]),
    ],
)
def test_a_module_of_another_package_counts_with_what_it_imports_of_it_and_none_is_imported(
    scripts, other, module, counted, others
):
    for name in counted:
        before = code_version(scripts / "entry_c.py", [module])
        (other / name).write_text(f"# A comment.\n{(other / name).read_text()}")
        code_hash._read.cache_clear()
        assert code_version(scripts / "entry_c.py", [module]) == before
        (other / name).write_text(f"{(other / name).read_text()}ADDED = 1\n")
        code_hash._read.cache_clear()
        assert code_version(scripts / "entry_c.py", [module]) != before
    before = code_version(scripts / "entry_c.py", [module])
    for name in others:
        (other / name).write_text("ADDED = 1\n")
    code_hash._read.cache_clear()
    assert code_version(scripts / "entry_c.py", [module]) == before
    assert not {"letters", "space.one", "alone"} & {*sys.modules}
    assert not list(other.rglob("*.json"))


def test_what_another_package_imports_of_the_library_counts(scripts, other):
    before = code_version(scripts / "entry_c.py", ["alone"])
    changed_by(scripts, "rubric_order/deep.py", "VALUE = [1, 3]\n")
    assert code_version(scripts / "entry_c.py", ["alone"]) != before


def test_the_version_does_not_depend_on_where_another_package_lies(scripts, other, tmp_path_factory, monkeypatch):
    before = code_version(scripts / "entry_c.py", ["letters.probe"])
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.move(other / "letters", elsewhere / "letters")
    monkeypatch.syspath_prepend(elsewhere)
    assert code_version(scripts / "entry_c.py", ["letters.probe"]) == before


@pytest.mark.parametrize(
    "module", ["absent", "absent.probe", "space.absent", "letters.absent", "rubric_order.figures.absent"]
)
def test_a_module_that_no_package_has_is_an_error(scripts, other, module):
    with pytest.raises(FileNotFoundError, match="absent"):
        code_version(scripts / "entry_c.py", [module])


def test_a_dotted_name_of_the_library_is_its_module(scripts):
    dotted, path = "rubric_order.figures.pies", "figures/pies.py"
    assert code_version(scripts / "entry_c.py", [dotted]) == code_version(scripts / "entry_c.py", [path])


def test_two_functions_that_import_different_modules_under_one_name_use_both(scripts):
    text = "def {}():\n    from rubric_order.{} import X as it\n"
    changed_by(scripts, "rubric_order/plan.py", text.format("f", "seeds") + text.format("g", "deep"))
    assert "a" in changed_by(scripts, "rubric_order/seeds.py", "SEED = 'another'\n")
    assert "a" in changed_by(scripts, "rubric_order/deep.py", "X = 'another'\n")


def test_a_longer_name_counts_for_each_package_that_functions_import_under_one_name(scripts):
    text = "def f():\n    from rubric_order import figures as it\n    return it.lines.draw()\n"
    text += "def g():\n    from rubric_order import engines as it\n    return it.fast.SPEED\n"
    changed_by(scripts, "rubric_order/plan.py", text)
    assert "a" in changed_by(scripts, "rubric_order/figures/lines.py", "def draw():\n    return 3\n")
    assert "a" in changed_by(scripts, "rubric_order/engines/fast.py", "SPEED = 10\n")


def test_a_description_counts_where_its_function_shares_its_name_with_another(scripts):
    text = "def f():\n    from rubric_order.contracts.contract import Column\n    return Column('a', 'int8')\n"
    text += "def g():\n    from rubric_order.seeds import SEED as Column\n    return Column('a', meaning='{}')\n"
    changed_by(scripts, "rubric_order/plan.py", text.format("This."))
    assert changed_by(scripts, "rubric_order/plan.py", text.format("That.")) == "a"
