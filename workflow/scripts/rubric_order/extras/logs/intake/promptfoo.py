"""Results of promptfoo, as ``promptfoo eval -o results.json`` writes them.

A model-graded assertion keeps its prompt (`PROMPT`), and of the answer only score and reason: `Call.answer` is None.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.extras.logs.intake import calls

PROMPT = "renderedGradingPrompt"
KINDS = ("chat", "completion", "responses")  # between provider and model: openai:chat:gpt-4.1
# Values that promptfoo sends to OpenAI for settings that its config leaves out.
DEFAULTS = {"temperature": 0, "max_tokens": 1024}
BODY = ("frequency_penalty", "presence_penalty", "response_format", "reasoning_effort")


def is_log(content: object) -> bool:
    """True for the content of a file of results."""
    results = content.get("results") if isinstance(content, dict) else None
    return isinstance(results, dict) and isinstance(results.get("results"), list)


def read_content(content: Mapping[str, Any], path: Path) -> Iterator[calls.Call]:
    """Calls of the judges of all assertions."""
    config = calls.mapping(content.get("config"), str(path), "config")
    default = calls.mapping(config.get("defaultTest") if isinstance(config.get("defaultTest"), dict) else None, "", "")
    for where, result in results(content, path):
        grading = calls.mapping(result.get("gradingResult"), where, "gradingResult")
        for part in calls.listed(grading.get("componentResults"), where, "gradingResult/componentResults") or [grading]:
            component = calls.mapping(part, where, "gradingResult/componentResults")
            prompt = calls.mapping(component.get("metadata"), where, "metadata").get(PROMPT)
            if prompt is not None:
                yield _call(result, component, prompt, default, where)


def results(content: Mapping[str, Any], path: str | Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Place and content of each result of a file."""
    inner = calls.mapping(content.get("results"), str(path), "results")
    for number, result in enumerate(calls.listed(inner.get("results"), str(path), "results/results")):
        where = f"{path}: results/results/{number}"
        yield where, calls.mapping(result, where, "/")


def _call(
    result: Mapping[str, Any], component: Mapping[str, Any], prompt: object, default: Mapping[str, Any], where: str
) -> calls.Call:
    assertion = calls.mapping(component.get("assertion"), where, "assertion")
    grader = str(assertion.get("metric") or assertion.get("type") or "assertion")
    provider = calls.mapping(result.get("provider"), where, "provider")
    output = calls.mapping(result.get("response"), where, "response").get("output")
    raw = calls.mapping(result.get("prompt"), where, "prompt").get("raw")
    candidate = provider.get("label") or provider.get("id")
    variant = result.get("promptIdx")
    return calls.Call(
        where=f"{where}, assertion {grader!r}",
        sample=str(result.get("testIdx", where.rpartition("/")[2])),
        grader=grader,
        candidate=f"{candidate} {variant}" if variant else candidate if isinstance(candidate, str) else None,
        messages=_messages(prompt, f"{where}, assertion {grader!r}"),
        asked=_asked(result, assertion, default, where),
        score=calls.written(component.get("score")),
        text=calls.typed(output, str),
        instruction=calls.typed(raw, str),
    )


def _messages(prompt: object, where: str) -> tuple[calls.Message, ...]:
    """Messages of a prompt. A prompt that is no list of messages in JSON is one message of the user."""
    if not isinstance(prompt, str) or not prompt:
        raise InputError(f"{where}: field {PROMPT!r}: expected the judge's prompt, found {prompt!r:.60}")
    if prompt.lstrip().startswith("["):
        try:
            content = calls.parsed(prompt, where)
        except InputError:
            content = None
        if isinstance(content, list) and content and all(isinstance(one, dict) and "role" in one for one in content):
            return calls.messages_of(content, where, PROMPT)
    return (calls.Message("user", prompt),)


def _asked(
    result: Mapping[str, Any], assertion: Mapping[str, Any], default: Mapping[str, Any], where: str
) -> calls.Asked:
    """The judge of an assertion: its own provider, else the provider of its test, else the provider of all tests."""
    test = calls.mapping(result.get("testCase"), where, "testCase")
    options = [calls.mapping(block.get("options"), where, "options") for block in (test, default)]
    chosen = next((block for block in (assertion, *options) if block.get("provider")), {}).get("provider")
    if isinstance(chosen, dict) and "id" not in chosen:  # providers by kind: text, embedding
        chosen = chosen.get("text")
    block = {"id": chosen} if isinstance(chosen, str) else calls.mapping(chosen, where, "provider")
    name = block.get("id")
    if not isinstance(name, str):
        raise InputError(
            f"{where}: field 'testCase/options/provider': expected the judge's provider, found {chosen!r:.60}; give"
            " --model and --base-url"
        )
    provider, *rest = name.split(":")
    model = ":".join(rest[1:] if rest and rest[0] in KINDS else rest) or name
    config = calls.mapping(block.get("config"), where, "provider/config")
    fields = {**(DEFAULTS if provider == "openai" and not config.get("omitDefaults") else {}), **config}
    body, provider = calls.body_of(config, BODY), provider if rest else ""
    address = config.get("apiBaseUrl")
    return calls.judge_of(model, fields, body, where, "provider/config", provider=provider, base_url=address)
