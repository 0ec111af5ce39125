"""Settings of judges that are asked over HTTP: headers, addresses, and further fields of a request."""

from __future__ import annotations

import ipaddress
import re
import string
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import StringConstraints

from rubric_order.settings.base import Arguments, Id, Role, setting, whole
from rubric_order.settings.judges.judge import WIRE, Blocks, EndpointProfile, variants
from rubric_order.settings.judges.metered import Metered

NOT_IN_BODY = {"stream", "stream_options"}

HEADER_NAME = re.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers that the client sets itself: they say how the body is sent.
OF_THE_CLIENT = {"accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect"}
OF_THE_CLIENT |= {"host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}

ADDRESS = r"^https?://[^\s/@?#\\]+(/[^\s@?#]*)?$"
ENDPOINT_BLOCKS = Blocks(128, least=1024)  # from the guide to OpenAI's prompt caching


class OverHttp(Metered):
    """A judge that is asked over HTTP; `IN_BODY` maps fields of a request, which `extra_body` may not repeat, to
    settings.
    """

    IN_BODY: ClassVar[Mapping[str, str]] = {}

    profiles: dict[Id, EndpointProfile] = variants()  # type: ignore[assignment]  # a profile of its own fields
    key_over_http: bool = setting(
        False,
        "Whether the key, and headers with variables, may be sent to another machine over plain http. Anyone on the"
        " way can read them there.",
        **WIRE,
    )
    extra_headers: dict[str, str] = setting(
        {},
        "Further headers of the requests. `$NAME` stands for an environment variable, whose value is kept secret.",
        **WIRE,
    )
    extra_body: Arguments = setting(
        {}, "Further fields of the request, such as `reasoning_effort`.", role=Role.IDENTITY
    )
    accept_models: list[str] = setting(
        [],
        "Further names under which the model may answer. Its own name and dated versions of it are accepted in any"
        " case.",
        **WIRE,
    )

    @property
    def accepted_names(self) -> set[str]:
        return {self.shown_name, *self.accept_models}

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        return {"extra_body": whole(self.extra_body) or None}

    def _problems_of_profile(self) -> Iterator[str]:
        for key, name in self.IN_BODY.items():
            if key in self.extra_body:
                yield f"extra_body/{key}: set {name} instead"
        for key in NOT_IN_BODY & self.extra_body.keys():
            yield f"extra_body/{key}: leave it out; an answer is read whole"

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        for name, value in self.extra_headers.items():
            if not HEADER_NAME.fullmatch(name):
                yield f"extra_headers/{name!r:.60}: no header has such a name"
            elif name.lower() in OF_THE_CLIENT:
                yield f"extra_headers/{name}: the client sets this header; leave it out"
            if not (value.isascii() and value.isprintable()):
                holds = "the value holds a character that a header cannot; expected printable ASCII"
                yield f"extra_headers/{name!r:.60}: {holds}"


class Addressed(OverHttp):
    """A judge behind an endpoint that others run."""

    CALLED = True

    base_url: Annotated[str, StringConstraints(pattern=ADDRESS)] = setting(
        ..., "Address of the endpoint, usually ending in `/v1`.", **WIRE
    )
    api_key_env: Annotated[str, StringConstraints(pattern="^[A-Za-z_][A-Za-z0-9_]*$")] | None = setting(
        None, "Name of the environment variable that contains the key; null: the endpoint needs no key.", **WIRE
    )

    @property
    def shown_name(self) -> str:
        """The judge's model. The endpoint's name of a model is never a path, even if it looks like one."""
        return self.model

    @property
    def sends_secrets_in_the_open(self) -> bool:
        """True if a key, or a header with a variable, would go to another machine over plain http."""
        url = urlsplit(self.base_url)
        variables = any(string.Template(value).get_identifiers() for value in self.extra_headers.values())
        if url.scheme != "http" or not (self.api_key_env or variables):
            return False
        try:
            return not ipaddress.ip_address(url.hostname or "").is_loopback
        except ValueError:
            return (url.hostname or "").lower() != "localhost"

    def _problems(self) -> Iterator[str]:
        if self.sends_secrets_in_the_open and not self.key_over_http:
            yield (
                f"base_url: {self.base_url!r}: the key or a header with a variable would cross the network in plain"
                " text; expected https, or key_over_http: true"
            )
        if wrong := wrong_address(self.base_url):
            yield f"base_url: {self.base_url!r}: {wrong}"
        if self.shards > 1:
            yield f"shards: one job asks an endpoint, with many calls at once; expected 1, found {self.shards}"
        yield from super()._problems()


def wrong_address(url: str) -> str | None:
    """Fault of an endpoint's address; None without a fault."""
    if not re.fullmatch(ADDRESS, url) or not url.isprintable():
        return "expected http:// or https:// and a host, without a user, a query, a fragment, spaces or line breaks"
    try:
        return "no server has port 0" if urlsplit(url).port == 0 else None
    except ValueError as error:
        return str(error)
