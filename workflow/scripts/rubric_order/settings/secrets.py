"""Refusal of keys that are written out in a config. The environment holds keys, and config names their variables."""

import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

# Forms of publishers' keys, JSON web tokens, and texts after Bearer.
SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:(?=[\w-]*[0-9])(?:sk|pk|rk|xai|glpat|nvapi|pplx|gsk|hf|r8|gh[pousr]|github_pat)[-_][\w-]{16,}"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]+)|\bBearer\s+[^\s$]{8,}"
)
IN_ADDRESS = re.compile(
    r"://[^/\s?#@]*:[^/\s?#@]+@|[?&](?:api[-_]?key|key|token|access_token|sig|signature)=[^&\s]+", re.I
)
HEADERS = re.compile("auth|key|token|secret|passw|cookie|credential", re.I)  # headers that hold a key
FIELDS = re.compile(
    "^(x-)?(authorization|(.*[-_])?api[-_]?key|(.*[-_])?password|(.*[-_])?secret|(access|auth)[-_]token)$", re.I
)
LONG = re.compile(
    "(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{20,}"
)  # in a header: letters and digits without a break


def problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Messages about keys that are written out in a config of any shape: path and problem. No message holds a key."""
    for path, value in _texts(config):
        if problem := _problem(path, value):
            yield f"{'/'.join(map(_shown, path))}: {problem}"


def _texts(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path, value
    parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _texts(part, (*path, str(key)))


def _problem(path: tuple[str, ...], value: str) -> str | None:
    name = path[-1] if path else ""
    if "extra_headers" in path[:-1]:
        # In "Bearer $KEY", the text without the variable is no key.
        literal = string.Template(value).safe_substitute(dict.fromkeys(_variables(value), ""))
        holds_key = (HEADERS.search(name) and literal == value) or LONG.search(literal) or SHAPES.search(literal)
        return "a key is not written out; expected $NAME, the environment variable that holds it" if holds_key else None
    if SHAPES.search(value) or SHAPES.search(name):
        expected = "the name of the environment variable that holds it" if name == "api_key_env" else "api_key_env"
        return f"a key is not written out; expected {expected}"
    if IN_ADDRESS.search(value):
        return "an address holds no user, password or key; expected api_key_env"
    if FIELDS.search(name) and value and path[0] == "judges":
        return "a key is not written out; expected api_key_env, or extra_headers with $NAME"
    return None


def _variables(value: str) -> list[str]:
    try:
        return string.Template(value).get_identifiers()
    except ValueError:
        return []


def _shown(key: str) -> str:
    return "***" if SHAPES.search(key) else key
