"""Every table of the catalogue prints labels of judges and datasets, and no id of config."""

import importlib

import pandas as pd
import pytest
import whole_study
from whole_study import DATASETS, PUBLISHED, settings

from rubric_order import catalogue, tables
from rubric_order.base.conditions import select_condition
from rubric_order.base.keys import BASELINE
from rubric_order.base.labels import Labels, order_by_labels, replace_ids

NAMES = ("Judge One", "Judge Two", "Judge Three")
LABELS = Labels(dict(zip(whole_study.COMPARING_JUDGES, NAMES, strict=True)), DATASETS | {PUBLISHED: "The HANNA set"})
# They name neither a judge nor a dataset of config: means over all, single comparisons, a paper's numbers.
WITHOUT_NAMES = {"preference_summary", "published_shifts"}
WITH_ROWS_OF_A_PAPER: tuple[str, ...] = ()
STATISTICS = whole_study.Statistics(whole_study.inputs())


@pytest.mark.parametrize("name", catalogue.TABLES)
def test_a_printed_table_has_labels_and_no_id(name, tmp_path):
    module, given = importlib.import_module(catalogue.module("tables", name)), dict(settings()["tables"][name])
    condition = given.pop("condition", BASELINE)
    read = {
        each: order_by_labels(select_condition(STATISTICS[each], condition), LABELS)
        for each in catalogue.TABLES[name].statistics
    }
    study = next((found["study"].iloc[0] for found in read.values() if "study" in found), "s")
    given |= {key: study if key == "study" else [study] for key in ("study", "studies") if key in given}
    rows, printed = tables.study_rows(module.TABLE, read, given)
    tables.write(rows, replace_ids(printed, LABELS), tmp_path / name, "caption")
    text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert text.count("\n") > 2, "no row"
    assert not any(each in text for each in ("zz_", PUBLISHED)), text
    assert any(label in text for label in [*LABELS.judges.values(), *LABELS.datasets.values()]) != (
        name in WITHOUT_NAMES
    ), text


@pytest.mark.parametrize("name", catalogue.TABLES)
def test_a_table_is_written_also_without_a_row(name, tmp_path):
    module, given = importlib.import_module(catalogue.module("tables", name)), dict(settings()["tables"][name])
    given.pop("condition", None)
    given |= {key: "s" if key == "study" else ["s"] for key in ("study", "studies") if key in given}
    rows, printed = tables.study_rows(
        module.TABLE, {each: STATISTICS[each].head(0) for each in catalogue.TABLES[name].statistics}, given
    )
    tables.write(rows, replace_ids(printed, LABELS), tmp_path / name, "caption")
    assert len(list(tmp_path.iterdir())) == 4
    assert name in WITH_ROWS_OF_A_PAPER or rows.empty


@pytest.mark.parametrize("name", [name for name in catalogue.TABLES if "also" in settings()["tables"][name]])
def test_rows_of_further_studies_follow_and_say_whose_they_are(name):
    module, given = importlib.import_module(catalogue.module("tables", name)), dict(settings()["tables"][name])
    condition = given.pop("condition", BASELINE)
    alone = {each: select_condition(STATISTICS[each], condition) for each in catalogue.TABLES[name].statistics}
    study = next(found["study"].iloc[0] for found in alone.values() if "study" in found)
    both = {
        each: pd.concat([found, found.assign(study="further")]) if "study" in found else found
        for each, found in alone.items()
    }
    rows, printed = tables.study_rows(module.TABLE, alone, given | {"study": study})
    twice, printed_twice = tables.study_rows(module.TABLE, both, given | {"study": study, "also": ["further", study]})
    assert twice["study"].tolist() == [study] * len(rows) + ["further"] * len(rows)
    assert printed_twice["study"].tolist() == [study] * len(printed) + ["further"] * len(printed)
    same = [column for column in rows if column != "study"]
    pd.testing.assert_frame_equal(twice[same].tail(len(rows)).reset_index(drop=True), rows[same].reset_index(drop=True))
