"""The run that the tests of a file are about: of each config that its `CONFIGS` names."""

import pytest
import yaml

from .rehearsal import ROOT, rehearse


def pytest_generate_tests(metafunc):
    metafunc.parametrize("rehearsed", metafunc.module.CONFIGS, indirect=True, scope="module")


@pytest.fixture(scope="module")
def rehearsed(request, tmp_path_factory):
    """A config as its file has it, and the folder in which it was rehearsed."""
    folder = tmp_path_factory.mktemp("rehearsed")
    rehearse(request.param, folder)
    return yaml.safe_load((ROOT / request.param).read_text(encoding="utf-8")), folder
