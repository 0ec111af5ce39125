"""Checks of a config beyond types and ranges: that names refer to something, and that numbers fit each other."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rubric_order import catalogue, datasets, probes, registry
from rubric_order.base.conditions import split
from rubric_order.base.errors import InputError, nearest
from rubric_order.base.keys import DEFAULT_PROFILE, EVERY, REVIEWING, WRITING
from rubric_order.probes import Probe
from rubric_order.prompts import conditions
from rubric_order.prompts.conditions import TOGETHER
from rubric_order.settings.judges.judge import Judge
from rubric_order.settings.judges.loaded import Loaded
from rubric_order.settings.judges.python_functions import PythonCallable
from rubric_order.settings.studies import Dataset, References, Study

if TYPE_CHECKING:
    from rubric_order.settings.config import Config

# Names of folders that each run makes in its results. No results folder of a run can have such a name.
TAKEN = frozenset({"benchmarks", "data", "figures", "items", "logs", "models", "pairs", "pilot", "plan", "prompts"})
TAKEN |= {"reads", "recorded", "references", "requests", "responses", "rubrics", "scores", "settings", "statistics"}
TAKEN |= {"status", "store", "tables", "weights"}
(REVIEWED_AS,) = catalogue.SCORE_ORDER  # the probe in whose prompts reference answers are scored


def check_meaning(config: Config, ready: Collection[str] = ()) -> None:
    """Raise one `InputError` with a line per problem; `ready`: judges that a study may name without defining them."""
    problems = list(_problems(config, ready))
    if problems:
        raise InputError("config: " + "\nconfig: ".join(problems))


def _problems(config: Config, ready: Collection[str]) -> Iterator[str]:
    if (name := config.output.rpartition("/")[2]) in TAKEN:
        other = f"results/{name}_run"
        text = f"{name!r} is a folder that each run has in its results; expected another name, such as {other}"
        yield f"output: {config.output!r}: {text}"
    yield from _problems_of_datasets(config.datasets)
    yield from _problems_of_judges(config.judges)
    yield from _problems_of_references(config)
    yield from _problems_of_studies(config, ready)
    yield from _problems_of_statistics(config)
    for block in registry.SHOWN:
        for name, settings in getattr(config, block).items():
            try:
                of_probes = registry.probes(registry.shown(block, name).statistics)
            except InputError as error:
                yield f"{block}/{name}: {error}"
            else:
                yield from _problems_of_shown(f"{block}/{name}", settings.block(), config.studies, of_probes)


def _problems_of_datasets(blocks: Mapping[str, Dataset]) -> Iterator[str]:
    for name, dataset in blocks.items():
        try:
            datasets.REGISTRY.module(dataset.adapter)
        except InputError as error:
            yield f"datasets/{name}/adapter: {error}"
        for key, file in dataset.files.items():
            if file.path is None and not (file.url is not None and (file.sha256 or file.git_blob)):
                yield f"datasets/{name}/files/{key}: expected either 'path', or 'url' and 'sha256'"
        least, greatest = dataset.human_scale
        if least >= greatest:
            detail = f"found {least}, {greatest}"
            yield f"datasets/{name}/human_scale: expected the least score and then the greatest, {detail}"


def _problems_of_judges(judges: Mapping[str, Judge]) -> Iterator[str]:
    for name, judge in judges.items():
        for problem in judge.problems():
            yield f"judges/{name}/{problem.replace('{judge}', f'judges/{name}')}"
    converted = {name: judge for name, judge in judges.items() if isinstance(judge, Loaded) and judge.gguf}
    for (other, first), (name, judge) in itertools.permutations(converted.items(), 2):
        if other < name and judge.folder_name == first.folder_name and judge.gguf != first.gguf:
            yield f"judges/{name}/gguf: judge {other!r} takes model {judge.model!r} from another file"


def _problems_of_references(config: Config) -> Iterator[str]:
    for dataset, block in config.references.items():
        where = f"references/{dataset}"
        if dataset not in config.datasets:
            yield f"{where}: {dataset!r} is not defined under datasets"
        if (block.file is None) == (not block.judges):
            yield f"{where}: expected either 'judges' or a 'file'"
        if wrong := [level for level in block.levels or () if level > block.n]:
            yield f"{where}/levels: expected scores from 1 to {block.n}, found {wrong[0]}"
        for name in block.judges:
            judge = config.judges.get(name)
            if judge is None or not judge.ASKED:
                yield f"{where}/judges: {name!r} is no judge that can be asked; expected one that is not recorded"
                continue
            if not judge.capabilities.writes:
                yield f"{where}/judges: {name!r} is a decision model, which writes no text; expected one that does"
                continue
            yield from (f"{where}/{problem}" for problem in _problems_of_roles(name, judge, block))
            writer = judge.add_roles(writing=block.writing, reviewing=block.reviewing).under(WRITING)
            again = block.rounds > len(set(block.judges)) and not block.shows_rejected
            if again and writer.sampling.temperature == 0:
                yield (
                    f"{where}/rounds: judge {name!r} writes at temperature 0, and would write the same again; expected"
                    f" {len(set(block.judges))}, a temperature in writing, or shows_rejected: true"
                )
    for name, study in config.studies.items():
        if study.probe in catalogue.SCORE_ORDER:
            yield from _problems_of_levels(name, study, config.references)


def _problems_of_roles(name: str, judge: Judge, block: References) -> Iterator[str]:
    as_roles = judge.add_roles(writing=block.writing, reviewing=block.reviewing)
    for role, profile in (("writing", WRITING), ("reviewing", REVIEWING)):
        for problem in as_roles.problems_of_profile(profile):
            yield f"{role}/{problem.removeprefix('sampling/')} (judge {name!r})"


def _problems_of_levels(name: str, study: Study, with_references: Collection[str]) -> Iterator[str]:
    """Conditions whose reference answer is below the highest level (an item's own answer), though no dataset of the
    study is under `references`.
    """
    if any(dataset in with_references for dataset in study.datasets):
        return
    for condition in study.conditions:
        for n in study.scales:
            try:
                text = conditions.read(condition, n).reference
            except ValueError:
                continue
            if text and text != n:
                detail = f"{condition!r} shows an answer that is written for {text}"
                yield f"studies/{name}/conditions: {detail}; expected a dataset of the study under 'references'"


def _problems_of_studies(config: Config, ready: Collection[str]) -> Iterator[str]:
    for name, study in config.studies.items():
        for kind in ("datasets", "judges"):
            defined = getattr(config, kind)
            for entry in getattr(study, kind):
                if entry not in defined:
                    listed = ", ".join(defined) or "none"
                    others = [judge for judge in ready if judge not in defined] if kind == "judges" else []
                    listed += f"; ready-made in config/judges: {', '.join(others)}" if others else ""
                    close = nearest(entry, [*defined, *others])
                    yield f"studies/{name}/{kind}: {entry!r:.80} is not defined under {kind}; defined: {listed}{close}"
        judges = {judge: config.judges[judge] for judge in study.judges if judge in config.judges}
        yield from (f"studies/{name}{problem}" for problem in _problems_of_study(study, judges))


def _problems_of_study(study: Study, judges: Mapping[str, Judge]) -> Iterator[str]:
    """Contradictions in a study, each beginning with a path within it; `judges`: those that are defined."""
    try:
        probe = probes.load(study.probe)
    except InputError as error:
        yield f"/probe: {error}"
        return
    yield from _problems_of_probe(study, probe)
    wanted = dict(probe.PROMPTS).get(study.prompt or "")
    for name, judge in judges.items():
        if wanted is not None and judge.answer_format != wanted:
            detail = f"judge {name!r} has answer_format {judge.answer_format!r}"
            yield f"/prompt: {study.prompt!r} asks for answer_format {wanted!r}, {detail}"
        if not (judge.capabilities.writes or probe.DECIDES):
            offered = ", ".join(repr(other) for other in probes.names() if probes.load(other).DECIDES)
            yield f"/probe: judge {name!r} is a decision model, which is for probe {offered}; found {study.probe!r}"
        if judge.capabilities.writes:
            yield from _problems_of_together(name, study)
        if not judge.capabilities.labels:
            yield from _problems_of_ids(name, study)
        if (study.strategies == ["recorded"]) == judge.ASKED:
            yield f": judge {name!r}: engine 'recorded' and strategies: [recorded] go together; found one of them"
    for profile in study.profiles:
        has = (profile in judge.profiles for judge in judges.values())
        if profile != DEFAULT_PROFILE and not any(has):
            yield f"/profiles: none of the study's judges has a profile {profile!r}"


def _problems_of_together(name: str, study: Study) -> Iterator[str]:
    for condition in study.conditions:
        if TOGETHER in split(condition):
            yield f"/conditions: {condition!r} is for judges of engine 'decisions', found judge {name!r}"


def _problems_of_ids(name: str, study: Study) -> Iterator[str]:
    """Conditions that change the IDs of levels, for a judge whose prompts show none."""
    for condition, n in itertools.product(study.conditions, study.scales):
        try:
            ids = conditions.read(condition, n).ids
        except ValueError:
            continue
        if ids is not None:
            expected = "expected question: choice or predicate"
            yield f"/conditions: {condition!r} names levels, and judge {name!r} is shown no names; {expected}"
            return


def _problems_of_probe(study: Study, probe: Probe) -> Iterator[str]:
    name = study.probe
    for key, offered in (("strategies", probe.STRATEGIES), ("conditions", probe.CONDITIONS)):
        for value in getattr(study, key):
            if value not in offered:
                listed = ", ".join(map(repr, offered))
                yield f"/{key}: probe {name!r} offers {listed}, found {value!r:.80}{nearest(value, offered)}"
    if study.prompt is not None and study.prompt not in probe.PROMPTS:
        listed = ", ".join(map(repr, probe.PROMPTS)) or "none to choose from"
        yield f"/prompt: probe {name!r} offers {listed}, found {study.prompt!r}"
    if study.crossed and not probe.CROSSED:
        crossing = ", ".join(repr(other) for other in probes.names() if probes.load(other).CROSSED)
        yield f"/crossed: it is for probe {crossing}, found probe {name!r}"
    if study.sample is not None and probe.COMPARES:
        yield f"/sample: probe {name!r} compares texts; expected comparisons/sample"
    yield from probe.problems(study)


def check_templates(config: Config) -> None:
    """Try each judge's own template at every scale at which it is asked; a reviewer of reference answers scores these
    with it too, as in a study of `REVIEWED_AS`.
    """
    for name, judge in config.judges.items():
        template = judge.template
        studies = {key: study for key, study in config.studies.items() if name in study.judges}
        reviewed = {block.n for block in config.references.values() if name in block.judges}
        if template is None or not (studies or reviewed):
            continue
        named = [study.probe for study in studies.values()] + [REVIEWED_AS] * bool(reviewed)
        named = list(dict.fromkeys(named))
        if len(named) > 1:
            reviews = f" (references are scored as in {REVIEWED_AS})" if reviewed else ""
            detail = f"a template is for one probe, found studies of {', '.join(named)}{reviews}"
            raise InputError(f"config: judges/{name}/template: {detail}; expected a judge for each")
        for key, study in studies.items():
            if study.prompt is not None:
                raise InputError(f"config: studies/{key}/prompt: judge {name!r} has a template of its own")
        from rubric_order.prompts import own  # imports jinja2

        probe = probes.load(named[0])
        scales = sorted({n for study in studies.values() for n in study.scales} | reviewed)
        trials = [functools.partial(probe.try_template, n=n) for n in scales]
        try:
            own.check(own_template(judge), probe.FIELDS, trials)
            _check_messages(judge)
        except InputError as error:
            raise InputError(f"config: judges/{name}/template: {error}") from None


def own_template(judge: Judge) -> str | list[tuple[str, str]]:
    """Path of a judge's own template, or role and content of each message."""
    if isinstance(judge.template, list):
        return [(message.role, message.content) for message in judge.template]
    return judge.template or ""


def _check_messages(judge: Judge) -> None:
    from rubric_order.prompts import messages

    template = own_template(judge)
    if isinstance(template, str):
        if not messages.is_file(template):
            return
        template = list(messages.read(template))
    if isinstance(judge, PythonCallable) and judge.takes == "prompt":
        raise InputError("the function takes a prompt, found a list of messages; expected takes: messages")
    profiles = [profile for profile in (DEFAULT_PROFILE, *judge.profiles) if judge.under(profile).system_prompt]
    if template[0][0] == "system" and profiles:
        where = "" if profiles[0] == DEFAULT_PROFILE else f"profiles/{profiles[0]}/"
        raise InputError(f"its first message is the system's, found {where}system_prompt too; expected one of them")


def _problems_of_statistics(config: Config) -> Iterator[str]:
    studies, statistics = config.studies, config.statistics
    for name in statistics.datasets.datasets or []:
        if name not in config.datasets:
            yield f"statistics/datasets/datasets: {name!r} is not defined under datasets"
    if "replication" in config.tables:
        yield from _problems_of_replication(config)
    if "reference_answers" in config.tables and not config.references:
        yield "tables/reference_answers: expected reference answers that are made, under 'references'"
    if "corrected_means" in config.tables:
        margin, margins = config.tables["corrected_means"].block()["margin"], statistics.corrected_means.margins
        if margin not in margins:
            listed = ", ".join(f"{value:g}" for value in margins)
            expected = f"expected one of statistics/corrected_means/margins, {listed}"
            yield f"tables/corrected_means/margin: {expected}, found {margin:g}"
    if "scales" in config.tables:
        block = statistics.scales.block()
        yield from _problems_of_shown("statistics/scales", block, studies, registry.probes(("scales",)))
    named = (("halo/alone", statistics.halo.alone), ("golden_scores/studies", statistics.golden_scores.studies))
    for key, study in ((key, study) for key, listed in named for study in listed):
        if study not in studies:
            yield f"statistics/{key}: {study!r} is not defined under studies; defined: {', '.join(studies)}"
        elif (probe := studies[study].probe) not in catalogue.SCORE_ORDER:
            expected = ", ".join(map(repr, catalogue.SCORE_ORDER))
            yield f"statistics/{key}: study {study!r} has probe {probe!r}; expected {expected}"


def _problems_of_replication(config: Config) -> Iterator[str]:
    """Names under `statistics/replication` that are not defined."""
    settings = config.statistics.replication
    named: dict[str, Collection[str]] = {"studies": settings.studies}
    if not config.recorded_dir:  # a folder of recorded answers need not have all judges that a config names
        named["judges"] = settings.judges
    for kind, listed in named.items():
        for name in listed:
            if name.partition("/")[0] not in getattr(config, kind):
                defined = ", ".join(getattr(config, kind))
                yield f"statistics/replication/{kind}: {name!r} is not defined under {kind}; defined: {defined}"


def _problems_of_shown(
    where: str, settings: Mapping[str, Any], studies: Mapping[str, Study], of_probes: Collection[str]
) -> Iterator[str]:
    """Names in the block of a figure or table that do not fit; its studies must have a probe of `of_probes`."""
    study_names = settings.get("studies", [settings["study"]] if "study" in settings else [])
    study_names = [*study_names, *settings.get("also", [])]
    unknown = [name for name in study_names if name not in studies]
    for name in unknown:
        key = "studies" if "studies" in settings else "also" if name in settings.get("also", []) else "study"
        yield f"{where}/{key}: {name!r} is not defined under studies; defined: {', '.join(studies)}"
    if unknown or not study_names:
        return
    name = where.partition("/")[2]
    for study in study_names:
        if not catalogue.fits(probe := studies[study].probe, of_probes):
            yield f"{where}: study {study!r} has probe {probe!r}; expected {' or '.join(map(repr, sorted(of_probes)))}"
    if name == "crossed_orders" and not any(studies[study].crossed for study in study_names):
        yield f"{where}/study: study {study_names[0]!r} varies one order only; expected one with crossed: true"
    if name == "rank_reversal" and settings["strategy"] == settings["other"]:
        yield f"{where}/other: expected a strategy to compare with {settings['strategy']!r}, found the same"
    for dataset in (settings.get("datasets") or []) if "study" in settings else []:
        if dataset not in studies[settings["study"]].datasets:
            yield f"{where}/datasets: {dataset!r} is not among the datasets of study {settings['study']!r}"
    named = {"n": "scales", "strategy": "strategies", "other": "strategies", "baseline": "strategies"}
    named |= {"dataset": "datasets", "profile": "profiles", "condition": "conditions"}
    for key in [key for key in named if key in settings]:
        value, among = settings[key], named[key]
        if key in ("dataset", "profile") and value == EVERY:
            continue
        if not any(value in getattr(studies[name], among) for name in study_names):
            yield f"{where}/{key}: {value!r} is not among the {among} of study {', '.join(map(repr, study_names))}"
