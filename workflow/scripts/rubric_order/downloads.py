"""Fetching a dataset's files: from a mirror folder or from the network, never without the right checksum."""

import logging
import shutil
from pathlib import Path

import httpx
import tenacity

from rubric_order import files
from rubric_order.errors import InputError

log = logging.getLogger(__name__)

ATTEMPTS = 5


def fetch(source: dict, output: Path, *, mirror: Path | None, what: str) -> None:
    """Put a file in place once its checksum is right.

    Args:
        source: ``url``, ``sha256``, and ``mirror``: the file's path under a mirror folder.
        mirror: folder to read from instead of the network.
        what: the dataset and file, for messages.

    Raises:
        InputError: the file is not there, or is not the file that was meant.
    """
    with files.atomic(output) as temporary:
        if mirror is not None:
            if "mirror" not in source:
                raise InputError(f"{what}: config names no 'mirror' path for it (dataset_mirror is {mirror})")
            origin = mirror / source["mirror"]
            if not origin.is_file():
                raise InputError(f"{what}: no file {origin} (dataset_mirror is {mirror})")
            shutil.copyfile(origin, temporary)
        else:
            origin = source["url"]
            try:
                _download(origin, temporary)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                reason = str(error).partition("\n")[0] or type(error).__name__
                raise InputError(f"{what}: cannot download {origin}: {reason}") from None
        found = files.sha256(temporary)
        if found != source["sha256"]:
            raise InputError(f"{what}: {origin} has SHA-256 {found}, expected {source['sha256']}")
        log.info("%s: %s, %d bytes", what, origin, temporary.stat().st_size)


def _passing(error: BaseException) -> bool:
    """Whether a download may succeed if it is tried again."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in (408, 425, 429) or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol)


@tenacity.retry(
    retry=tenacity.retry_if_exception(_passing),
    stop=tenacity.stop_after_attempt(ATTEMPTS),
    wait=tenacity.wait_exponential_jitter(initial=1, max=30),
    before_sleep=tenacity.before_sleep_log(log, logging.WARNING),
    reraise=True,
)
def _download(url: str, path: Path) -> None:
    with httpx.stream("GET", url, follow_redirects=True, timeout=60) as response:
        response.raise_for_status()
        with open(path, "wb") as file:
            for block in response.iter_bytes():
                file.write(block)
