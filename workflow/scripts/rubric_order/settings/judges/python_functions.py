"""Settings of judges that are functions of Python."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Literal, Self

from rubric_order.settings.base import Count, Role, Text, setting
from rubric_order.settings.judges.judge import WIRE, Capabilities, Sampling
from rubric_order.settings.judges.metered import Metered

MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
OF_SOURCE = "source:"  # begins a version that is a digest of source code


class PythonCallable(Metered):
    """A judge that is a function of Python."""

    KIND = "python"
    CALLED = True

    engine: Literal["python"] = setting(..., role=Role.IDENTITY)
    model: str = setting(
        "",
        "Name of the model that the function asks, for the text on methods.",
        role=Role.IDENTITY,
        otherwise="the function's name",
    )
    function: str = setting(
        ...,
        "Function that answers, as `module:name`. docs/python_judges.md says what it takes and returns.",
        role=Role.IDENTITY,
    )
    folder: str = setting(
        ".",
        "Folder in which the module is looked for if it is not installed.",
        **(WIRE | {"role": Role.RUN}),
    )
    takes: Literal["prompt", "messages"] = setting(
        None,
        "Argument that the function takes: the `prompt` as text, or the `messages` as a list of mappings with `role`"
        " and `content`.",
        role=Role.IDENTITY,
        otherwise="`messages` where the first parameter has this name, else `prompt`",
    )
    version: Text = setting(
        None,
        "Version of the function. A function of another version is asked everything anew.",
        role=Role.IDENTITY,
        otherwise="the function's `__version__`, or else a digest of the source of its module",
    )
    transient: list[str] = setting(
        [],
        "Names of exceptions after which the function is called again, such as `RateLimitError` or"
        " `litellm.exceptions.Timeout`. The name of a base class stands for all of its subclasses. `ConnectionError`"
        " and `TimeoutError` are always included.",
        **WIRE,
    )
    answer_tokens: Count | None = setting(
        None,
        "Length in tokens to which the function limits an answer. A call counts with this length until its answer says"
        " how many tokens it used. Limits of tokens or cost need this key.",
        **WIRE,
    )
    sampling: Sampling = setting(
        factory=lambda: Sampling(temperature=None, top_p=None, max_tokens=None, seed=None), role=Role.IDENTITY
    )

    @property
    def capabilities(self) -> Capabilities:
        """Abilities of a function. It may give probabilities, and its answers cannot be restricted to a form."""
        return Capabilities(constrained=False, prices=self.prices)

    @property
    def shown_name(self) -> str:
        """The judge's model, or else the function's name without its module."""
        return self.model or self.function.partition(":")[2]

    @property
    def is_local(self) -> bool:
        return False

    @property
    def draws_at(self) -> float | None:
        """None, since it is not known how a function samples."""
        return None

    def resolved(self, *, takes: Literal["prompt", "messages"], version: str) -> Self:
        """The judge with facts that its function states about itself, if config does not state them."""
        return self.changed(model=self.shown_name, takes=self.takes or takes, version=self.version or version)

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """The module's name does not count if the version is a digest of source code."""
        if self.version is None:
            raise ValueError(f"{self.function}: its version is not known")
        is_digest = self.version.startswith(OF_SOURCE)
        function = self.function.partition(":")[2] if is_digest else self.function
        return {"function": function, "function_version": self.version}

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if not MODULE_AND_NAME.fullmatch(self.function):
            yield f"function: expected module:name, such as my_judges:judge, found {self.function!r:.80}"
        if self.limits_tokens and self.answer_tokens is None:
            yield "answer_tokens: limits of tokens or cost need a value, to know the most that a call can use"
        if self.shards > 1:
            yield f"shards: one job calls a function, several times at once; expected 1, found {self.shards}"

    def _problems_of_profile(self) -> Iterator[str]:
        for name, value in self.sampling:
            if value not in (None, []):
                yield f"sampling/{name}: the function samples as it does; leave it out"
        if self.chat_template_kwargs:
            yield "chat_template_kwargs: the function is called with a prompt or messages alone; leave it out"
        if self.system_prompt and self.takes == "prompt":
            yield "system_prompt: the function takes a prompt; expected takes: messages"
