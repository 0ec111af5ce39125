"""Fetching a dataset's files from a mirror folder or from the network. Each file's checksum is checked."""

import hashlib
import ipaddress
import logging
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import tenacity

from rubric_order.base import files
from rubric_order.base.errors import InputError

log = logging.getLogger(__name__)

ATTEMPTS = 5
TIMEOUT = 60.0
LONGEST_SECONDS = 3600.0  # longest time of a download, all attempts together
LARGEST_BYTES = 4 * 2**30  # largest size of a file
REDIRECTS = 10  # largest number of redirects


def fetch(source: dict[str, Any], output: Path, *, mirror: Path | None, what: str, timeout: float = TIMEOUT) -> None:
    """Put a file in place once its checksum is right.

    `source` has ``url``, ``sha256`` or ``git_blob``, and ``mirror``, its path in a mirror folder, read instead of the
    network.
    """
    with files.atomic(output) as temporary:
        if mirror is not None:
            if "mirror" not in source:
                raise InputError(f"{what}: config names no 'mirror' path for it (dataset_mirror is {mirror})")
            origin = mirror / source["mirror"]
            if not origin.is_file():
                raise InputError(f"{what}: no file {origin} (dataset_mirror is {mirror})")
            try:
                shutil.copyfile(origin, temporary)
            except OSError as error:
                raise InputError(f"{what}: cannot copy {origin}: {error.strerror}") from None
        else:
            origin = source["url"]
            try:
                _download_in_parts(origin, temporary, source, timeout)
            except (httpx.HTTPError, httpx.InvalidURL, _RefusedError) as error:
                address, origin = origin, public(origin)
                reason = str(error).partition("\n")[0].replace(address, origin) or type(error).__name__
                if isinstance(error, httpx.HTTPStatusError):
                    reason = f"status {error.response.status_code} {error.response.reason_phrase}".strip()
                raise InputError(f"{what}: cannot download {origin}: {reason}{_way_out(source)}") from None
            origin = public(origin)
        kind, checksum, expected = _checksum(source)
        if (actual := checksum(temporary)) != expected:
            raise InputError(f"{what}: {origin} has {kind} {actual}, expected {expected}")
        log.info("%s: %s, %d bytes", what, origin, temporary.stat().st_size)


def _way_out(source: dict[str, Any]) -> str:
    return f"; without a network, dataset_mirror names a folder with {source['mirror']}" if "mirror" in source else ""


class _RefusedError(Exception):
    """A download that is refused: it is too large, takes too long, or has a redirect that is not allowed."""


def public(url: str) -> str:
    """An address for messages: without user, password and query, which may hold a key."""
    try:
        parts = urlsplit(url)
        if "@" not in parts.netloc and not parts.query:
            return url
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return url if "@" not in url and "?" not in url else "the address in config"
    query = "?..." if parts.query else ""
    return f"{parts.scheme}://{host}{port}{parts.path}{query}"


@dataclass
class _Progress:
    """State of a download between attempts: when it is given up, whether it may be resumed, and the content's entity
    tag.
    """

    deadline: float = field(default_factory=lambda: time.monotonic() + LONGEST_SECONDS)
    resume: bool = True
    etag: str | None = None
    resumed: bool = False


def _checksum(source: dict[str, Any]) -> tuple[str, Callable[[Path], str], str]:
    if "sha256" in source:
        return "SHA-256", files.sha256, source["sha256"]
    return "git object id", git_blob, source["git_blob"]


def git_blob(path: Path) -> str:
    """The id that git gives a file's content: SHA-1 over ``blob SIZE``, a zero byte, and the bytes."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def _download_in_parts(url: str, path: Path, source: dict[str, Any], timeout: float) -> None:
    progress = _Progress()
    _download(url, path, progress, timeout)
    _, checksum, expected = _checksum(source)
    if progress.resumed and checksum(path) != expected:
        log.warning("%s: its parts do not fit together; downloading it again from the start", public(url))
        _download(url, path, _Progress(progress.deadline, resume=False), timeout)


def _passing(error: BaseException) -> bool:
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in (408, 425, 429) or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol)


def _told(state: tenacity.RetryCallState) -> None:
    error, url = state.outcome and state.outcome.exception(), state.args[0]
    reason = str(error).partition("\n")[0].replace(url, public(url)) or type(error).__name__
    if isinstance(error, httpx.HTTPStatusError):
        reason = f"status {error.response.status_code}"
    log.warning("%s: %s; trying again", public(url), reason)


@tenacity.retry(
    retry=tenacity.retry_if_exception(_passing),
    stop=tenacity.stop_after_attempt(ATTEMPTS),
    wait=tenacity.wait_exponential_jitter(initial=1, max=30),
    before_sleep=_told,
    reraise=True,
)
def _download(url: str, path: Path, progress: _Progress, timeout: float) -> None:
    have = path.stat().st_size if progress.resume else 0
    headers = {"Accept-Encoding": "identity"}  # a range counts the bytes that are sent, compressed or not
    if have:
        headers["Range"] = f"bytes={have}-"
        if progress.etag is not None:  # without one, the checksum alone tells whether the content has changed
            headers["If-Range"] = progress.etag
    with _opened(url, headers, timeout) as response:
        if have and response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            progress.resumed = True  # the file on disk already holds all bytes
            return
        response.raise_for_status()
        partial = response.status_code == httpx.codes.PARTIAL_CONTENT
        if partial and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            progress.resume = False
            raise httpx.RemoteProtocolError(f"asked for bytes from {have}, got another range")
        progress.resumed = partial and have > 0
        if "Content-Encoding" in response.headers:  # compressed nevertheless: bytes on disk differ from sent bytes
            progress.resume = False
        etag = response.headers.get("ETag", "")
        progress.etag = etag if etag.startswith('"') else None
        with open(path, "ab" if progress.resumed else "wb") as file:
            for block in response.iter_bytes():
                file.write(block)
                if file.tell() > LARGEST_BYTES:
                    raise _RefusedError(f"it is larger than {LARGEST_BYTES} bytes")
                if time.monotonic() > progress.deadline:
                    raise _RefusedError(f"it is not whole after {LONGEST_SECONDS:g} s")


@contextmanager
def _opened(url: str, headers: dict[str, str], timeout: float) -> Iterator[httpx.Response]:
    """The response at the end of all redirects. A redirect from a public address to a private one is refused."""
    with httpx.Client(timeout=timeout, follow_redirects=False) as client:
        request = client.build_request("GET", url, headers=headers)
        inside = is_private(request.url.host)
        for _ in range(REDIRECTS + 1):
            response = client.send(request, stream=True)
            if response.next_request is None:
                break
            response.close()
            request = response.next_request
            if request.url.scheme not in ("http", "https"):
                raise _RefusedError(f"it redirects to {request.url.scheme}, expected http or https")
            if not inside and is_private(request.url.host):
                raise _RefusedError(f"it redirects to {request.url.host}, a private address")
        else:
            raise _RefusedError(f"more than {REDIRECTS} redirects")
        try:
            yield response
        finally:
            response.close()


def is_private(host: str) -> bool:
    """True if a host has an address that is not on the public internet; False if the host cannot be looked up."""
    try:
        entries = socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        return False
    return any(not ipaddress.ip_address(str(entry[4][0]).partition("%")[0]).is_global for entry in entries)
