"""Weights over HTTPS: one file from one URL, resumed by Range where it stopped.

Certificates are checked by Python's defaults, proxies are taken from the environment, and a redirect may lead to TLS
only. A connection that drops is taken up again as long as each attempt brings something.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from email.message import Message
from typing import IO
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from localville.errors import FetchError
from localville.llm.catalog import Url
from localville.llm.part import CHUNK_BYTES, Part, Report

TIMEOUT_SECONDS = 30.0
"""Without a byte for so long the connection counts as dropped."""

FRUITLESS_ATTEMPTS = 3
PAUSE_SECONDS = 1.0
"""Between attempts; doubled after each that brought nothing."""

_AGAIN = "Run the same command again: it goes on where it stopped"


class _RangeRefused(Exception):
    """The server does not have the range that is missing: what has arrived cannot be a part of its file."""


class _OnlyTls(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only to where a catalog entry itself could point."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        try:
            TypeAdapter(Url).validate_python(newurl)
        except ValidationError:
            raise _refused(req.full_url, code) from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def download(url: str, part: Part, total: int | None, report: Report) -> None:
    """Writes the file behind the URL into the part, after what is there already.

    total: bytes of the whole file, or None to believe the server. Raises FetchError; what has arrived stays.
    """
    fruitless, pause = 0, PAUSE_SECONDS
    while total is None or part.size < total:
        before = part.size
        try:
            told = _attempt(url, part, total, report)
        except _RangeRefused:
            part.restart()
            told, reason = -1, "the server does not have the rest of the file"
        except urllib.error.HTTPError as fault:
            fault.close()
            if fault.code not in (408, 429, 500, 502, 503, 504):
                raise _refused(url, fault.code) from None
            told, reason = -1, f"the server answers {fault.code}"
        except (urllib.error.URLError, http.client.HTTPException, OSError) as fault:
            told, reason = -1, f"the server cannot be reached ({getattr(fault, 'reason', fault)})"
        else:
            if told in (None, part.size) and total is None:
                return
            reason = f"the connection ended after {part.size} of {told or total} bytes"
        if part.size > before:
            fruitless, pause = 0, PAUSE_SECONDS
            continue
        fruitless += 1
        if fruitless >= FRUITLESS_ATTEMPTS:
            raise FetchError(reason, where=url, next=f"Check the network. {_AGAIN}")
        time.sleep(pause)
        pause *= 2


def _attempt(url: str, part: Part, total: int | None, report: Report) -> int | None:
    """Reads one response into the part; returns how many bytes the whole file has by the server's word."""
    request = urllib.request.Request(url, headers={"User-Agent": "localville", "Accept-Encoding": "identity"})
    if part.size:
        request.add_header("Range", f"bytes={part.size}-")
    try:
        response = urllib.request.build_opener(_OnlyTls).open(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as fault:
        if fault.code == 416:
            fault.close()
            raise _RangeRefused from None
        raise
    with response:
        length = response.headers.get("Content-Length")
        if response.status == 206:
            start, whole = _content_range(response.headers.get("Content-Range", ""))
            if start != part.size:
                raise _RangeRefused
        else:
            if part.size:
                part.restart()  # The server knows no ranges and sends everything again.
            whole = int(length) if length and length.isdigit() else None
        if total is not None and whole not in (None, total):
            part.restart()
            what = f"the server has a file of {whole} bytes, the catalog says {total}"
            raise FetchError(what, where=url, next="The file at this address has changed; take another model")
        name = f"fetch {part.final.stem}"
        # read1 gives what is there: a stalled connection keeps what came before the stall.
        while chunk := response.read1(CHUNK_BYTES):
            if total is not None and part.size + len(chunk) > total:
                part.restart()
                what = f"the server sends more than the {total} bytes of the catalog"
                raise FetchError(what, where=url, next="The file at this address has changed; take another model")
            part.write(chunk)
            report(name, part.size, total or whole)
    return whole


def _content_range(value: str) -> tuple[int, int | None]:
    """Reads `bytes 100-199/1000` as (100, 1000); (-1, None) when it is not of that form."""
    unit, _, rest = value.partition(" ")
    span, _, whole = rest.partition("/")
    start = span.partition("-")[0]
    if unit.lower() != "bytes" or not start.isdigit():
        return -1, None
    return int(start), int(whole) if whole.isdigit() else None


def _refused(url: str, code: int) -> FetchError:
    if 300 <= code < 400:  # urllib itself follows to http, https and ftp only
        return FetchError("the server redirects to a place without TLS", where=url, next=_AGAIN)
    host = urlsplit(url).hostname
    hints = {
        401: "Its owner asks for an account: fetch it in a browser, then run: localville models add PATH",
        403: "Its owner asks for an account: fetch it in a browser, then run: localville models add PATH",
        404: "The file was moved or removed; see other models: localville models list",
    }
    return FetchError(f"{host} answers {code}", where=url, next=hints.get(code, _AGAIN))
