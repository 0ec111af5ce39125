"""Mistakes in files of datasets and their messages: the rows of `tests/data/dataset_errors.yaml`."""

import copy
import re

import pytest
import yaml
from factories import ROOT, put
from test_mutations import DATASETS, Dataset, dump

from rubric_order import datasets
from rubric_order.base.errors import InputError

ROWS = yaml.safe_load((ROOT / "tests/data/dataset_errors.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [pytest.param(name, *row, id=f"{name}: {row[0]}") for name, rows in ROWS.items() for row in rows],
)
def test_a_mistake_in_a_file_is_one_line_that_names_file_place_and_field(tmp_path, name, changes, message):
    dataset = DATASETS[name]() if name in DATASETS else Dataset(name, {}, ())
    content = {file: [*map(copy.deepcopy, records)] for file, (records, _) in dataset.files.items()}
    content["options"] = dataset.options
    for path, value in changes.items():
        put(content, path, value)
    paths = {file: tmp_path / f"{file}.{kind}" for file, (_, kind) in dataset.files.items()}
    for file, path in paths.items():
        path.write_bytes(dump(content[file], dataset.files[file][1]))
    with pytest.raises(InputError) as error:
        datasets.prepare("d", datasets.read(dataset.adapter, paths, content["options"], dataset="d"))
    expected = re.escape(message).replace("…", ".*")
    for file, path in paths.items():
        expected = expected.replace(rf"\{{{file}\}}", re.escape(str(path)))
    assert re.fullmatch(expected, str(error.value)), error.value
