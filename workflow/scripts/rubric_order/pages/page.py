"""Writing a page from a template of this package. A page is one file, which loads nothing over a network."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

FOLDER = Path(__file__).parent


def render(name: str, **values: Any) -> str:
    """HTML of a page.

    Args:
        name: name of a template in this package. Texts that the template inserts are escaped.
        values: keyword arguments: the values that the template may use, under their names.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["json"] = lambda value: json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    environment.globals["verbatim"] = _verbatim
    environment.globals["hashed"] = _hashed
    environment.filters["script"] = lambda value: Markup(script(value))  # noqa: S704 - no text in it is markup
    return environment.get_template(name).render(**values)


def _verbatim(name: str) -> Markup:
    return Markup((FOLDER / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def _hashed(name: str) -> Markup:
    """Hash by which the policy of a page allows this script and no other."""
    digest = base64.b64encode(hashlib.sha256((FOLDER / name).read_bytes()).digest()).decode()
    return Markup(f"'sha256-{digest}'")  # noqa: S704 - letters, digits, +, / and =


def script(value: object) -> str:
    """JSON for a script in a page: ``<``, ``>`` and Unicode line separators are escaped, so no text ends string or
    element.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
