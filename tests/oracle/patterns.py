"""Generates strings that match a regular expression."""

from __future__ import annotations

import random
import re
import re._constants as sre
import re._parser as parser
from typing import Any

_CATEGORIES = {
    sre.CATEGORY_DIGIT: "0123456789",
    sre.CATEGORY_WORD: "abcXYZ012_",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_NOT_SPACE: "abcXYZ012",
    sre.CATEGORY_NOT_DIGIT: "abcXYZ",
    sre.CATEGORY_NOT_WORD: "-.",
}
_ANY = "abcdefXYZ0123456789"


def text(pattern: str, rng: random.Random, low: int = 0, high: int | None = None) -> str | None:
    """A text of a length in these bounds in which the pattern occurs, or None if no attempt gives one."""
    try:
        source = pattern.replace(r"\/", "/").replace(r"\p{L}", "[a-zA-Z]").replace("(?<", "(?P<") if "(?<=" not in pattern and "(?<!" not in pattern else pattern
        tree, compiled = parser.parse(source), re.compile(source)
    except (re.error, OverflowError, RecursionError, ValueError):
        return None
    for attempt in range(12):
        made = "".join(_parts(tree, rng, attempt))
        if len(made) < low:
            made += "".join(rng.choice("abc012") for _ in range(low - len(made)))
        if len(made) >= low and (high is None or len(made) <= high) and compiled.search(made):
            return made
    return None


def _parts(tree: Any, rng: random.Random, more: int) -> list[str]:
    out: list[str] = []
    for op, arg in tree:
        if op is sre.LITERAL:
            out.append(chr(arg))
        elif op is sre.NOT_LITERAL:
            out.append(next(c for c in _ANY if ord(c) != arg))
        elif op is sre.ANY:
            out.append(rng.choice(_ANY))
        elif op is sre.IN:
            out.append(_one_of(arg, rng))
        elif op is sre.BRANCH:
            out.extend(_parts(rng.choice(arg[1]), rng, more))
        elif op is sre.SUBPATTERN:
            out.extend(_parts(arg[3], rng, more))
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            least, most, inner = arg
            for _ in range(min(int(most), int(least) + (more % 4) + (1 if least == 0 and more > 3 else 0))):
                out.extend(_parts(inner, rng, more))
    return out


def _one_of(choices: Any, rng: random.Random) -> str:
    negated = choices and choices[0][0] is sre.NEGATE
    allowed: list[str] = []
    for op, arg in choices:
        if op is sre.LITERAL:
            allowed.append(chr(arg))
        elif op is sre.RANGE:
            allowed.extend(chr(c) for c in range(arg[0], min(arg[1], arg[0] + 60) + 1))
        elif op is sre.CATEGORY:
            allowed.extend(_CATEGORIES.get(arg, "a"))
    if negated:
        return next((c for c in _ANY + "-_. " if c not in allowed), "~")
    plain = [c for c in allowed if c.isalnum() and ord(c) < 128]
    return rng.choice(plain or allowed or ["a"])
