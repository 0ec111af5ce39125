"""The papers' studies: how many reads they have, and how many requests those need."""

import re
from collections import Counter

import pandas as pd
import pytest
import yaml

from rubric_order import datasets
from rubric_order.base import files, randomness
from rubric_order.prompts import orderings
from rubric_order.run import loading
from rubric_order.settings import judges, results


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_no_config_that_comes_with_the_project_repeats_a_key(root):
    paths = sorted((root / "config").rglob("*.yaml"))
    assert len(paths) > 40
    for path in paths:
        assert files.read_yaml(path) is not None, path


@pytest.fixture(params=["position_bias", "position_bias_v1"])
def paper(request, root):
    """A paper's config: its file's text, its studies, and its judges."""
    path = root / f"config/papers/{request.param}.yaml"
    content = load(path)
    named = {judge for study in content["studies"].values() for judge in study["judges"]}
    ready = loading.ready_judges(root / "config")
    known = {name: judges.read(load(ready[name])["judges"][name]) for name in named}
    return path.read_text(encoding="utf-8"), content["studies"], known


def printed(text):
    """The table at the head of the file: reads and new requests of each study."""
    rows = re.findall(r"^#   (\w+) +([\d,]+) +([\d,]+)$", text, flags=re.MULTILINE)
    return {name: tuple(int(number.replace(",", "")) for number in numbers) for name, *numbers in rows}


def variants(study, known):
    """Each judge of a study with the settings of each profile in which it takes part."""
    for judge in study["judges"]:
        for profile in known[judge].profiles_of(study.get("profiles", ["default"])):
            yield judge, known[judge].under(profile)


def chosen(study, dataset, item, n):
    """Every read of an item at a scale: ordering and repeat."""
    for strategy in study["strategies"]:
        rng = randomness.generator(study["seed"], "random orderings", dataset, item, n)
        seen = Counter()
        for row in map(tuple, orderings.choose(strategy, n, budget=study.get("budget"), rng=rng).tolist()):
            yield row, seen[row]
            seen[row] += 1


@pytest.fixture
def sizes(root):
    return pd.read_csv(root / "resources/published/xu2026_table1.csv").set_index("dataset")["n_items"].to_dict()


def test_the_reads_of_each_study_are_as_many_as_its_file_says(paper, sizes):
    text, studies, known = paper
    reads = {
        name: sum(sizes[dataset] for dataset in study["datasets"])
        * sum(len(list(chosen(study, "any", "item", n))) for n in study["scales"])
        * len(list(variants(study, known)))
        for name, study in studies.items()
    }
    table = printed(text)
    assert {name: table[name][0] for name in studies} == reads
    assert table["all"][0] == sum(reads.values())


def test_the_new_requests_of_each_study_are_as_many_as_its_file_says(paper, sizes, mirror, root):
    text, studies, known = paper
    items = {name: published_items(root, mirror, name) for name in sizes}
    sent: dict[str, set] = {name: set() for name in sizes}
    new = dict.fromkeys(studies, 0)
    for name, study in studies.items():
        # hash of what names the judge's requests: a profile that changes nothing asks nothing new
        who = {hash(str((judge, merged.identity(judges.FORMATS)))) for judge, merged in variants(study, known)}
        for dataset in study["datasets"]:
            before = len(sent[dataset])
            for item, text_of_item in items[dataset]:
                for n in study["scales"]:
                    asked = set(chosen(study, dataset, item, n))
                    sent[dataset] |= {(judge, text_of_item, n, *read) for judge in who for read in asked}
            new[name] += len(sent[dataset]) - before
    table = printed(text)
    assert {name: table[name][1] for name in studies} == new
    assert table["all"][1] == sum(new.values())


def published_items(root, mirror, name):
    block = load(root / f"config/datasets/{name}.yaml")["datasets"][name]
    files = {
        key: root / source["path"] if "path" in source else mirror / source["mirror"]
        for key, source in block["files"].items()
    }
    entries = datasets.read(block["adapter"], files, block.get("options", {}), dataset=name)
    table = datasets.prepare(name, entries).items
    # Two systems can have written the same summary: their items share requests.
    texts = table[["instruction", "response", "reference", "rubric_id"]].apply(tuple, axis=1).map(str)
    return list(zip(table["item_id"], texts, strict=True))


def test_the_main_paper_has_about_as_many_calls_as_it_says(root, sizes):
    """Each read once: without what several studies share, and without what the paper does not have."""
    studies = load(root / "config/papers/position_bias.yaml")["studies"]
    items = {name: sum(sizes[dataset] for dataset in study["datasets"]) for name, study in studies.items()}
    once = items["position_bias"] * 3 * 10 * 6  # three strategies, ten reads, six judges
    once += items["scales"] * (4 + 6) * 6 + items["scales_nine"] * 18 * 6
    once += items["temperature"] * 3 * 10 * 4 * 3 + items["effort"] * 3 * 10 * 2 * 2  # without one profile each
    assert once == 2_032_128
    criteria = 6 * 3 * (96 * 12 + 400 * 8)  # Setting 2: stories and summaries
    assert round((once + criteria) / 1e6, 1) == 2.1


def test_the_reads_of_several_criteria_are_as_many_as_the_file_says(root, sizes):
    path = root / "config/papers/criterion_order.yaml"
    texts = {"hanna": (sizes["hanna"] // 6, 6), "summeval": (sizes["summeval"] // 4, 4)}  # stories and summaries
    reads = {}
    for name, study in load(path)["studies"].items():
        for strategy in study["strategies"]:
            rng = randomness.generator(study["seed"], "any")
            budget = {n: len(orderings.choose(strategy, n, rng=rng)) for _, n in texts.values()}
            once = sum(count * budget[n] for count, n in (texts[dataset] for dataset in study["datasets"]))
            reads[name, strategy] = once * len(study["judges"])
    of_paper = sum(reads["criterion_order", strategy] for strategy in ("balanced", "random", "fixed"))
    assert f"{of_paper:,} under the paper's three strategies" in path.read_text(encoding="utf-8")
    assert f"{reads['criterion_order', 'balanced_williams']:,} more under" in path.read_text(encoding="utf-8")
    assert f"{reads['crossed_orders', 'balanced']:,} of the crossed study" in path.read_text(encoding="utf-8")


def test_the_results_of_the_earlier_version_show_all_seven_judges(root):
    config = load(root / "config/papers/position_bias_v1.yaml")
    seen = 0
    for kind in ("tables", "figures"):
        for name, block in config[kind].items():
            if "profile" in results.plain_block(kind, name):
                assert block["profile"] == "all", name
                seen += 1
    assert seen >= 12
    (judges_of_paper,) = {len(pd.read_csv(root / f"resources/published/xu2026_v1_table{n}.csv")) for n in (6,)}
    ready = loading.ready_judges(root / "config")
    ours = {
        judge: judges.read(load(ready[judge])["judges"][judge])
        for judge in config["studies"]["position_bias"]["judges"]
    }
    assert len(list(variants(config["studies"]["position_bias"], ours))) == judges_of_paper == 7
