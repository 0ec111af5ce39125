import hashlib
import http.server
import logging
import re
import threading

import pytest
import tenacity

from rubric_order.base.errors import InputError
from rubric_order.datasets import fetching

RIGHT = b"the right bytes\n" * 1000
SHA256 = hashlib.sha256(RIGHT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers a path with the next of the responses that the test has set for it; the last one stays.

    A response is a status, a place to go to, a body with the length that is promised, or a function of the handler.
    """

    def do_GET(self):
        self.server.asked.append(self.path)
        self.server.ranges.append((self.headers.get("Range"), self.headers.get("If-Range")))
        responses = self.server.responses[self.path]
        kind = responses.pop(0) if len(responses) > 1 else responses[0]
        if isinstance(kind, int):
            self.send_error(kind)
        elif isinstance(kind, str):
            self.send_response(302)
            self.send_header("Location", kind)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif callable(kind):
            kind(self)
        else:
            self.answer(200, *kind)

    def answer(self, status, body, promised=None, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


OK = (RIGHT, len(RIGHT))
WRONG = (b"other bytes", len(b"other bytes"))
CUT = (RIGHT[:5000], len(RIGHT))  # the connection ends before all that was promised has come


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetching._download.retry, "wait", tenacity.wait_none())
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.ranges, server.responses, server.ended = [], [], {}, threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.ended.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def fetch(server, tmp_path):
    def fetch(*responses, sha256=SHA256, timeout=fetching.TIMEOUT):
        server.responses["/file"] = list(responses)
        source = {"url": f"http://127.0.0.1:{server.server_port}/file", "sha256": sha256}
        fetching.fetch(source, tmp_path / "out/file.csv", mirror=None, what="dataset d/file", timeout=timeout)

    return fetch


def test_a_file_with_the_right_checksum_is_put_in_place(fetch, server, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    fetch(OK)
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert server.asked == ["/file"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["file.csv"]
    assert f"dataset d/file: http://127.0.0.1:{server.server_port}/file, {len(RIGHT)} bytes" in caplog.messages


def test_a_failed_download_names_the_setting_that_does_without_the_network(server, tmp_path):
    server.responses["/file"] = [404]
    source = {"url": f"http://127.0.0.1:{server.server_port}/file", "sha256": SHA256, "mirror": "d/file.csv"}
    with pytest.raises(InputError) as error:
        fetching.fetch(source, tmp_path / "out/file.csv", mirror=None, what="dataset d/file")
    assert str(error.value) == (
        f"dataset d/file: cannot download {source['url']}: status 404 Not Found; without a network, dataset_mirror"
        " names a folder with d/file.csv"
    )


def test_a_redirect_is_followed(fetch, server, tmp_path):
    server.responses["/elsewhere"] = [OK]
    fetch("/elsewhere")
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT


def test_no_redirect_leads_from_a_public_address_to_a_private_one(fetch, server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "is_private", lambda host: host == "localhost")  # 127.0.0.1 stands for a public one
    server.responses["/elsewhere"] = [OK]
    message = error_of(fetch, f"http://localhost:{server.server_port}/elsewhere")
    assert message.endswith("it redirects to localhost, a private address")
    assert server.asked == ["/file"]
    assert not (tmp_path / "out/file.csv").exists()


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("169.254.169.254", True),
        ("::1", True),
        ("fe80::1%1", True),
        ("localhost", True),
        ("8.8.8.8", False),
        ("2606:4700::1111", False),
    ],
)
def test_private_addresses_are_known(host, private):
    assert fetching.is_private(host) is private


def test_a_redirect_to_another_protocol_is_refused(fetch):
    assert error_of(fetch, "file:///etc/passwd").endswith("it redirects to file, expected http or https")


def test_no_message_holds_what_an_address_may_hold_that_is_secret(server, tmp_path, caplog):
    server.responses["/file?token=s3cret"] = [500, 404]
    url = f"http://me:pass-word@127.0.0.1:{server.server_port}/file?token=s3cret"
    with pytest.raises(InputError) as error:
        fetching.fetch({"url": url, "sha256": SHA256}, tmp_path / "file", mirror=None, what="dataset d/file")
    shown = f"http://127.0.0.1:{server.server_port}/file?..."
    assert str(error.value) == f"dataset d/file: cannot download {shown}: status 404 Not Found"
    assert caplog.messages == [f"{shown}: status 500; trying again"]


@pytest.mark.parametrize(
    ("bound", "reason"), [("LARGEST_BYTES", "larger than"), ("LONGEST_SECONDS", "not whole after")]
)
def test_a_download_has_a_limit_of_size_and_time(fetch, tmp_path, monkeypatch, bound, reason):
    monkeypatch.setattr(fetching, bound, -1)
    assert reason in error_of(fetch, OK)
    assert not (tmp_path / "out/file.csv").exists()


@pytest.mark.parametrize("failure", [500, 503, 429, 408, CUT], ids=["500", "503", "429", "408", "cut"])
def test_a_failure_that_may_pass_is_tried_again(fetch, server, tmp_path, failure):
    fetch(failure, failure, OK)
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert server.asked == ["/file"] * 3
    assert len(list((tmp_path / "out").iterdir())) == 1


def error_of(fetch, *responses, **options):
    with pytest.raises(InputError) as error:
        fetch(*responses, **options)
    assert "\n" not in str(error.value).strip()
    return str(error.value)


@pytest.mark.parametrize("status", [404, 403, 410])
def test_a_failure_that_will_not_pass_is_tried_once(fetch, server, tmp_path, status):
    found = error_of(fetch, status)
    assert found.startswith(f"dataset d/file: cannot download http://127.0.0.1:{server.server_port}/file: ")
    assert str(status) in found
    assert server.asked == ["/file"]
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("failure", [500, CUT], ids=["500", "cut"])
def test_a_failure_that_goes_on_is_given_up_and_leaves_nothing(fetch, server, tmp_path, failure):
    assert "dataset d/file: cannot download" in error_of(fetch, failure)
    assert server.asked == ["/file"] * fetching.ATTEMPTS
    assert list((tmp_path / "out").iterdir()) == []


def test_wrong_bytes_are_refused_with_both_checksums_and_leave_nothing(fetch, server, tmp_path):
    found = error_of(fetch, WRONG)
    assert f"has SHA-256 {hashlib.sha256(WRONG[0]).hexdigest()}, expected {SHA256}" in found
    assert server.asked == ["/file"]
    assert list((tmp_path / "out").iterdir()) == []


def cut(*, at=5000, body=RIGHT, **headers):
    """The connection ends early."""
    return lambda handler: handler.answer(200, body[:at], len(body), **headers)


def rest(*, body=RIGHT, at=5000, named=None, sent=None, **headers):
    """The rest from a byte on; `named` is where the answer says that it starts."""
    named = f"bytes {at if named is None else named}-{len(body) - 1}/{len(body)}"
    return lambda handler: handler.answer(206, body[at:sent], len(body) - at, Content_Range=named, **headers)


def not_satisfiable(handler):
    handler.answer(416, b"", Content_Range=f"bytes */{len(RIGHT)}")


OTHER = RIGHT.replace(b"right", b"wrong")
FROM_START, FROM_CUT = (None, None), ("bytes=5000-", None)


def test_after_a_cut_only_the_rest_is_asked_for(fetch, server, tmp_path):
    fetch(cut(ETag='"v1"'), rest(ETag='"v1"'))
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert server.ranges == [FROM_START, ("bytes=5000-", '"v1"')]


@pytest.mark.parametrize("headers", [{}, {"ETag": 'W/"v1"'}], ids=str)
def test_only_a_strong_etag_is_given_as_a_condition(fetch, server, tmp_path, headers):
    fetch(cut(**headers), rest(**headers))
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert server.ranges == [FROM_START, FROM_CUT]


def test_a_rest_that_is_cut_too_is_gone_on_with(fetch, server, tmp_path):
    fetch(cut(), rest(sent=7000), 503, rest(at=7000))
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert [asked for asked, _ in server.ranges] == [None, "bytes=5000-", "bytes=7000-", "bytes=7000-"]


@pytest.mark.parametrize(
    ("responses", "ranges"),
    [
        ([cut(), OK], [FROM_START, FROM_CUT]),
        ([cut(ETag='"v1"', body=OTHER), OK], [FROM_START, ("bytes=5000-", '"v1"')]),
        ([cut(), rest(named=4000), OK], [FROM_START, FROM_CUT, FROM_START]),
        ([cut(body=OTHER), rest(), OK], [FROM_START, FROM_CUT, FROM_START]),
        ([cut(body=OTHER), not_satisfiable, OK], [FROM_START, FROM_CUT, FROM_START]),
        ([cut(body=OTHER), rest(), cut(), OK], [FROM_START, FROM_CUT, FROM_START, FROM_START]),
        ([cut(Content_Encoding="identity"), OK], [FROM_START, FROM_START]),
    ],
    ids=["no ranges", "changed", "another range", "parts do not fit", "nothing follows", "cut again", "encoded"],
)
def test_where_going_on_is_not_possible_the_file_is_downloaded_from_the_start(
    fetch, server, tmp_path, responses, ranges
):
    fetch(*responses)
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert server.ranges == ranges


def test_parts_that_do_not_fit_and_a_whole_that_is_wrong_are_refused(fetch, server, tmp_path):
    found = error_of(fetch, cut(body=OTHER), rest(), (OTHER, len(OTHER)))
    assert f"has SHA-256 {hashlib.sha256(OTHER).hexdigest()}, expected {SHA256}" in found
    assert len(server.asked) == 3
    assert list((tmp_path / "out").iterdir()) == []


def stall(handler):
    handler.answer(200, RIGHT[:5000], len(RIGHT))
    handler.server.ended.wait(20)


def test_a_server_that_stalls_counts_as_cut(fetch, server, tmp_path):
    fetch(stall, rest(), timeout=0.1)
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert server.ranges == [FROM_START, FROM_CUT]


def test_a_server_that_goes_on_stalling_is_given_up(fetch, server, tmp_path):
    assert "cannot download" in error_of(fetch, lambda handler: handler.server.ended.wait(20), timeout=0.1)
    assert len(server.asked) == fetching.ATTEMPTS
    assert list((tmp_path / "out").iterdir()) == []


def test_a_length_that_promises_too_much_does_not_hurt_a_right_file(fetch, server, tmp_path):
    fetch((RIGHT, len(RIGHT) + 10), not_satisfiable)
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert server.ranges == [FROM_START, (f"bytes={len(RIGHT)}-", None)]


def test_a_length_that_promises_too_little_is_a_wrong_file(fetch, server, tmp_path):
    assert f"expected {SHA256}" in error_of(fetch, (RIGHT, 100))
    assert server.asked == ["/file"]
    assert list((tmp_path / "out").iterdir()) == []


def test_an_empty_body_is_a_wrong_file(fetch, server, tmp_path):
    assert f"expected {SHA256}" in error_of(fetch, (b"", 0))
    assert server.asked == ["/file"]
    assert list((tmp_path / "out").iterdir()) == []


def test_a_redirect_is_followed_again_for_the_rest(fetch, server, tmp_path):
    server.responses["/elsewhere"] = [cut(), rest()]
    fetch("/elsewhere")
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert server.ranges == [FROM_START, FROM_START, FROM_CUT, FROM_CUT]


def test_redirects_in_a_circle_are_an_error(fetch, tmp_path):
    assert "cannot download" in error_of(fetch, "/file")
    assert list((tmp_path / "out").iterdir()) == []


def test_wrong_bytes_leave_the_file_of_before_as_it_was(fetch, tmp_path):
    fetch(OK)
    error_of(fetch, WRONG)
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT


def test_a_server_that_is_not_there_is_an_error_that_names_it(fetch, server, tmp_path):
    url = f"http://127.0.0.1:{server.server_port}/file"
    server.shutdown()
    server.server_close()
    assert error_of(fetch, OK).startswith(f"dataset d/file: cannot download {url}: ")


@pytest.mark.parametrize("url", ["ftp://example.org/x", "example.org/x", "http://[::1/x"])
def test_an_address_that_cannot_be_asked_is_an_error_without_a_second_try(tmp_path, caplog, url):
    with pytest.raises(InputError, match=re.escape(f"dataset d/file: cannot download {url}: ")):
        fetching.fetch({"url": url, "sha256": SHA256}, tmp_path / "file", mirror=None, what="dataset d/file")
    assert list(tmp_path.iterdir()) == []
    assert caplog.messages == []


def from_mirror(tmp_path, **source):
    source = {"url": "http://127.0.0.1:9/never-asked", "sha256": SHA256, "mirror": "sub/file.csv", **source}
    source = {key: value for key, value in source.items() if value is not None}
    fetching.fetch(source, tmp_path / "out/file.csv", mirror=tmp_path / "mirror", what="dataset d/file")


def test_a_mirror_is_read_instead_of_the_network(tmp_path):
    (tmp_path / "mirror/sub").mkdir(parents=True)
    (tmp_path / "mirror/sub/file.csv").write_bytes(RIGHT)
    from_mirror(tmp_path)
    assert (tmp_path / "out/file.csv").read_bytes() == RIGHT
    assert (tmp_path / "mirror/sub/file.csv").read_bytes() == RIGHT


def test_a_file_that_the_mirror_lacks_is_an_error_that_names_the_folder(tmp_path):
    with pytest.raises(InputError) as error:
        from_mirror(tmp_path)
    folder = tmp_path / "mirror"
    assert str(error.value) == f"dataset d/file: no file {folder / 'sub/file.csv'} (dataset_mirror is {folder})"
    assert list((tmp_path / "out").iterdir()) == []


def test_a_mirror_is_held_to_the_same_checksum(tmp_path):
    (tmp_path / "mirror/sub").mkdir(parents=True)
    (tmp_path / "mirror/sub/file.csv").write_bytes(WRONG[0])
    with pytest.raises(InputError, match=f"expected {SHA256}"):
        from_mirror(tmp_path)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_without_a_path_in_the_mirror_is_an_error_that_says_so(tmp_path):
    with pytest.raises(InputError, match="dataset d/file: config names no 'mirror' path for it"):
        from_mirror(tmp_path, mirror=None)


def test_a_mirror_file_that_cannot_be_copied_is_an_error_that_names_it(tmp_path, monkeypatch):
    (tmp_path / "mirror/sub").mkdir(parents=True)
    (tmp_path / "mirror/sub/file.csv").write_bytes(RIGHT)

    def refuse(origin, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(fetching.shutil, "copyfile", refuse)
    with pytest.raises(InputError, match=r"dataset d/file: cannot copy .*/sub/file.csv: Permission denied"):
        from_mirror(tmp_path)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_can_be_known_by_the_id_that_git_gives_it(tmp_path):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/file").write_bytes(b"what is up, doc?")
    source = {"url": "http://127.0.0.1:9/never-asked", "mirror": "file"}
    known = "bd9dbf5aae1a3862dd1526723246b20206e5fc37"  # of the book Pro Git, Git Objects
    fetching.fetch(source | {"git_blob": known}, tmp_path / "out", mirror=tmp_path / "mirror", what="dataset d/file")
    assert (tmp_path / "out").read_bytes() == b"what is up, doc?"
    wrong = source | {"git_blob": "0" * 40}
    with pytest.raises(InputError, match=f"has git object id {known}, expected 0000"):
        fetching.fetch(wrong, tmp_path / "other", mirror=tmp_path / "mirror", what="dataset d/file")
