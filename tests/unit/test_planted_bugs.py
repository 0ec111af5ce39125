"""The planted bugs can still be planted, one or more in each package; `python tests/planted_bugs.py` runs them."""

import ast

import planted_bugs
import pytest


@pytest.mark.parametrize("bug", planted_bugs.BUGS, ids=lambda bug: bug.package)
def test_a_bug_replaces_one_place_and_leaves_python(bug, root):
    text = (root / planted_bugs.LIBRARY / bug.path).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(planted_bugs.planted(text, bug))) != ast.dump(ast.parse(text))
    assert all((root / "tests/unit" / name).is_file() for name in bug.tests)


def test_every_package_of_the_library_has_a_bug(root):
    packages = [bug.path.partition("/")[0] for bug in planted_bugs.BUGS]
    assert packages == [bug.package for bug in planted_bugs.BUGS]
    assert sorted({*packages}) == sorted(
        init.parent.name for init in (root / planted_bugs.LIBRARY).glob("*/__init__.py")
    )


def test_a_bug_whose_place_is_gone_is_named():
    with pytest.raises(ValueError, match="found 0 times"):
        planted_bugs.planted("", planted_bugs.BUGS[0])
