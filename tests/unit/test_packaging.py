"""Things to hand on: sdist and wheel, the image, and the citation."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml
from factories import ROOT
from installed import installed

BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"


def build(kind: str, source: Path, into: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, f"build_{kind}", str(into)],
        cwd=source,
        capture_output=True,
        text=True,
        check=True,
    )
    return into / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist of a clean copy of the project, and the wheel of the sdist."""
    folder = tmp_path_factory.mktemp("built")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        if name.startswith(("workflow/", "resources/")) or "/" not in name:
            target = folder / "source" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            source = ROOT / name
            if source.is_symlink():
                target.symlink_to(os.readlink(source))
            elif source.exists():
                target.write_bytes(source.read_bytes())
    sdist = build("sdist", folder / "source", folder)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    (folder / "wheel").mkdir()
    return sdist, build("wheel", unpacked, folder / "wheel")


@pytest.mark.slow
def test_the_wheel_of_the_sdist_has_every_file_of_the_library(built: tuple[Path, Path]):
    library = ROOT / "workflow/scripts"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "rubric_order"], cwd=library, capture_output=True, text=True, check=True
    ).stdout
    expected = set()
    for name in filter(None, listed.split("\0")):
        path = library / name  # a link to a folder of resources stands for its files
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
        expected |= {file.relative_to(library).as_posix() for file in files}
    with zipfile.ZipFile(built[1]) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert expected - packed == set()
    assert packed <= expected


@pytest.mark.slow
def test_what_is_built_passes_the_checks_of_the_index(
    built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
):
    tools = installed(tmp_path_factory, "packaging")
    environment = os.environ | {"PYTHONPATH": str(tools)}
    for words in (["twine", "check", "--strict", *built], ["check-wheel-contents", built[1]]):
        command = [sys.executable, tools / "bin" / words[0], *words[1:]]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_description_of_the_package_stands_by_itself(built: tuple[Path, Path]):
    """On the page of an index, a link or a picture with a relative address leads nowhere."""
    with zipfile.ZipFile(built[1]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        metadata = Parser().parsestr(wheel.read(name).decode())
    text = metadata.get_payload()
    assert "rubric-order certify" in text
    assert [link for link in re.findall(r"\]\(([^)]*)\)|src=\"([^\"]*)", text) if "://" not in "".join(link)] == []
    assert (metadata["License-Expression"], metadata["Requires-Python"]) == ("MIT", ">=3.11")
    versions = [f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)]
    assert set(versions) <= set(metadata.get_all("Classifier"))


def test_the_image_copies_what_is_there_and_installs_a_list_that_is_there():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (.*)$", text, re.MULTILINE):
        *sources, _ = line.split()
        assert all((ROOT / source).exists() for source in sources), line
    (installation,) = re.findall(r"^RUN requirements/install.sh python3 .venv \"(\S+)\"", text, re.MULTILINE)
    default = re.search(r"^ARG DEVICE=(\w+)$", text, re.MULTILINE)[1]
    named = set(re.findall(r"DEVICE=(\w+)", text))
    assert named == {default, "cuda"}
    assert all((ROOT / installation.replace("${DEVICE}", name)).is_file() for name in named)
    copied = text[: text.index("RUN requirements")]
    assert all(f"COPY {name}" in copied for name in ("pyproject.toml", "requirements", "resources", "workflow"))


def test_the_citation_has_the_version_of_the_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["version"] == project["version"]
    assert citation["title"].startswith(project["name"])
    assert citation["license"] == project["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]


@pytest.mark.slow
def test_the_citation_is_valid_by_its_schema(tmp_path_factory: pytest.TempPathFactory):
    tools = installed(tmp_path_factory, "packaging")
    command = [sys.executable, tools / "bin/cffconvert", "--validate", "-i", ROOT / "CITATION.cff"]
    environment = os.environ | {"PYTHONPATH": str(tools)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
