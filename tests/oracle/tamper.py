"""Requests with one error each: the oracle must reject all of them."""

from __future__ import annotations

import json
import random
from typing import Iterator
from urllib.parse import unquote

import wire
from arrival import Judge, Request


def tampered(request: Request, judge: Judge, rng: random.Random) -> Iterator[tuple[str, Request]]:
    """Invalid variants of a valid request, each with a description of the change."""

    def but(**changed: object) -> Request:
        return Request(**{**request.__dict__, **changed})  # type: ignore[arg-type]

    yield "a header more", but(headers=[*request.headers, ("x-tampered", "1")])
    base, mark, query = request.url.partition("?")
    yield "a pair more", but(url=f"{request.url}{'&' if mark else '?'}tampered=1")
    yield "a path longer", but(url=f"{base}/tampered{mark}{query}")
    credentials = judge.api.credentials()
    pairs = wire.pairs(query)
    known = [p for p in pairs if p[1] and ("query", unquote(p[0])) not in credentials]
    if known:
        pair = rng.choice(known)
        rest = [p for p in pairs if p is not pair]
        yield "a pair less", but(url=_url(base, rest))
        yield "another value", but(url=_url(base, [*rest, (pair[0], pair[1] + "0z")]))
    own = [h for h in request.headers if h[0].lower() in {p.name.lower() for p in judge.parameters if p.location == "header"} and h[1]]
    if own:
        header = rng.choice(own)
        yield "a header less", but(headers=[h for h in request.headers if h is not header])
    kind = request.header("content-type").partition(";")[0].lower()
    if request.body is not None and (kind == "application/json" or kind.endswith("+json")):
        body = json.loads(request.body)
        worse = {**body, "tampered": 1} if isinstance(body, dict) else [*body, "tampered"] if isinstance(body, list) else [body]
        yield "another body", but(body=json.dumps(worse).encode())
    elif request.body is not None and kind == "application/x-www-form-urlencoded":
        yield "a field more", but(body=request.body + (b"&" if request.body else b"") + b"tampered=1")
    elif request.body is not None and kind != "multipart/form-data":
        yield "a longer body", but(body=request.body + b"0")


def _url(base: str, pairs: list[wire.Pair]) -> str:
    return base + ("?" + "&".join(f"{k}={v}" for k, v in pairs) if pairs else "")
