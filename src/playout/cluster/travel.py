from typing import Any

from playout import problems


def pack(problem: Any) -> dict[str, Any]:
    return {"kind": "built-in", "problem": problem.to_json()}


def unpack(data: Any) -> Any:
    return problems.from_json(data["problem"])
