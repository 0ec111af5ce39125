"""Wildcard constraints, and the functions that give rules their input and params."""

import datetime
import functools
import hashlib
import json
import os
import re
import sys
import types
from pathlib import Path

from snakemake.exceptions import WorkflowError

PROJECT = Path(str(workflow.current_basedir)).parents[1]
SCRIPTS = PROJECT / "workflow" / "scripts"
sys.path.insert(0, str(SCRIPTS))

from rubric_order import catalogue, datasets, probes
from rubric_order.base import command_line, files
from rubric_order.base.code_hash import code_version, constant
from rubric_order.base.errors import InputError
from rubric_order.config import judges, loading, reading, rehearsal
from rubric_order.judging import answers, weights
from rubric_order.judging.engines import ENGINES
from rubric_order.planning import references
from rubric_order.prompts import conditions
from rubric_order.recorded import discovery, formats

# Commands find the Python that runs Snakemake, also where its environment is not activated; with --sdm conda the
# environment of a rule comes before it.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]))

try:
    if (
        Path(workflow.main_snakefile).resolve() == (PROJECT / "Snakefile").resolve()
    ):  # not where it is a module of another
        reading.check(workflow.overwrite_configfiles)
    loading.complete(config, folder=PROJECT)
except InputError as error:
    sys.exit(f"error: {error}")
if not any(config[block] for block in ("studies", "figures", "tables")) and "--lint" not in sys.argv:
    sys.exit("error: config: no study is named; expected --configfile FILE, such as config/demo.yaml (make demo)")

# A rehearsal has a working directory of its own, so that it cannot touch results and response stores. The directive
# `workdir` would not do: Snakemake ignores it where --directory is given.
if config["rehearse"]:
    os.makedirs(rehearsal.FOLDER, exist_ok=True)
    os.chdir(rehearsal.FOLDER)
    print(f"{rehearsal.note(config)} Its results: {rehearsal.FOLDER}/results/", file=sys.stderr)

ID = "[a-z0-9]+(_[a-z0-9]+)*"


wildcard_constraints:
    dataset=ID,
    judge=ID,
    study=ID,
    model=ID,
    shard="[0-9]+",
    file="[a-z0-9_]+",


RECORDED = [name for name, judge in config["judges"].items() if judge["engine"] == "recorded"]
LIVE = [name for name in config["judges"] if name not in RECORDED]


def source(path):
    """Path of a file of the workflow, relative to the working directory where it lies below it."""
    return os.path.relpath(PROJECT / path)


hash_of_code = functools.cache(code_version)


def code(script, *modules):
    """Params function: what an entry script and the library modules behind it do, as a hash.

    Modules that the script loads by name are given as paths in the library, with wildcards (`tables/{table}.py`), or
    as functions of the wildcards that return one path, one dotted name, or several.
    """

    def version(wildcards):
        found = (module(wildcards) if callable(module) else module.format(**wildcards) for module in modules)
        loaded = [path for paths in found for path in ([paths] if isinstance(paths, str) else paths)]
        return hash_of_code(SCRIPTS / script, tuple(loaded))

    return version


def hash_of_parser(wildcards):
    """Params function: what makes scores."""
    return code("parse_scores.py", probe_module)(wildcards)


def adapter_module(wildcards):
    """Name of the module that reads a dataset."""
    return datasets.REGISTRY.module(item_source(wildcards)["adapter"])


def probe_module(wildcards):
    """Name of the module of a study's probe."""
    return probes.REGISTRY.module(config["studies"][wildcards.study]["probe"])


def importer_modules(wildcards):
    """Names of the modules that read recorded answers: which one reads a file is said by the file."""
    return sorted({formats.REGISTRY.module(name) for name in formats.REGISTRY.names()})


def reader_modules(wildcards):
    """Modules of the probes that read a judge's first answers, where they decide on second requests."""
    asks_again = config["judges"][wildcards.judge]["second_request"]
    return sorted(map(probes.REGISTRY.module, {*probes_of(wildcards)})) if asks_again else "probes/__init__.py"


def engine_module(wildcards):
    """Path of the module that runs a judge, in the library."""
    return f"judging/engines/{ENGINES[config['judges'][wildcards.judge]['engine']]}.py"


def entry(script):
    """Path of an entry script."""
    return source(f"workflow/scripts/{script}")


def as_json(value, sort_keys=True):
    """A setting as JSON; the order of keys does not count, unless they are not sorted."""
    return json.dumps(value, sort_keys=sort_keys)


def in_file(value, sort_keys=True):
    """Path of a file with a setting, as a command takes it. The file is named by what it says.

    So command lines, Snakemake's records and the report hold a path, and another setting is another path. A dry run
    writes no file.
    """
    text = as_json(value, sort_keys)
    path = f"results/settings/{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}.json"
    if not (workflow.dryrun or Path(path).exists()):
        files.write_text(text, path)
    return path


def value(path):
    """Function of the wildcards: one value of config. Snakemake's own `lookup` walks through all of config for each job."""
    keys = path.split("/")

    def found(wildcards):
        try:
            return functools.reduce(lambda block, key: block[key.format(**wildcards)], keys, config)
        except KeyError:
            raise WorkflowError(f"config: {path.format(**wildcards)}: not there") from None

    return found


def human_scales(block):
    """Least and greatest human score of each dataset that is judged."""
    judged = sorted({name for study in config["studies"].values() for name in study["datasets"]})
    return {name: config["datasets"][name]["human_scale"] for name in judged}


def temperatures(block):
    """Of judges whose scores are draws from their option probabilities the temperature, by judge and profile."""
    found = {}
    for study in config["studies"].values():
        for name in study["judges"]:
            judge = config["judges"][name]
            for profile in study["profiles"]:
                if profile == judges.DEFAULT_PROFILE or profile in judge["profiles"]:
                    under = judges.with_profile(judge, profile)
                    found.setdefault(name, {})[profile] = judges.draws_at(under)
    return found


def sampling_temperatures(block):
    """Temperature of each judge's answers, by judge and profile; that of recorded answers is not known."""
    found = {}
    for name in LIVE:
        profiles = [judges.DEFAULT_PROFILE, *config["judges"][name]["profiles"]]
        under = {profile: judges.with_profile(config["judges"][name], profile) for profile in profiles}
        found[name] = {profile: judge["sampling"]["temperature"] for profile, judge in under.items()}
    return found


def studies_meant(wildcards):
    """The study that a job is about; where it is about a judge alone, the studies that use the judge."""
    study = wildcards.get("study")
    return [study] if study else list(studies_of(wildcards.judge))


def probes_of(wildcards):
    """The probes of these studies."""
    return [config["studies"][study]["probe"] for study in studies_meant(wildcards)]


def probes_asked(wildcards):
    """Params function of what asks a judge: the probes of these studies, unless this run only tells the costs."""
    if unmade_references():
        raise WorkflowError(
            "plan_cost plans without the reference answers that are not there yet, so that no judge can be asked in the"
            " same run; expected plan_cost alone"
        )
    return probes_of(wildcards)


def used_profiles(wildcards):
    """The profiles of these studies that a judge has."""
    known = config["judges"][wildcards.judge]["profiles"]
    named = (name for study in studies_meant(wildcards) for name in config["studies"][study]["profiles"])
    return list(dict.fromkeys(name for name in named if name == "default" or name in known))


def with_profiles(judge, wildcards):
    """Some of a judge's settings, with its profiles that studies use."""
    profiles = config["judges"][wildcards.judge]["profiles"]
    used = {name: profiles[name] for name in used_profiles(wildcards) if name != "default"}
    return {**judge, "profiles": used} if used else judge


def judge_settings(wildcards):
    """A judge's block of config without what only says where it runs, and with the profiles that are used alone."""
    judge = config["judges"][wildcards.judge]
    unused = {*judges.RUN_SETTINGS, *judges.ENDPOINT_SETTINGS, "label", "profiles", "template"}
    if not any("criteria_format" in probes.load(probe).IDENTITY for probe in probes_of(wildcards)):
        unused.add("criteria_format")
    return in_file(with_profiles({key: value for key, value in judge.items() if key not in unused}, wildcards))


def endpoint_settings(wildcards, output):
    """How a judge is asked over an endpoint. Taking `output`, it is not tracked: no answer depends on it."""
    judge = config["judges"][wildcards.judge]
    return in_file({key: judge[key] for key in judges.ENDPOINT_SETTINGS} if judge["engine"] == "openai" else {})


def judge_identity(wildcards):
    """What a judge's answers depend on."""
    judge = config["judges"][wildcards.judge]
    kept = judges.identity(judge, probe_of(wildcards).IDENTITY)
    if judge["greedy_repeats"] == "reuse":
        kept["greedy_repeats"] = "reuse"
    return in_file(with_profiles(kept, wildcards))


def answer_settings(wildcards):
    """What reading a judge's answers depends on."""
    judge = config["judges"][wildcards.judge]
    return in_file({"answer_prefix": judge["answer_prefix"], "labels": judges.option_letters(judge)})


def takes_mixed(wildcards):
    """Whether a judge's answers may come from several versions."""
    return in_file({"accept_mixed": config["judges"][wildcards.judge]["accept_mixed"]})


def study_design(wildcards):
    """Which reads a study wants of each unit."""
    study = config["studies"][wildcards.study]
    design = {key: study[key] for key in ("scales", "strategies", "budget", "seed", "conditions", "crossed")}
    drawn = {"sample": study["sample"]} if study["sample"] is not None else {}
    return in_file(design | drawn | {"comparisons": chosen_comparisons(wildcards)})


def chosen_comparisons(wildcards):
    """Which pairs or lists a study reads, and in which prompt; of a study that compares nothing, nothing."""
    study, probe = config["studies"][wildcards.study], probe_of(wildcards)
    if not probe.COMPARES:
        return {}
    judge = config["judges"][wildcards.judge]
    prompt = "own" if judge["template"] is not None else probe.template(judge, study["prompt"])
    return study["comparisons"] | {"seed": study["seed"], "prompt": prompt}


def comparisons(wildcards):
    """Params function: which pairs or lists a study reads, and in which prompt, as JSON."""
    return in_file(chosen_comparisons(wildcards))


def probe_of(wildcards):
    """A study's probe."""
    return probes.load(config["studies"][wildcards.study]["probe"])


def template(wildcards):
    """The prompt template: the judge's own, or that of the study's probe for it."""
    study, judge = config["studies"][wildcards.study], config["judges"][wildcards.judge]
    if judge["template"] is not None:
        return os.path.relpath(judge["template"])
    return source(Path("resources/templates", f"{probe_of(wildcards).template(judge, study['prompt'])}.jinja"))


def setting_values(block):
    """The values of the setting that a figure is about, by judge and profile of the study that it draws."""
    study = config["studies"][block["study"]]
    return {
        name: judges.varied(config["judges"][name], study["profiles"], block["setting"]) for name in study["judges"]
    }


def bases(block):
    """What each study's conditions and orders are compared with: its first condition with its first strategy."""
    return {name: [study["conditions"][0], study["strategies"][0]] for name, study in config["studies"].items()}


def judge_names(block):
    """What the judges of the studies that a table shows are called."""
    shown = [name for study in (block["study"], *block["also"]) for name in config["studies"][study]["judges"]]
    labels = {name: config["judges"][name]["label"] for name in shown}
    return labels | block["judge_names"]


def prompt_styles(block):
    """Of each recorded judge with a prompt style its model and that style."""
    known = {name: [config["judges"][name][key] for key in ("model", "prompt_style")] for name in RECORDED}
    return {name: told for name, told in known.items() if told[1] is not None}


def conditions_read(block):
    """What the conditions of studies of rubrics say, by name and number of levels."""
    found = {}
    for study in config["studies"].values():
        for name in study["conditions"] if study["probe"] in catalogue.SCORE_ORDER else ():
            for n in study["scales"]:
                chosen = conditions.read(name, n)
                said = {"ids": chosen.labels(n), "text": chosen.reference, "shown": chosen.shown}
                found.setdefault(name, {})[str(n)] = said
    return found


# What the catalogue calls derived: arguments of a result, made from its block of config and the rest of it.
DERIVED = {
    "bases": bases,
    "conditions": conditions_read,
    "human_scales": human_scales,
    "judge_names": judge_names,
    "prompt_styles": prompt_styles,
    "sampling_temperatures": sampling_temperatures,
    "setting": setting_values,
    "temperatures": temperatures,
}


def one_of(names):
    """A regular expression for a wildcard: one of some names, perhaps none."""
    return "|".join(names) or "(?!)"


def records(wildcards):
    """Files with a recorded judge's answers."""
    return config["judges"][wildcards.judge]["files"]


def scored_items(wildcards):
    """Items that recorded answers score; those that they compare need not be there."""
    compared = config["studies"][wildcards.study]["probe"] == discovery.COMPARES
    return [] if compared else [f"results/items/{wildcards.dataset}.parquet"]


def named_adapter(wildcards):
    """A dataset's name and adapter, as JSON."""
    return in_file({"name": wildcards.dataset, "adapter": config["datasets"][wildcards.dataset]["adapter"]})


def studies_until(study, judge):
    """The studies that use a judge, in the order of config, up to and including the given one."""
    names = [name for name, block in config["studies"].items() if judge in block["judges"]]
    return names[: names.index(study) + 1]


def shards(judge):
    """Numbers of a judge's shards."""
    return range(1, config["judges"][judge]["shards"] + 1)


def judged(study):
    """The datasets of a study with the judges that have answers about them: live ones always have."""
    block = config["studies"][study]
    for dataset in block["datasets"]:
        for judge in block["judges"]:
            adapters = config["judges"][judge]["adapters"]
            if adapters is None or config["datasets"][dataset]["adapter"] in adapters:
                yield dataset, judge


def score_files(studies):
    """The scores of some studies, of all their datasets and judges."""
    return [
        f"results/scores/{study}/{dataset}/{judge}.parquet" for study in studies for dataset, judge in judged(study)
    ]


def used_judges():
    """The judges that studies use, in their order."""
    return list(dict.fromkeys(judge for study in config["studies"].values() for judge in study["judges"]))


def used_datasets():
    """The datasets of which studies have answers, in their order."""
    return list(dict.fromkeys(dataset for study in config["studies"] for dataset, _ in judged(study)))


def described_datasets():
    """The datasets that are described: those that config names, or those that studies use."""
    return config["statistics"]["datasets"]["datasets"] or used_datasets()


def used_labels(also=()):
    """The labels of judges and datasets, in the order in which studies use them, and of further datasets, as JSON."""
    names = {"judges": used_judges(), "datasets": list(dict.fromkeys([*used_datasets(), *also]))}
    return in_file(
        {kind: {name: config[kind][name]["label"] for name in names[kind]} for kind in names}, sort_keys=False
    )


def published_tables():
    """The tables of the paper that config compares with."""
    paper = config["statistics"]["replication"]["paper"]
    folder = PROJECT / "resources" / "published"
    return [source(path) for path in sorted(folder.glob(f"{paper}_table[0-9]*.csv"))]


def compared(statistic, block):
    """Whether one of the studies that a block of config names, if it names any, is behind a statistic."""
    if "golden" in catalogue.STATISTICS[statistic].reads:
        return bool(config["statistics"]["golden_scores"]["studies"])
    behind = catalogue.probes([statistic])
    if not behind:  # it is made of items, not of a study's scores
        return True
    studies = block.get("studies", config["studies"])
    return any(catalogue.fits(config["studies"][study]["probe"], behind) for study in studies)


def replicated(statistic):
    """Whether a statistic is what the paper that config compares with printed."""
    paper = config["statistics"]["replication"]["paper"]
    known = {name for names in catalogue.REPLICATED.values() for name in names}
    return statistic in catalogue.REPLICATED[paper] if paper in catalogue.REPLICATED else statistic not in known


def inputs_of(statistic):
    """What a statistic reads, as the catalogue says: paths by argument of `estimate`."""
    entry, block = catalogue.STATISTICS[statistic], config["statistics"].get(statistic, {})
    found = {}
    if entry.probes:
        found["scores"] = score_files(
            name for name, study in config["studies"].items() if catalogue.fits(study["probe"], entry.probes)
        )
    for name in entry.reads:
        if name in ("items", "pairs"):
            found[name] = [f"results/{name}/{dataset}.parquet" for dataset in described_datasets()]
        elif name == "alone":
            found[name] = score_files(block["alone"])
        elif name == "golden":
            found[name] = score_files(config["statistics"]["golden_scores"]["studies"])
        elif name == "references":
            found[name] = [f"results/references/{dataset}.parquet" for dataset in config["references"]]
        elif name == "published":
            found[name] = published_tables()
        elif name == "answers":
            found[name] = [f"results/responses/{judge}.json" for judge in used_judges()]
        elif statistic == "replication" and not replicated(name):
            continue
        elif compared(name, block):
            found[name] = [f"results/statistics/{name}.parquet"]
    return found


def statistic_files(wildcards):
    """Input function: what a statistic reads."""
    return [path for paths in inputs_of(wildcards.statistic).values() for path in paths]


def statistic_options(wildcards, input):
    """Params function: what a statistic reads, as options. Taking `input`, it is not tracked: the files are."""
    return [word for name, paths in inputs_of(wildcards.statistic).items() for word in ("--inputs", name, *paths)]


def statistic_settings(wildcards):
    """Params function: the arguments of a statistic beside its files, as the catalogue says."""
    entry, chosen = catalogue.STATISTICS[wildcards.statistic], {}
    for path in entry.settings:
        block, slash, key = path.partition("/")
        found = config["statistics"][block]
        chosen |= {key: found[key]} if slash else found
    return in_file(chosen | {name: DERIVED[name](chosen) for name in entry.derived})


class Results:
    """What the catalogue and config say of each table, or of each figure, as functions for its rule.

    Args:
        kind: `tables` or `figures`, as config and the library call them; the wildcard is that without its `s`.
    """

    def __init__(self, kind):
        self.kind = kind
        self.shown = getattr(catalogue, kind.upper())

    def name(self, wildcards):
        """Id of the result."""
        return wildcards[self.kind.removesuffix("s")]

    def block(self, wildcards):
        """The result's block of config."""
        try:
            return config[self.kind][self.name(wildcards)]
        except KeyError:
            path = f"{self.kind}/{self.name(wildcards)}"
            raise WorkflowError(f"config: {path}: not there; name it ({{}} takes its defaults)") from None

    def module(self, wildcards):
        """Name of the result's module."""
        return self.shown[self.name(wildcards)].module or self.name(wildcards)

    def module_file(self, wildcards):
        """Path of the module in the library."""
        return f"{self.kind}/{self.module(wildcards)}.py"

    def files(self, wildcards):
        """Input function: the statistics that are shown."""
        return [f"results/statistics/{name}.parquet" for name in self.shown[self.name(wildcards)].statistics]

    def named_files(self, wildcards, input):
        """Params function: the statistics that are shown, as name=path. Taking `input`, it is not tracked: they are."""
        names = self.shown[self.name(wildcards)].statistics
        return [f"{name}={path}" for name, path in zip(names, self.files(wildcards), strict=True)]

    def settings(self, wildcards):
        """Params function: the block of config, with what is derived from it."""
        block = self.block(wildcards)
        return in_file(block | {name: DERIVED[name](block) for name in self.shown[self.name(wildcards)].derived})

    def known_labels(self, wildcards):
        """Params function: the labels of judges and datasets, in the order in which studies use them."""
        shown = self.shown[self.name(wildcards)].statistics
        described = any("items" in catalogue.STATISTICS[name].reads for name in shown)
        return used_labels(described_datasets() if described else ())

    def caption(self, wildcards):
        """Params function: the module's caption with the settings filled in, for report, LaTeX and HTML alike."""
        path = SCRIPTS / "rubric_order" / self.module_file(wildcards)
        text = constant(path, "CAPTION").format(**config["statistics"] | self.block(wildcards))
        return f"{rehearsal.note(config)} {text}".lstrip()

    def category(self, wildcards):
        """Where the result stands in the report."""
        return self.shown[self.name(wildcards)].category

    def labels(self, wildcards):
        """What it is called there."""
        return {"result": self.shown[self.name(wildcards)].title}


TABLES, FIGURES = Results("tables"), Results("figures")


def rehearsal_note(wildcards):
    """Params function: what a figure of a rehearsal says across it; nothing in any other run."""
    return "rehearsal" if config["rehearse"] else ""


def named(files):
    """Make a params function: what an input function finds, as name=path.

    Snakemake does not track a params function that takes `input`. It tracks the files themselves.
    """

    def pairs(wildcards, input):
        return [f"{Path(path).stem}={path}" for path in files(wildcards)]

    return pairs


CARDS = ("decisiveness", "position_selection", "position_preference", "score_effects", "equivalence")
CARDS += ("order_spread", "human_agreement", "strategy_comparison", "rank_reversal")


def card_files(wildcards):
    """Input function: the statistics that bias cards are made from, where a study has the scores that they read."""
    read = catalogue.probes(CARDS)
    about = any(catalogue.fits(study["probe"], read) for study in config["studies"].values())
    return [f"results/statistics/{name}.parquet" for name in CARDS] if about else []


def shown_results(wildcards):
    """Params function: title, caption and file of each table and figure that config names."""
    found = {}
    for results, pattern in ((TABLES, "results/tables/{}.html"), (FIGURES, "results/figures/{}.svg")):
        kind = results.kind
        names = [(name, {kind.removesuffix("s"): name}) for name in config[kind]]
        found[kind] = [
            {"title": results.shown[name].title, "caption": results.caption(of), "path": pattern.format(name)}
            for name, of in names
        ]
    return in_file(found)


def named_results(wildcards):
    """Input function: the figures and tables that config names."""
    figures = [f"results/figures/{name}.svg" for name in config["figures"]]
    return [*figures, *(f"results/tables/{name}.csv" for name in config["tables"])]


def summary_labels(wildcards):
    """Params function: the labels of judges and datasets."""
    return used_labels()


def pages(*names):
    """Files of the library that pages are made from."""
    return [source(f"workflow/scripts/rubric_order/pages/{name}") for name in names]


def requests_until(wildcards):
    """The requests of a judge that a study needs; recorded answers have none."""
    live = studies_until(wildcards.study, wildcards.judge) if wildcards.judge in LIVE else []
    return [f"results/requests/{study}/{wildcards.judge}.parquet" for study in live]


def items_with_raters(wildcards):
    """The items of a dataset, for the scores of single people; recorded comparisons need none."""
    return scored_items(wildcards) if wildcards.judge in RECORDED else [f"results/items/{wildcards.dataset}.parquet"]


def reads_about(wildcards):
    """Which reads are chosen from, as JSON."""
    return in_file({"study": wildcards.study, "dataset": wildcards.dataset, "judge": wildcards.judge})


def settings_of_reads(wildcards):
    """How many reads are shown."""
    return in_file(config["reads"])


def reads_of_study(wildcards):
    """Input function: the reads that the page of a study shows."""
    return [f"results/reads/{wildcards.study}/{dataset}/{judge}.js" for dataset, judge in judged(wildcards.study)]


def study_of_page(wildcards):
    """Params function: what the page of a study's reads says of it."""
    sets = [
        {
            "dataset": dataset,
            "judge": judge,
            "dataset_label": config["datasets"][dataset]["label"],
            "judge_label": config["judges"][judge]["label"],
        }
        for dataset, judge in judged(wildcards.study)
    ]
    about = {"permutes": probe_of(wildcards).PERMUTES, "rehearsal": rehearsal.note(config)}
    return in_file({"study": wildcards.study, "sets": sets} | about)


def reads_pages(wildcards):
    """Params function: the pages of single reads by study, from the summary's folder."""
    return in_file({study: f"reads/{study}/index.html" for study in config["studies"]})


def statistics_made(wildcards):
    """Params function: the statistics behind the figures and tables that config names, and behind bias cards."""
    named = {
        name
        for results in (TABLES, FIGURES)
        for each in config[results.kind]
        for name in results.shown[each].statistics
    }
    return sorted({*named, *(Path(path).stem for path in card_files(wildcards))})


def answer_files(wildcards):
    """Input function: what the shards of each live judge that is used say of their answers."""
    return [f"results/responses/{judge}.json" for judge in used_judges() if judge in LIVE]


def run_blocks():
    """The parts of config that results depend on, without what only says where it runs."""
    known = {"judges": used_judges(), "datasets": used_datasets(), "studies": list(config["studies"])}
    unused = {*judges.RUN_SETTINGS, *judges.ENDPOINT_SETTINGS}
    found = {
        kind: {name: {k: v for k, v in config[kind][name].items() if k not in unused} for name in names}
        for kind, names in known.items()
    }
    note = rehearsal.note(config)
    found |= {"rehearsal": note} if note else {}
    return found | {"statistics": {"bootstrap": config["statistics"]["bootstrap"]}}


def run_settings(wildcards):
    """Params function: what results depend on, for the facts of a run."""
    return in_file(run_blocks())


def settings_of_methods(wildcards):
    """Params function: what results depend on, what each study's probe says of itself, and how references are made."""
    found, used = run_blocks(), [name for name in used_datasets() if name in config["references"]]
    for study in found["studies"].values():
        probe = probes.load(study["probe"])
        study |= {"permutes": probe.PERMUTES, "source": probe.SOURCE}
    for name in who_makes_references():
        found["judges"].setdefault(name, reference_judge(name, used[0]) | {"label": config["judges"][name]["label"]})
    return in_file(found | {"references": {name: config["references"][name] for name in used}})


def made_references(wildcards):
    """Input function: reference answers at several scores, of the datasets of studies that have any."""
    return [f"results/references/{name}.parquet" for name in used_datasets() if name in config["references"]]


def file_source(wildcards):
    """Where one file of a dataset comes from, as JSON."""
    return in_file(config["datasets"][wildcards.dataset]["files"][wildcards.file])


def dataset_mirror(wildcards, output):
    """Where to read files from instead of the network.

    A file is known by its checksum, wherever it came from. Snakemake does not track params of functions that take
    `output`, so that another mirror fetches nothing again.
    """
    return config["dataset_mirror"]


def files_to_read(wildcards):
    """The files of a dataset as config has them; none where it is simulated."""
    simulated = item_source(wildcards)["adapter"] == "simulated"
    return {} if simulated else config["datasets"][wildcards.dataset]["files"]


def dataset_files(wildcards):
    """Path of each file of a dataset: its own, or where fetching puts it."""
    return [
        os.path.relpath(entry["path"]) if "path" in entry else f"results/data/{wildcards.dataset}/{name}"
        for name, entry in files_to_read(wildcards).items()
    ]


def named_files(wildcards):
    """The files of a dataset, as name=path."""
    names = files_to_read(wildcards)
    return [f"{name}={path}" for name, path in zip(names, dataset_files(wildcards), strict=True)]


def item_source(wildcards):
    """Adapter, limit and options of a dataset, or those of what stands in for it in a rehearsal."""
    dataset = config["datasets"][wildcards.dataset]
    if config["rehearse"] and dataset["stand_in"] is not None:
        return {"adapter": "simulated", "limit": dataset["limit"], "options": dataset["stand_in"]}
    return {key: dataset[key] for key in ("adapter", "limit", "options")}


def item_settings(wildcards):
    """What a dataset's items depend on beside its files."""
    return in_file(item_source(wildcards))


def gguf_settings(wildcards):
    """What converted weights depend on."""
    found = (
        judge for judge in config["judges"].values() if judge["gguf"] and judges.folder_name(judge) == wildcards.model
    )
    judge = next(found)
    return in_file({**judge["gguf"], "dtype": judge["dtype"]})


def of_datasets(pattern):
    """Input function: one kind of file for each dataset of a study."""

    def paths(wildcards):
        datasets = config["studies"][wildcards.study]["datasets"]
        return [pattern.format(dataset=dataset, **wildcards) for dataset in datasets]

    return paths


# Snakemake reads the rules before it tells them their targets.
TELLS_COSTS = command_line.is_asked_for(r"(\w+_)?plan_cost|(.*/)?status/plan_cost\.\w+", "RUBRIC_ORDER_TELLS_COSTS")


def references_to_make():
    """The datasets whose reference answers may be made in this run, which asks judges.

    What only tells the costs of judging asks nobody: there are then no rules for answers that judges would write. Those
    that exist are taken as they are, and studies are planned without the others.
    """
    return [name for name, block in config["references"].items() if not (TELLS_COSTS and block["judges"])]


@functools.cache
def unmade_references():
    """The datasets of studies whose reference answers are not there, in a run that only tells the costs of judging."""
    used = {path: name for name in used_datasets() for path in [f"results/references/{name}.parquet"]}
    known = config["references"] if TELLS_COSTS else {}
    return [name for path, name in used.items() if name in known and known[name]["judges"] and not Path(path).exists()]


def parts_of_unmade_references(wildcards):
    """Input function: what making these depends on."""
    found = [
        path
        for name in unmade_references()
        for path in (
            f"results/items/{name}.parquet",
            f"results/rubrics/{name}.parquet",
            *reference_weights(types.SimpleNamespace(dataset=name)),
        )
    ]
    return list(dict.fromkeys(found))


def references_to_tell(wildcards):
    """Params function: how these would be made, and the studies that read the datasets, as JSON."""
    found = {}
    for name in unmade_references():
        block, about = config["references"][name], types.SimpleNamespace(dataset=name)
        studies = {
            study: {key: of_study[key] for key in ("judges", "scales", "conditions")}
            for study, of_study in config["studies"].items()
            if name in of_study["datasets"] and of_study["probe"] in catalogue.SCORE_ORDER
        }
        found[name] = {
            "settings": how_references_are_made(name),
            "rounds": block["rounds"],
            "items": f"results/items/{name}.parquet",
            "rubrics": f"results/rubrics/{name}.parquet",
            "templates": reference_templates(about),
            "weights": reference_weights(about),
            "labels": {judge: config["judges"][judge]["label"] for judge in block["judges"]},
            "studies": studies,
        }
    return in_file(found)


def reference_levels(block):
    """The scores that reference answers are written for."""
    return block.get("levels", list(range(1, block["n"])))


def references_file(wildcards):
    """Reference answers at several scores, where they are made or brought for a dataset."""
    known = wildcards.dataset in config["references"] and wildcards.dataset not in unmade_references()
    return [f"results/references/{wildcards.dataset}.parquet"] if known else []


def references_of_study(wildcards):
    """Reference answers at several scores of those datasets of a study that have them."""
    datasets = config["studies"][wildcards.study]["datasets"]
    known = [name for name in config["references"] if name not in unmade_references()]
    return [f"results/references/{dataset}.parquet" for dataset in datasets if dataset in known]


def reference_steps(wildcards):
    """The answers to the steps before one of them, or to all steps; see `planning.references`."""
    block, name = config["references"][wildcards.dataset], wildcards.get("step")
    known = references.steps(block["rounds"])
    before = known[: known.index(name)] if name else known
    folder = f"results/references/{wildcards.dataset}"
    judge = functools.partial(references.judge_of, names=block["judges"])
    return [] if block["file"] else [f"{folder}/{step}/responses/{judge(step)}.parquet" for step in before]


def named_reference_steps(wildcards, input):
    """Params function: the answers to earlier steps, as step=path. Taking `input`, it is not tracked: the files are."""
    return [f"{Path(path).parents[1].name}={path}" for path in reference_steps(wildcards)]


def reference_weights(wildcards):
    """What names the weights of the judges that write and review, where config does not."""
    names = config["references"][wildcards.dataset]["judges"]
    return [f"results/weights/{name}.json" for name in names if judges.has_open_weights(config["judges"][name])]


def reference_judge(name, dataset):
    """Settings of a judge that writes and reviews: what its answers depend on, with the profiles of its roles."""
    block, judge = config["references"][dataset], config["judges"][name]
    roles = {"writing": block["writing"], "reviewing": block["reviewing"]}
    kept = {key: value for key, value in judge.items() if key not in {*judges.ENDPOINT_SETTINGS, "label", "profiles"}}
    kept = {key: value for key, value in kept.items() if key not in judges.RUN_SETTINGS} | {"second_request": False}
    return references.with_roles(kept, **roles)


def reference_judge_settings(wildcards):
    """Params function: settings of a judge that writes and reviews, as JSON."""
    return in_file(reference_judge(wildcards.judge, wildcards.dataset))


def reference_settings(wildcards):
    """Params function: how reference answers are made."""
    return in_file(how_references_are_made(wildcards.dataset))


def how_references_are_made(dataset):
    """Settings by which the reference answers of a dataset are made."""
    block = config["references"][dataset]
    kept = {key: block[key] for key in ("n", "judges", "sample", "seed", "shows_rejected", "instruction", "file")}
    kept["levels"] = reference_levels(block)
    kept["settings"] = {name: reference_judge(name, dataset) for name in block["judges"]}
    return kept


def reference_templates(wildcards):
    """The prompts of writing and of reviewing, and those by which the judges score, in their order."""
    known = [config["judges"][name] for name in config["references"][wildcards.dataset]["judges"]]
    own = [judge["template"] for judge in known]
    usual = [source(f"resources/templates/{judge['answer_format']}.jinja") for judge in known]
    roles = [source(f"resources/templates/{name}_reference.jinja") for name in references.STEPS]
    return [*roles, *(os.path.relpath(path) if path else other for path, other in zip(own, usual, strict=True))]


def own_references(wildcards):
    """A file of reference answers that the user brings."""
    path = config["references"][wildcards.dataset]["file"]
    return [os.path.relpath(path)] if path else []


def requests_of_judge(wildcards):
    """The requests of every study that uses a judge."""
    return [f"results/requests/{study}/{wildcards.judge}.parquet" for study in studies_of(wildcards.judge)]


def earlier_requests(wildcards):
    """Requests that earlier studies send to the same judge: they are not sent again."""
    *earlier, _ = studies_until(wildcards.study, wildcards.judge)
    return [f"results/requests/{study}/{wildcards.judge}.parquet" for study in earlier]


def model_folder(wildcards):
    """Weights that the workflow makes itself, if the judge's weights come as a GGUF file."""
    judge = config["judges"][wildcards.judge]
    return [f"results/models/{judges.folder_name(judge)}"] if judge["gguf"] else []


def weights_file(wildcards):
    """What names a judge's weights, where config does not."""
    open_ = judges.has_open_weights(config["judges"][wildcards.judge])
    return [f"results/weights/{wildcards.judge}.json"] if open_ else []


def model_source(wildcards):
    """Where a judge's weights are, as JSON; of local ones with their sizes and times, so that they are read once."""
    judge = config["judges"][wildcards.judge]
    found = {"model": judge["model"], "revision": judge["revision"]}
    return in_file(found | ({"files": weights.state(judge["model"])} if judges.is_local(judge["model"]) else {}))


def judge_environment(wildcards):
    """Where the judge runs decides which build of vLLM it needs, if any; paths are relative to this file."""
    judge = config["judges"][wildcards.judge]
    if judges.is_endpoint(judge):
        return "../../envs/endpoint.yaml"
    if judge["engine"] == "simulated":
        return "../../envs/analysis.yaml"
    return "../../envs/judge.yaml" if judge["gpu"] else "../../envs/judge_cpu.yaml"


def judge_threads(wildcards):
    """All cores where a model runs on them; a few where it runs on a GPU; one where it runs elsewhere, or none does."""
    judge = config["judges"][wildcards.judge]
    if judge["engine"] == "simulated" or judges.is_endpoint(judge):
        return 1
    return 4 if judge["gpu"] else workflow.cores or 1


def responses(wildcards):
    """The responses of a judge, which are those of all studies."""
    return [f"results/responses/{wildcards.judge}/{shard}.parquet" for shard in shards(wildcards.judge)]


def studies_needed(wildcards, output):
    """The studies that ask a study's requests. Taking `output`, it is not tracked: the answers are."""
    return studies_until(wildcards.study, wildcards.judge)


def shards_to_read(wildcards, output):
    """Number of a judge's shards. Taking `output`, it is not tracked: no answer depends on it."""
    return config["judges"][wildcards.judge]["shards"]


def parsed_by(wildcards, output=None):
    """Hash of the code and settings by which scores are made. Taking `output`, it is not tracked: they are."""
    study, judge = config["studies"][wildcards.study], config["judges"][wildcards.judge]
    told = [hash_of_parser(wildcards), study["probe"], answer_settings(wildcards), judge["second_request"]]
    return hashlib.blake2b(as_json(told).encode(), digest_size=8).hexdigest()


def answers_of_judge(wildcards):
    """What the shards of a judge say of their answers. An added study asks more, and changes no score made before."""
    judge, listed = wildcards.judge, f"results/responses/{wildcards.judge}.json"
    scores = f"results/scores/{wildcards.study}/{wildcards.dataset}/{judge}.parquet"
    needed = studies_until(wildcards.study, judge) if judge in LIVE else []
    plan = f"results/plan/{wildcards.study}/{wildcards.dataset}/{judge}.parquet"
    settled = needed and answers.unchanged(
        Path(listed),
        Path(scores),
        Path(plan),
        studies=needed,
        store=Path(f"results/store/{judge}"),
        made_by=parsed_by(wildcards),
    )
    # Snakemake does not look for other reasons to run a job where an input is made anew that is ancient: there are none.
    return ancient(listed) if settled else listed


def planned(pattern):
    """Input function: one kind of planning's files, of every study, live judge and dataset."""

    def paths(wildcards):
        found = (
            pattern.format(study=study, judge=judge, dataset=dataset)
            for study, block in config["studies"].items()
            for judge in block["judges"]
            for dataset in block["datasets"]
            if judge in LIVE
        )
        return list(dict.fromkeys(found))

    return paths


def studies_of(judge):
    """The studies that use a judge, with their datasets."""
    return {study: block["datasets"] for study, block in config["studies"].items() if judge in block["judges"]}


def judges_to_plan(wildcards):
    """What is told about judging before it begins, as JSON: each live judge that studies use."""
    blocks = {
        judge: {
            "settings": config["judges"][judge],
            "converted": judges.folder_name(config["judges"][judge]),
            "studies": studies_of(judge),
        }
        for judge in used_judges()
        if judge in LIVE
    }
    return in_file(blocks, sort_keys=False)


def judges_to_ask(wildcards):
    """The judges that are asked, with labels, studies, steps of reference answers and currency of prices, as JSON."""
    blocks = {
        judge: {
            "label": config["judges"][judge]["label"],
            "studies": list(studies_of(judge)),
            "references": steps_of(judge),
            "currency": (config["judges"][judge]["prices"] or {"currency": ""}).get("currency", "USD"),
        }
        for judge in dict.fromkeys([*used_judges(), *who_makes_references()])
        if judge in LIVE
    }
    return in_file(blocks, sort_keys=False)


def who_makes_references():
    """The judges that write and review reference answers of datasets that studies use."""
    return [name for dataset in used_datasets() for name in config["references"].get(dataset, {"judges": []})["judges"]]


def steps_of(judge):
    """The steps of making reference answers that a judge answers, by dataset."""
    found = {}
    for dataset in used_datasets():
        block = config["references"].get(dataset)
        if block and judge in block["judges"]:
            known = references.steps(block["rounds"])
            found[dataset] = [step for step in known if references.judge_of(step, block["judges"]) == judge]
    return found


def now(wildcards):
    """The time, so that a rule runs whenever it is asked for."""
    return datetime.datetime.now(datetime.UTC).isoformat()
