"""Entry points: which classes there are, and what is wrong with those of other packages."""

import subprocess
import sys
import tomllib

import pytest

from rubric_order import datasets, probes
from rubric_order.base import plugins
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter
from rubric_order.intake.recorded import formats

GROUP = "rubric_order.datasets"
READS = "from rubric_order.datasets import Adapter\n\n\nclass Mine(Adapter):\n"
MODULES = {
    "whole": f"{READS}    files = ()\n\n    def read(self):\n        yield from ()\n",
    "broken": "import no_such_module\n",
    "malformed": "def\n",
    "exiting": "import sys\n\nsys.exit(0)\n",
    "cancelled": "import asyncio\n\nraise asyncio.CancelledError\n",
    "interrupted": "raise KeyboardInterrupt\n",
    "another": "class Mine:\n    pass\n",
    "function": "def Mine():\n    pass\n",
    "partial": f"{READS}    pass\n",
}
WRONG = f"package my-package: entry point 'mine' of {GROUP}: expected a subclass of rubric_order.datasets.Adapter"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install packages of one entry point each; return the registry of adapters as a new process would see it."""

    def install(**values: str) -> plugins.Plugins[Adapter]:
        for package, value in values.items():
            name, _, target = value.partition("=")
            folder = tmp_path / f"{package}-1.0.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text(f"Name: {package.replace('_', '-')}\nVersion: 1.0\n")
            (folder / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {target}\n")
        for name, text in MODULES.items():
            (tmp_path / f"plugin_{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, f"plugin_{name}", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        plugins.forget()
        return plugins.Plugins(GROUP, Adapter)

    yield install
    plugins.forget()


@pytest.mark.parametrize("registry", [probes.REGISTRY, datasets.REGISTRY, formats.REGISTRY])
def test_all_of_ours_are_loaded_and_are_in_the_modules_that_their_entry_points_name(registry):
    for name in registry.names():
        loaded = registry.load(name)
        assert issubclass(loaded, registry.base)
        assert loaded.__module__ == registry.module(name)


def test_what_is_installed_has_the_entry_points_of_the_file(root):
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    assert "entry-points" in settings["project"]["dynamic"]
    file = root / settings["tool"]["setuptools"]["dynamic"]["entry-points"]["file"]
    assert file.parent == root / "workflow/scripts/rubric_order"
    assert file.name in settings["tool"]["setuptools"]["package-data"]["rubric_order"]


def test_names_and_modules_of_ours_are_told_without_importing_them(root):
    program = (
        "import sys\n"
        "from rubric_order import datasets, probes\n"
        "print(probes.names(), datasets.REGISTRY.names(), probes.REGISTRY.module('score_order'))\n"
        "print([name for name in sys.modules if name.startswith(('rubric_order.probes.', 'rubric_order.datasets.'))])\n"
        "print({'numpy', 'pandas'} & {*sys.modules})\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=root / "workflow/scripts", capture_output=True, text=True, check=True
    )
    assert run.stdout.endswith("[]\nset()\n"), run.stdout


def test_a_class_of_another_package_stands_after_ours(installed):
    registry = installed(my_package="mine=plugin_whole:Mine")
    assert (registry.names()[0], *registry.names()[-2:]) == ("autoj", "summeval", "mine")
    assert registry.module("mine") == "plugin_whole"
    assert registry.load("mine").files == ()


@pytest.mark.parametrize("package", ["rubric_order", "Rubric_Order", "rubric.order"])
def test_the_copy_of_our_entry_points_in_installed_metadata_is_left_alone(installed, package):
    registry = installed(**{package: "demo=rubric_order.datasets.gone:Demo"})
    assert registry.load("demo").__name__ == "Demo"


def test_a_distribution_without_a_name_is_no_traceback(installed, tmp_path):
    """A half-written folder of metadata, such as one of an installation that was killed."""
    registry = installed(my_package="mine=plugin_whole:Mine")
    (tmp_path / "my_package-1.0.dist-info/METADATA").write_text("")
    assert "custom" in registry.names()


def test_a_name_that_nobody_registers_is_answered_with_the_nearest_one(installed):
    with pytest.raises(InputError, match=r"^'min' is not one of 'autoj', .*'mine'; did you mean 'mine'\?$"):
        installed(my_package="mine=plugin_whole:Mine").load("min")


@pytest.mark.parametrize(
    ("values", "name", "packages"),
    [
        ({"my_package": "mine=plugin_whole:Mine", "yours": "mine=plugin_whole:Mine"}, "mine", "my-package and yours"),
        ({"my_package": "demo=plugin_whole:Mine"}, "demo", "rubric-order and my-package"),
    ],
)
def test_a_name_of_two_packages_is_an_error_that_names_both(installed, values, name, packages):
    registry = installed(**values)
    assert registry.names().count(name) == 1
    for use in (registry.load, registry.module):
        with pytest.raises(InputError) as error:
            use(name)
        assert str(error.value) == f"{name!r} is registered in {GROUP} by {packages}; expected one package"
    assert registry.load("hanna")  # others can be used


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("plugin_absent:Mine", ", but 'plugin_absent:Mine' cannot be imported: ModuleNotFoundError: No module named"),
        ("plugin_whole:Yours", ", but 'plugin_whole:Yours' cannot be imported: AttributeError: module 'plugin_whole'"),
        ("plugin_broken:Mine", ", but 'plugin_broken:Mine' cannot be imported: ModuleNotFoundError: No module named"),
        ("plugin_malformed:Mine", ", but 'plugin_malformed:Mine' cannot be imported: SyntaxError: invalid syntax"),
        ("plugin_exiting:Mine", ", but 'plugin_exiting:Mine' cannot be imported: SystemExit: 0"),
        ("plugin_cancelled:Mine", ", but 'plugin_cancelled:Mine' cannot be imported: CancelledError: "),
        ("no-name", ", but 'no-name' cannot be imported: "),
        ("plugin_whole", ", found <module 'plugin_whole'"),
        ("plugin_another:Mine", ", found <class 'plugin_another.Mine'> in 'plugin_another:Mine'"),
        ("plugin_function:Mine", ", found <function Mine at "),
        ("plugin_partial:Mine", " with all that it asks for, but 'plugin_partial:Mine' lacks read, files"),
    ],
)
def test_what_is_wrong_with_a_class_names_package_entry_point_and_base(installed, target, message):
    registry = installed(my_package=f"mine={target}")
    assert "mine" in registry.names()
    for use in (registry.load, registry.module):
        with pytest.raises(InputError) as error:
            use("mine")
        assert str(error.value).startswith(WRONG + message)


def test_an_interrupt_during_an_import_stays_one(installed):
    with pytest.raises(KeyboardInterrupt):
        installed(my_package="mine=plugin_interrupted:Mine").load("mine")


def test_a_module_of_a_result_that_ends_the_program_is_an_error_with_its_name(installed):
    installed(my_package="mine=plugin_whole:Mine")
    with pytest.raises(
        InputError, match=r"^package plugin_exiting: 'plugin_exiting' cannot be imported: SystemExit: 0"
    ):
        plugins.imported("plugin_exiting")


def test_a_defect_of_ours_keeps_its_traceback(monkeypatch):
    monkeypatch.setitem(sys.modules, "rubric_order.datasets.demo", None)
    with pytest.raises(ModuleNotFoundError):
        datasets.REGISTRY.load("demo")


def test_the_contract_of_importers_has_the_name_that_packages_of_others_import():
    from rubric_order.recorded import fields
    from rubric_order.recorded.formats import Importer

    assert Importer is formats.Importer
    assert fields.name("judge") == "judge"
