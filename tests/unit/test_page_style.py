"""Colours of pages: texts and marks can be told from what they stand on, in light, in dark and in print."""

import re

import pytest
from factories import ROOT

STYLE = (ROOT / "workflow/scripts/rubric_order/pages/style.css").read_text(encoding="utf-8")
TEXTS = [("ink", "page"), ("soft", "page"), ("link", "page"), ("bad", "page"), ("quiet", "page"), ("ink", "code")]
TEXTS += [("ink", "low"), ("ink", "high"), ("quiet", "low"), ("quiet", "high"), ("ink", "note")]
MARKS = [("bar", "page"), ("edge", "page")]


def schemes():
    """Colours by name of each scheme."""
    begins = {"light": "", "dark": "@media (prefers-color-scheme: dark) {", "print": "@media print {"}
    found = {}
    for name, begin in begins.items():
        block = re.search(r":root \{(.*?)\}", STYLE[STYLE.index(begin) :], re.DOTALL)[1]
        found[name] = dict(re.findall(r"--([\w-]+): (#[0-9a-f]+);", block))
    return found


def luminance(colour):
    """Relative luminance as WCAG 2.2 defines it."""
    digits = colour.removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_texts_and_marks_have_contrast(scheme):
    colours = schemes()[scheme]
    ratios = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in [*TEXTS, *MARKS]}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < (4.5 if pair in TEXTS else 3)} == {}


def test_each_scheme_has_every_colour_and_pages_name_no_other():
    light, dark, printed = schemes().values()
    assert light.keys() == dark.keys() == printed.keys()
    rest = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    pages = [
        path.read_text(encoding="utf-8") for path in (ROOT / "workflow/scripts/rubric_order/pages").glob("*.jinja")
    ]
    for text in (rest, *pages):
        assert set(re.findall(r"var\(--([\w-]+)\)", text)) <= light.keys()
        literal = re.findall(r"(?:color|background|border[\w-]*|fill|stroke): [^;]*(#[0-9a-f]{3,6})\b", text)
        assert set(literal) <= {"#fff"}  # behind figures
