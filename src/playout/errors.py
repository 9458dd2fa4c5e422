"""The error for what a user can put right, and the checks that raise it.

A check returns the value as the plain int or float it stands for, whatever numeric type it came as.
"""

import math
import re
from collections.abc import Iterable
from typing import Any


class ClusterError(RuntimeError):
    """The cluster failed, and not the problem or its user. What was found before is kept; a resumed search goes on."""


class InputError(ValueError):
    """A value, a file or an option that cannot be used.

    The message is one line that names the value and what is allowed.
    """


def check_integer(name: str, value: Any, least: int, most: int) -> int:
    """Return value as an int; raise unless it is a whole number from least to most."""
    whole = not isinstance(value, bool) and hasattr(value, "__index__")
    if not whole or not least <= value <= most:
        raise InputError(f"{name} is {short(value)}; allowed are whole numbers from {least:,} to {most:,}")
    return int(value)


def check_number(name: str, value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """Return value as a float; raise unless it is a finite number from least to most."""
    number = math.nan
    if not isinstance(value, (bool, str, bytes)):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
    if not math.isfinite(number) or not least <= number <= most:
        limits = "" if least == -math.inf else f" from {least:g}" + ("" if most == math.inf else f" to {most:g}")
        raise InputError(f"{name} is {short(value)}; allowed are finite numbers{limits}")
    return number


def check_positive(name: str, value: Any) -> float:
    """Return value as a float; raise unless it is a finite number above 0."""
    try:
        number = check_number(name, value)
    except InputError:
        number = math.nan
    if not number > 0:
        raise InputError(f"{name} is {short(value)}; allowed are finite numbers greater than 0")
    return number


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return value; raise unless it is one of the choices."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} is {short(value)}; allowed are {', '.join(choices)}")
    return value


def check_bool(name: str, value: Any) -> bool:
    """Return value; raise unless it is a bool."""
    if type(value) is not bool:
        raise InputError(f"{name} is {short(value)}; allowed are True and False")
    return value


def whole_number(name: str, text: str) -> int:
    """Return the whole number a text spells."""
    if not re.fullmatch(r"-?[0-9]{1,100}", text):
        raise InputError(f"{name} is {short(text)}; a whole number is needed")
    return int(text)


def short(value: Any) -> str:
    """Return value as a message shows it: on one line, and not a screenful."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        text = "a huge number"
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if len(text) <= 60 else f"{text[:57]}..."
