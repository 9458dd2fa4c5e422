"""The error for what a user can put right, and the checks that raise it."""

import math
from collections.abc import Iterable
from typing import Any


class InputError(ValueError):
    """A value, a file or an option that cannot be used.

    The message is one line that names the value and what is allowed.
    """


def check_integer(name: str, value: Any, least: int, most: int) -> None:
    """Raise unless value is a whole number from least to most."""
    if type(value) is bool or not hasattr(value, "__index__") or not least <= value <= most:
        raise InputError(f"{name} is {value!r}; allowed are whole numbers from {least:,} to {most:,}")


def check_positive(name: str, value: Any) -> None:
    """Raise unless value is a finite number above 0."""
    if not is_number(value) or not math.isfinite(value) or value <= 0:
        raise InputError(f"{name} is {value!r}; allowed are finite numbers greater than 0")


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Raise unless value is one of the choices."""
    choices = list(choices)
    if value not in choices:
        raise InputError(f"{name} is {value!r}; allowed are {', '.join(map(str, choices))}")


def is_number(value: Any) -> bool:
    """Whether value can be used as a float; a bool or a string cannot."""
    return type(value) is not bool and (hasattr(value, "__float__") or hasattr(value, "__index__"))
