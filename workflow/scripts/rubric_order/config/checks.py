"""Checking a config: its shape against the schema, and then what a schema cannot say."""

import functools
import math
import re
from collections.abc import Collection, Iterator, Mapping

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match

from rubric_order import catalogue, datasets, probes
from rubric_order.base.errors import InputError, nearest
from rubric_order.base.keys import EVERY
from rubric_order.config import judges, secrets
from rubric_order.probes import Probe
from rubric_order.prompts import conditions

(REVIEWED_AS,) = catalogue.SCORE_ORDER  # the probe in whose prompts reference answers are scored

# What a request to an endpoint holds already; given twice, `extra_body` would silently win.
IN_BODY = {
    "model": "model",
    "messages": "system_prompt",
    "temperature": "sampling/temperature",
    "top_p": "sampling/top_p",
    "max_tokens": "sampling/max_tokens",
    "max_completion_tokens": "sampling/max_tokens, with max_tokens_name",
    "stop": "sampling/stop",
    "seed": "sampling/seed",
    "chat_template_kwargs": "chat_template_kwargs",
    "logprobs": "answer_format",
    "top_logprobs": "top_logprobs",
    "structured_outputs": "second_request or criteria_format",
    "n": "greedy_repeats and a strategy's budget",
}
NOT_IN_BODY = {"stream", "stream_options"}

# Keys that there were, and what holds in their place.
GONE = {
    "figures/strategy_forest/interval": (
        "intervals are those of a jackknife over clusters; the BCa bootstrap left out the truth in up to 22% of studies"
    ),
}

LARGEST = 2**63 - 1  # no file of ours, and no engine, holds a greater number

HEADER_NAME = re.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers that the client sets itself: they say how the body is sent.
OF_THE_CLIENT = {
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
}
OF_THE_CLIENT |= {"keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}


def check_values(config: Mapping) -> None:
    """Check that each value of a config, whatever its shape, can be handed on: rules take their settings as JSON.

    Raises:
        InputError: with the path, what was found and what was expected. A key that is written out is not shown.
    """
    if problems := list(secrets.problems(config)):
        raise InputError("config: " + "\nconfig: ".join(problems))
    for path, value in _values(config):
        if isinstance(value, Mapping):
            if wrong := [key for key in value if not isinstance(key, str)]:
                detail = f"found {wrong[0]!r}; put it in quotes"
                raise InputError(f"config: {path or 'top level'}: expected a name as key, {detail}")
            for key in value:
                if unfit := _unfit(key):
                    raise InputError(f"config: {path or 'top level'}: key {key!r:.60}: {unfit}")
        elif isinstance(value, str):
            if unfit := _unfit(value):
                raise InputError(f"config: {path}: {unfit}, found {value!r:.80}")
        elif isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"config: {path}: expected a finite number, found {value}")
        elif isinstance(value, int | float) and abs(value) > LARGEST:
            raise InputError(f"config: {path}: expected a number of at most {LARGEST} in size, found {value!r:.40}")
        elif not isinstance(value, list | str | int | float | None):
            expected = "expected text, a number, true, false, null, a list or a mapping"
            raise InputError(f"config: {path}: {expected}, found {value!r:.80}; put it in quotes")


def check_shape(config: Mapping, schema: Mapping) -> None:
    """Check a config's values, and its shape against its schema.

    Raises:
        InputError: with the path of the offending key, what was found and what was expected.
    """
    check_values(config)
    error = best_match(_Validator(schema).iter_errors(config))
    if error is not None:
        raise InputError(f"config: {_explain(error)}")


# JSON Schema takes 5.0 for an integer; numpy does not.
_Validator = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int),
)


def is_of_type(value: object, kinds: str | list[str]) -> bool:
    """Tell whether a value has one of the types that a schema names."""
    return _Validator({"type": kinds}).is_valid(value)


def _values(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """A value and every value within it, with their paths."""
    yield path, value
    parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _values(part, f"{path}/{key}".lstrip("/"))


def _unfit(text: str) -> str | None:
    """Expected form of a text that no file, page or terminal takes as it is; None where it is fit."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "expected text without lone surrogates"
    if any((character < " " and character not in "\t\n\r") or "\x7f" <= character <= "\x9f" for character in text):
        return "expected text without control characters"
    return None


def _explain(error: ValidationError) -> str:
    path = "/".join(map(str, error.absolute_path)) or "top level"
    match error.validator:
        case "additionalProperties":
            properties = error.schema.get("properties", {})
            unknown = next(key for key in error.instance if key not in properties)
            if (gone := GONE.get(f"{path}/{unknown}")) is not None:
                return f"{path}: key {unknown!r} is no longer there; leave it out: {gone}"
            return (
                f"{path}: unknown key {unknown!r:.60}; expected {', '.join(properties)}{nearest(unknown, properties)}"
            )
        case "pattern" if "propertyNames" in error.absolute_schema_path:
            return f"{path}: unknown key {error.instance!r:.60}; expected an id like {error.validator_value}"
        case "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            return f"{path}: key {missing[0]!r} is missing"
        case "enum":
            allowed = ", ".join(map(repr, error.validator_value))
            close = nearest(error.instance, [value for value in error.validator_value if isinstance(value, str)])
            return f"{path}: {error.instance!r:.80} is not one of {allowed}{close}"
        case "pattern":
            return f"{path}: {error.instance!r:.80} does not match {error.validator_value!r}"
        case "type":
            return f"{path}: expected {error.validator_value}, found {error.instance!r:.80}"
    return f"{path}: {error.message:.300}"


def check_meaning(config: Mapping, ready: Collection[str] = ()) -> None:
    """Check what a schema cannot say: that names refer to something and that numbers fit each other.

    Args:
        config: of the right shape, with its defaults filled in.
        ready: judges that a study may name without defining them, see `loading.ready_judges`.

    Raises:
        InputError: one line for each thing that is wrong.
    """
    problems = list(_problems(config, ready))
    if problems:
        raise InputError("config: " + "\nconfig: ".join(problems))


def _problems(config: Mapping, ready: Collection[str]) -> Iterator[str]:
    yield from _problems_of_datasets(config["datasets"])
    yield from _problems_of_judges(config["judges"])
    yield from _problems_of_references(config)
    yield from _problems_of_studies(config, ready)
    yield from _problems_of_statistics(config)
    for block, shown in (("figures", catalogue.FIGURES), ("tables", catalogue.TABLES)):
        for name, settings in config[block].items():
            probes = catalogue.probes(shown[name].statistics)
            yield from _problems_of_shown(f"{block}/{name}", settings, config["studies"], probes)


def _problems_of_datasets(known: Mapping) -> Iterator[str]:
    for name, dataset in known.items():
        try:
            datasets.REGISTRY.module(dataset["adapter"])
        except InputError as error:
            yield f"datasets/{name}/adapter: {error}"
        for file, source in dataset["files"].items():
            if "path" not in source and not ("url" in source and {"sha256", "git_blob"} & set(source)):
                yield f"datasets/{name}/files/{file}: expected either 'path', or 'url' and 'sha256'"
        least, greatest = dataset["human_scale"]
        if least >= greatest:
            detail = f"found {least}, {greatest}"
            yield f"datasets/{name}/human_scale: expected the least score and then the greatest, {detail}"


def _problems_of_judges(known: Mapping) -> Iterator[str]:
    for name, judge in known.items():
        yield from (f"judges/{name}/{problem}" for problem in _problems_of_judge(judge))
        for key, own in judges.OWN_SETTINGS.items():
            if key in judge["engine_args"]:
                yield f"judges/{name}/engine_args/{key}: set judges/{name}/{own} instead"
        if judge["engine"] == "vllm" and judge["engine_args"].get("data_parallel_size", 1) != 1:
            instead = f"set judges/{name}/shards instead: a job uses one copy of the model"
            yield f"judges/{name}/engine_args/data_parallel_size: {instead}"
        yield from (f"judges/{name}/{problem}" for problem in _problems_of_engine_and_profiles(judge))
        for other, same in known.items():
            shared = judges.folder_name(judge) == judges.folder_name(same)
            if other < name and shared and judge["gguf"] and same["gguf"] and judge["gguf"] != same["gguf"]:
                yield f"judges/{name}/gguf: judge {other!r} takes model {judge['model']!r} from another file"


def _problems_of_judge(judge: Mapping) -> Iterator[str]:
    """Contradictions in a judge's settings, as the key and what is wrong with it."""
    if judge["answer_format"] == "feedback" and judge["answer_prefix"]:
        yield "answer_prefix: it is for answer_format 'score', found answer_format 'feedback'"
    if judge["criteria_format"] == "lines" and judge["reasoning_end"]:
        yield "criteria_format: 'lines' leaves no room to reason; expected 'free' with reasoning_end"
    simulation = judge.get("simulation")
    if simulation is not None and judge["engine"] != "simulated":
        yield f"simulation: it is for engine 'simulated', found engine {judge['engine']!r}"
    rows = (simulation or {}).get("interaction")
    if isinstance(rows, list) and len(lengths := {len(row): None for row in rows}) > 1:
        listed = ", ".join(map(str, lengths))
        yield f"simulation/interaction: expected rows of one length, found lengths {listed}"
    if judges.DEFAULT_PROFILE in judge["profiles"]:
        yield f"profiles: {judges.DEFAULT_PROFILE!r} names the judge without a profile; use another name"
    if judge["engine"] == "recorded" and not judge.get("files"):
        yield "files: a recorded judge needs the files with its answers"


def _problems_of_engine_and_profiles(judge: Mapping) -> Iterator[str]:
    """Settings that do not fit a judge's engine: of the judge as it stands, and what its profiles add."""
    own = list(_problems_of_engine(judge))
    yield from own
    for profile in judge["profiles"]:
        for problem in _problems_of_engine(judges.with_profile(judge, profile)):
            if problem not in own:
                yield f"profiles/{profile}/{problem}"


def _problems_of_references(config: Mapping) -> Iterator[str]:
    """Problems with how reference answers are made."""
    for dataset, block in config["references"].items():
        where = f"references/{dataset}"
        if dataset not in config["datasets"]:
            yield f"{where}: {dataset!r} is not defined under datasets"
        if (block["file"] is None) == (not block["judges"]):
            yield f"{where}: expected either 'judges' or a 'file'"
        if wrong := [level for level in block.get("levels", ()) if level > block["n"]]:
            yield f"{where}/levels: expected scores from 1 to {block['n']}, found {wrong[0]}"
        for name in block["judges"]:
            judge = config["judges"].get(name)
            if judge is None or judge["engine"] == "recorded":
                yield f"{where}/judges: {name!r} is no judge that can be asked; expected one that is not recorded"
                continue
            yield from (f"{where}/{problem}" for problem in _problems_of_roles(name, judge, block))
            writing = judge["sampling"] | block["writing"]
            again = block["rounds"] > len(set(block["judges"])) and not block["shows_rejected"]
            if again and writing["temperature"] == 0:
                yield (
                    f"{where}/rounds: judge {name!r} writes at temperature 0, and would write the same again; expected"
                    f" {len(set(block['judges']))}, a temperature in writing, or shows_rejected: true"
                )
    for name, study in config["studies"].items():
        if study["probe"] in catalogue.SCORE_ORDER:
            yield from _problems_of_levels(name, study, config["references"])


def _problems_of_roles(name: str, judge: Mapping, block: Mapping) -> Iterator[str]:
    """Settings that do not fit a judge's engine, added by the sampling of reference answers."""
    from rubric_order.planning import references  # imports pandas

    own = list(_problems_of_engine(judge))
    as_roles = references.with_roles(judge, writing=block["writing"], reviewing=block["reviewing"])
    for role, profile in (("writing", references.WRITING), ("reviewing", references.REVIEWING)):
        for problem in _problems_of_engine(judges.with_profile(as_roles, profile)):
            if problem not in own:
                yield f"{role}/{problem.removeprefix('sampling/')} (judge {name!r})"


def _problems_of_levels(name: str, study: Mapping, known: Mapping) -> Iterator[str]:
    """Conditions of a study that show reference answers which no dataset of it has."""
    if any(dataset in known for dataset in study["datasets"]):
        return
    for condition in study["conditions"]:
        for n in study["scales"]:
            try:
                text = conditions.read(condition, n).reference
            except ValueError:
                continue
            if text and text != n:
                detail = f"{condition!r} shows an answer that is written for {text}"
                yield f"studies/{name}/conditions: {detail}; expected a dataset of the study under 'references'"


def _problems_of_studies(config: Mapping, ready: Collection[str]) -> Iterator[str]:
    for name, study in config["studies"].items():
        for kind in ("datasets", "judges"):
            for entry in study[kind]:
                if entry not in config[kind]:
                    defined = ", ".join(config[kind]) or "none"
                    others = [judge for judge in ready if judge not in config[kind]] if kind == "judges" else []
                    defined += f"; ready-made in config/judges: {', '.join(others)}" if others else ""
                    close = nearest(entry, [*config[kind], *others])
                    yield f"studies/{name}/{kind}: {entry!r:.80} is not defined under {kind}; defined: {defined}{close}"
        known_judges = {judge: config["judges"][judge] for judge in study["judges"] if judge in config["judges"]}
        yield from (f"studies/{name}{problem}" for problem in _problems_of_study(study, known_judges))


def _problems_of_study(study: Mapping, known: Mapping) -> Iterator[str]:
    """Contradictions in a study, as what follows its path.

    Args:
        study: its settings.
        known: settings of those of its judges that are defined.
    """
    try:
        probe = probes.load(study["probe"])
    except InputError as error:
        yield f"/probe: {error}"
        return
    yield from _problems_of_probe(study, probe)
    wanted = dict(probe.PROMPTS).get(study["prompt"])
    for judge, settings in known.items():
        if wanted is not None and settings["answer_format"] != wanted:
            detail = f"judge {judge!r} has answer_format {settings['answer_format']!r}"
            yield f"/prompt: {study['prompt']!r} asks for answer_format {wanted!r}, {detail}"
        if (settings["engine"] == "recorded") != (study["strategies"] == ["recorded"]):
            yield f": judge {judge!r}: engine 'recorded' and strategies: [recorded] go together; found one of them"
    for profile in study["profiles"]:
        has = (profile in settings["profiles"] for settings in known.values())
        if profile != judges.DEFAULT_PROFILE and not any(has):
            yield f"/profiles: none of the study's judges has a profile {profile!r}"


def _problems_of_probe(study: Mapping, probe: Probe) -> Iterator[str]:
    """Settings of a study that its probe does not offer."""
    name = study["probe"]
    for key, offered in (("strategies", probe.STRATEGIES), ("conditions", probe.CONDITIONS)):
        for value in study[key]:
            if value not in offered:
                shown = ", ".join(map(repr, offered))
                yield f"/{key}: probe {name!r} offers {shown}, found {value!r:.80}{nearest(value, offered)}"
    if study["prompt"] is not None and study["prompt"] not in probe.PROMPTS:
        offered = ", ".join(map(repr, probe.PROMPTS)) or "none to choose from"
        yield f"/prompt: probe {name!r} offers {offered}, found {study['prompt']!r}"
    if study["crossed"] and not probe.CROSSED:
        crossing = ", ".join(repr(other) for other in probes.names() if probes.load(other).CROSSED)
        yield f"/crossed: it is for probe {crossing}, found probe {name!r}"
    if study["sample"] is not None and probe.COMPARES:
        yield f"/sample: probe {name!r} compares texts; expected comparisons/sample"
    yield from probe.problems(study)


def check_templates(config: Mapping) -> None:
    """Check the prompt templates of judges that have one of their own, at every scale that they are asked at.

    A judge that reviews reference answers scores them in its template, as in a study of `REVIEWED_AS`.

    Args:
        config: whole and checked, with the files found.

    Raises:
        InputError: a template cannot be used, or its judge is asked for several probes.
    """
    for name, judge in config["judges"].items():
        path = judge["template"]
        studies = {key: study for key, study in config["studies"].items() if name in study["judges"]}
        reviewed = {block["n"] for block in config["references"].values() if name in block["judges"]}
        if path is None or not (studies or reviewed):
            continue
        named = [study["probe"] for study in studies.values()] + [REVIEWED_AS] * bool(reviewed)
        named = list(dict.fromkeys(named))
        if len(named) > 1:
            reviews = f" (references are scored as in {REVIEWED_AS})" if reviewed else ""
            detail = f"a template is for one probe, found studies of {', '.join(named)}{reviews}"
            raise InputError(f"config: judges/{name}/template: {detail}; expected a judge for each")
        for key, study in studies.items():
            if study["prompt"] is not None:
                raise InputError(f"config: studies/{key}/prompt: judge {name!r} has a template of its own")
        from rubric_order.prompts import own  # imports jinja2

        probe = probes.load(named[0])
        scales = sorted({n for study in studies.values() for n in study["scales"]} | reviewed)
        trials = [functools.partial(probe.try_template, n=n) for n in scales]
        try:
            own.check(path, probe.FIELDS, trials)
        except InputError as error:
            raise InputError(f"config: judges/{name}/template: {error}") from None


def _problems_of_statistics(config: Mapping) -> Iterator[str]:
    studies = config["studies"]
    for name in config["statistics"]["datasets"]["datasets"] or []:
        if name not in config["datasets"]:
            yield f"statistics/datasets/datasets: {name!r} is not defined under datasets"
    if "replication" in config["tables"]:
        yield from _problems_of_replication(config)
    if "reference_answers" in config["tables"] and not config["references"]:
        yield "tables/reference_answers: expected reference answers that are made, under 'references'"
    if "scales" in config["tables"]:
        shown = config["statistics"]["scales"]
        yield from _problems_of_shown("statistics/scales", shown, studies, catalogue.probes(("scales",)))
    named = (("halo/alone", config["statistics"]["halo"]["alone"]),)
    named += (("golden_scores/studies", config["statistics"]["golden_scores"]["studies"]),)
    for key, study in ((key, study) for key, listed in named for study in listed):
        if study not in studies:
            yield f"statistics/{key}: {study!r} is not defined under studies; defined: {', '.join(studies)}"
        elif (probe := studies[study]["probe"]) not in catalogue.SCORE_ORDER:
            expected = ", ".join(map(repr, catalogue.SCORE_ORDER))
            yield f"statistics/{key}: study {study!r} has probe {probe!r}; expected {expected}"


def _problems_of_replication(config: Mapping) -> Iterator[str]:
    """Problems with the studies and judges that are compared with published ones."""
    settings = config["statistics"]["replication"]
    # A folder of recorded answers has some of the judges that a config knows.
    for kind in ("studies", "judges") if not config["recorded_dir"] else ("studies",):
        for name in settings[kind]:
            if name.partition("/")[0] not in config[kind]:
                defined = ", ".join(config[kind])
                yield f"statistics/replication/{kind}: {name!r} is not defined under {kind}; defined: {defined}"


def _problems_of_shown(where: str, settings: Mapping, studies: Mapping, probes: Collection[str]) -> Iterator[str]:
    """Problems with the studies that a figure or table of some probes shows."""
    shown = settings.get("studies", [settings["study"]] if "study" in settings else [])
    shown = [*shown, *settings.get("also", [])]
    unknown = [name for name in shown if name not in studies]
    for name in unknown:
        key = "studies" if "studies" in settings else "also" if name in settings.get("also", []) else "study"
        yield f"{where}/{key}: {name!r} is not defined under studies; defined: {', '.join(studies)}"
    if unknown or not shown:
        return
    name = where.partition("/")[2]
    for study in shown:
        if not catalogue.fits(probe := studies[study]["probe"], probes):
            yield f"{where}: study {study!r} has probe {probe!r}; expected {' or '.join(map(repr, sorted(probes)))}"
    if name == "crossed_orders" and not any(studies[study]["crossed"] for study in shown):
        yield f"{where}/study: study {shown[0]!r} varies one order only; expected one with crossed: true"
    if name == "rank_reversal" and settings["strategy"] == settings["other"]:
        yield f"{where}/other: expected a strategy to compare with {settings['strategy']!r}, found the same"
    for dataset in (settings.get("datasets") or []) if "study" in settings else []:
        if dataset not in studies[settings["study"]]["datasets"]:
            yield f"{where}/datasets: {dataset!r} is not among the datasets of study {settings['study']!r}"
    named = {"n": "scales", "strategy": "strategies", "other": "strategies", "baseline": "strategies"}
    named |= {"dataset": "datasets", "profile": "profiles", "condition": "conditions"}
    for key in [key for key in named if key in settings]:
        value, among = settings[key], named[key]
        if key in ("dataset", "profile") and value == EVERY:
            continue
        if not any(value in studies[name][among] for name in shown):
            yield f"{where}/{key}: {value!r} is not among the {among} of study {', '.join(map(repr, shown))}"


def _problems_of_engine(judge: Mapping) -> Iterator[str]:
    """Settings that do not fit a judge's engine, as the key and what is wrong with it."""
    sampling = {key: value for key, value in judge["sampling"].items() if value is None}
    if judge["engine"] != "openai":
        for key in ("base_url", "api_key_env", "serve", "prices", "requests_per_minute", "tokens_per_minute"):
            if judge[key] is not None:
                yield f"{key}: it is for engine 'openai'"
        for key in ("extra_body", "extra_headers"):
            if judge[key]:
                yield f"{key}: it is for engine 'openai'"
        for key in sampling:
            yield f"sampling/{key}: null leaves it to an endpoint; engine {judge['engine']!r} needs a value"
        return
    if judge["reasoning_end"] is not None:
        yield "reasoning_end: over an endpoint the server parts reasoning from answer; expected null"
    yield from _problems_of_headers(judge["extra_headers"])
    yield from (f"extra_body/{key}: set {own} instead" for key, own in IN_BODY.items() if key in judge["extra_body"])
    for key in NOT_IN_BODY & judge["extra_body"].keys():
        yield f"extra_body/{key}: leave it out; an answer is read whole"
    if judges.sends_secrets_in_the_open(judge) and not judge["key_over_http"]:
        yield (
            f"base_url: {judge['base_url']!r}: the key or a header with a variable would cross the network in plain"
            " text; expected https, or key_over_http: true"
        )
    if judge["base_url"] is not None and (wrong := judges.wrong_address(judge["base_url"])):
        yield f"base_url: {judge['base_url']!r}: {wrong}"
    if (judge["base_url"] is None) == (judge["serve"] is None):
        yield "base_url: engine 'openai' needs either base_url, or serve for a server of its own"
    if judge["serve"] is not None:
        if judge["api_key_env"] is not None:
            yield "api_key_env: the server of serve has a key of its own"
        if "seed" in sampling:
            yield "sampling/seed: the server of serve needs a value"
    else:
        for key in ("gguf", "engine_args", "chat_template", "batch_invariant"):
            if judge[key]:
                yield f"{key}: it is for a model that is loaded here, by engine 'vllm' or with serve"
        if judge["shards"] > 1:
            yield f"shards: one job asks an endpoint, with many calls at once; expected 1, found {judge['shards']}"
        for key in ("answer_prefix", "second_request", "criteria_format"):
            if judge[key] not in ("", False, "free") and judge["dialect"] != "vllm":
                yield f"{key}: over an endpoint it needs dialect 'vllm'"
    limits = [key for key in ("tokens", "cost") if judge["budget"][key] is not None]
    if (limits or judge["tokens_per_minute"] is not None) and "max_tokens" in sampling:
        yield "sampling/max_tokens: limits of tokens or cost need a value, to know the most that a call can use"
    if "cost" in limits and judge["prices"] is None:
        yield "budget/cost: it needs prices"


def _problems_of_headers(headers: Mapping) -> Iterator[str]:
    """Headers that cannot be sent, or that the client sets itself."""
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name):
            yield f"extra_headers/{name!r:.60}: no header has such a name"
        elif name.lower() in OF_THE_CLIENT:
            yield f"extra_headers/{name}: the client sets this header; leave it out"
        if not (value.isascii() and value.isprintable()):
            holds = "the value holds a character that a header cannot; expected printable ASCII"
            yield f"extra_headers/{name!r:.60}: {holds}"
