"""Jinja with limits on texts, steps, filters and methods: its sandbox lets texts multiply and loops nest."""

import contextlib
import contextvars
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from jinja2 import Template, TemplateError, TemplateRuntimeError, Undefined, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from rubric_order.base.errors import UnfitError

MAX_CHARACTERS = 10_000_000  # largest number of characters of a text that a template makes
MAX_STEPS = 100_000  # turns of loops, and calls, in one rendering
MAX_WIDTH = 1000  # largest number for a filter, such as the width of an indent or of a cut text
MAX_BITS = 256  # largest number of bits of the numbers in an operation

FILTERS = (
    "abs capitalize count d default e escape first float indent int join last length list lower map max min reject"
)
FILTERS += (
    " rejectattr replace reverse round safe select selectattr sort striptags title trim truncate unique upper wordcount"
)
METHODS = (
    "capitalize count endswith find get index items keys lower lstrip removeprefix removesuffix rstrip split splitlines"
)
METHODS += " startswith strip title upper values"
OF_TEXT = {"capitalize", "e", "escape", "indent", "lower", "replace", "safe", "striptags", "title", "trim", "truncate"}
OF_TEXT |= {"upper", "wordcount"}

_steps: contextvars.ContextVar[int] = contextvars.ContextVar("steps", default=0)


@contextlib.contextmanager
def _rendering() -> Iterator[None]:
    """Context of one rendering, which counts its steps; errors of template or values become UnfitError."""
    token = _steps.set(0)
    try:
        yield
    except (TemplateError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise UnfitError(" ".join(str(error).split())) from None
    finally:
        _steps.reset(token)


class Limited(Template):
    """A template whose steps are counted from 0 in each rendering."""

    def render(self, *values: Any, **named: Any) -> str:
        """Render the text, as Jinja does, or raise UnfitError."""
        with _rendering():
            return super().render(*values, **named)

    def render_block(self, name: str, **values: Any) -> str:
        """Render one block of the template, with the same limits."""
        with _rendering():
            return joined(self.blocks[name](self.new_context(values)))


def joined(pieces: Iterable[str]) -> str:
    """Pieces as one text, unless it would be too long."""
    parts, size = [], 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        _check_length(size)
    return "".join(parts)


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with limits."""

    template_class = Limited
    intercepted_binops = frozenset(("*", "**", "+", "%"))
    concat = staticmethod(joined)

    def __init__(self, **options: Any) -> None:
        super().__init__(finalize=_scalar, **options)
        self.globals = {"range": self.globals["range"], "namespace": self.globals["namespace"]}
        self.filters = {name: _limited(name, self.filters[name]) for name in FILTERS.split()}
        self.filters |= {"_joined": _join_all, "_flat": _flat, "_counted": _counted}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _WithLimits().visit(super()._parse(source, name, filename))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """The result of an operator that is allowed, with numbers and texts of limited size."""
        numbers = all(isinstance(side, int | float) for side in (left, right))
        if operator == "**" or (operator == "%" and not numbers):
            raise TemplateRuntimeError(f"operator {operator} is not offered; write what you mean as text")
        if numbers:
            if sum(side.bit_length() for side in (left, right) if isinstance(side, int)) > MAX_BITS:
                raise TemplateRuntimeError(f"a number has more than {MAX_BITS} bits; expected a smaller one")
        elif operator == "*":
            size = next((len(side) for side in (left, right) if hasattr(side, "__len__")), 1)
            times = next((side for side in (left, right) if isinstance(side, int)), 1)
            _check_length(size * times)
        else:
            _check_length(sum(len(side) for side in (left, right) if hasattr(side, "__len__")))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Any, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """The result of a call. A call counts as a step."""
        _step()
        return super().call(context, function, *values, **named)

    def wrap_str_format(self, value: Any) -> None:
        """Return None, so that `format` is refused: a format can ask for any width."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """True if a template may use an attribute. Methods of data are allowed only if they lengthen no text."""
        of_data = isinstance(obj, str | bytes | int | float | list | tuple | dict | set)
        allowed = not (of_data and callable(value)) or attr in METHODS.split()
        return allowed and super().is_safe_attribute(obj, attr, value)


class _WithLimits(NodeTransformer):
    """Change a template's tree so that it counts turns of loops, measures joined texts, and refuses lists in lists."""

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802 - as Jinja names it
        self.generic_visit(node)
        node.iter = _filtered(node.iter, "_counted")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "_joined")

    def visit_List(self, node: nodes.List) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        return _filtered(node, "_flat")

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Expr:  # noqa: N802
        self.generic_visit(node)
        return _filtered(node, "_flat") if node.ctx == "load" else node

    def visit_Dict(self, node: nodes.Dict) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        return _filtered(node, "_flat")


def _filtered(value: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(cast("nodes.Expr", value), name, [], [], None, None, lineno=value.lineno)


def _limited(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that refuses too large numbers. Filters of text also refuse lists and other objects."""

    @functools.wraps(plain)
    def run(*values: Any, **named: Any) -> Any:
        passes = hasattr(plain, "jinja_pass_arg")  # then the first value does not come from the template
        operands = values[1:] if passes else values
        _step()
        for value in (*operands[1:], *named.values()):
            if isinstance(value, int) and abs(value) > MAX_WIDTH:
                raise TemplateRuntimeError(f"filter {name!r}: expected a number up to {MAX_WIDTH}, found {value:.6g}")
        if name in OF_TEXT:
            _scalar(operands[0])
            texts = [str(value) for value in (*operands[1:], *named.values()) if isinstance(value, str)]
            _check_length((len(str(operands[0])) + 1) * max([MAX_WIDTH if name == "indent" else 1, *map(len, texts)]))
        elif name == "join":
            between = next((len(value) for value in (*operands[1:], *named.values()) if isinstance(value, str)), 0)
            operands = (_listed(operands[0]), *operands[1:])
            _check_length(sum(len(str(_scalar(entry))) + between for entry in operands[0]))
            values = (*values[:1], *operands) if passes else operands
        return plain(*values, **named)

    return run


def _listed(values: Iterable[Any]) -> list[Any]:
    return list(_counted(values))


def _join_all(values: list[Any]) -> str:
    return joined(str(_scalar(value)) for value in values)


def _flat(values: Any) -> Any:
    """A list that holds no list: lists in lists could double with each line."""
    inside = [*values, *values.values()] if isinstance(values, dict) else values
    if any(isinstance(value, list | tuple | dict | set) for value in inside):
        raise TemplateRuntimeError("a list holds a list; expected texts and numbers")
    return values


def _counted(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        _step()
        yield value


def _step() -> None:
    steps = _steps.get() + 1
    if steps > MAX_STEPS:
        raise TemplateRuntimeError(f"the template takes more than {MAX_STEPS} steps; expected fewer")
    _steps.set(steps)


def _scalar(value: Any) -> Any:
    if isinstance(value, str | int | float | Undefined) or value is None:
        return value
    raise TemplateRuntimeError(f"expected text or a number, found {type(value).__name__}; write its parts")


def _check_length(size: int) -> None:
    if size > MAX_CHARACTERS:
        raise TemplateRuntimeError(
            f"the template makes a text of more than {MAX_CHARACTERS} characters; expected fewer"
        )
