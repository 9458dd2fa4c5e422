"""Files of instances: where they are found by name, the folders that ``PLAYOUT_DATA`` lists, and reading them."""

import os
import re
from contextlib import suppress
from pathlib import Path

from playout.errors import InputError, short

VARIABLE = "PLAYOUT_DATA"
OWN = Path(__file__).parent / "problems" / "data"


def folders() -> list[Path]:
    """Return the data folders in the order in which they are searched."""
    listed = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [*(Path(folder) for folder in listed if folder), OWN]


def find(kind: str, name: str) -> Path:
    """Return the file of an instance: a path as it is, a plain name from the data folders.

    In each folder ``KIND/NAME.txt``, ``KIND/NAME``, ``NAME.txt`` and ``NAME`` are tried. An existing file of
    that name in the current directory comes first. A name with a slash is always a path.

    Raises
    ------
    InputError
        If a plain name is nowhere, with where it was looked for.
    """
    if _is_file(Path(name)) or Path(name).name != name:
        return Path(name)
    for folder in folders():
        for candidate in (folder / kind / f"{name}.txt", folder / kind / name, folder / f"{name}.txt", folder / name):
            if _is_file(candidate):
                return candidate
    looked = ", ".join(str(folder) for folder in [Path.cwd(), *folders()])
    raise InputError(
        f"there is no {kind} instance {short(name)} in {looked}; "
        f"set {VARIABLE} to the folder that has it, or give the path of a file"
    )


def _is_file(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return path.is_file()
    return False


def split_lines(text: str) -> list[str]:
    """Return the lines of a text as editors count them: other separators that Unicode knows end no line."""
    return re.split(r"\r\n|\n|\r", text)


def read_text(path: str | Path, what: str, most: int) -> str:
    """Return the text of a file; raise if it is none, or larger than what it should be can be."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(most + 1)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not a text file") from None
    except ValueError:
        raise InputError(f"{str(path)!r} cannot be the name of a file") from None
    if len(text) > most:
        raise InputError(f"{str(path)!r} is larger than {what} can be ({most:,} characters)")
    return text
