"""The OpenAPI text, made from the operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from rising_bandits import __version__
from rising_bandits.serve.operations import Nothing, Operation
from rising_bandits.serve.problems import TITLES, Problem

_REFERENCE = "#/components/schemas/{name}"


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """The OpenAPI document of some operations."""
    kinds: list[Any] = [Problem]
    for each in operations:
        kinds += [kind for kind in (*each.forms, *_kinds(each.answer), each.query) if kind is not Nothing]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    schema_of = dict(zip(map(repr, kinds), schemas, strict=True))
    paths: dict[str, Any] = {}
    for each in operations:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schema_of, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rising-bandits",
            "version": __version__,
            "summary": "Decisions about sets of parts that get better with practice.",
            "license": {"name": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(each: Operation, schema_of: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """One operation."""
    made: dict[str, Any] = {
        "operationId": each.name,
        "summary": each.summary,
        "tags": [each.tag],
        "responses": {"200": _answer(each, schema_of)},
        "security": [] if each.right is None else [{"token": []}],
    }
    if each.description:
        made["description"] = each.description
    if each.right is not None:
        made["x-right"] = each.right
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"{(\w+)}", each.path)
    ]
    if each.query is not Nothing:
        kind = components[each.query.__name__]
        needed = kind.get("required", [])
        parameters += [
            {"name": name, "in": "query", "required": name in needed, "schema": schema}
            for name, schema in kind["properties"].items()
        ]
    if each.name == "ask":
        key = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"}
        about = "A text of your own. The same key gets the same decision again."
        parameters.append(
            {"name": "Idempotency-Key", "in": "header", "required": False, "schema": key, "description": about}
        )
    if parameters:
        made["parameters"] = parameters
    if each.body is not None:
        made["requestBody"] = {
            "required": each.name != "ask",
            "content": {"application/json": {"schema": _any([schema_of[repr(kind)] for kind in each.forms])}},
        }
    for status in _statuses(each):
        made["responses"][str(status)] = {
            "description": TITLES[status],
            "content": {"application/problem+json": {"schema": schema_of[repr(Problem)]}},
        }
    return made


def _answer(each: Operation, schema_of: dict[str, Any]) -> dict[str, Any]:
    """The answer if all is well."""
    if each.answer is None:
        return {"description": each.summary, "content": {each.type: {"schema": {"type": "string"}}}}
    schema = _any([schema_of[repr(kind)] for kind in _kinds(each.answer)])
    return {"description": each.summary, "content": {each.type: {"schema": schema}}}


def _kinds(answer: Any) -> tuple[Any, ...]:
    """The types of an answer."""
    return answer if isinstance(answer, tuple) else () if answer is None else (answer,)


def _any(schemas: list[Any]) -> Any:
    """The schema of what fits one of several."""
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _statuses(each: Operation) -> list[int]:
    """The statuses of an operation's errors."""
    found = {421, 422, 500, 503, *each.statuses}
    if each.method != "GET":
        found.add(403)
    if each.right is not None:
        found |= {401, 403, 429}
    if "{" in each.path:
        found.add(404)
    if each.body is not None:
        found |= {400, 408, 413, 415, 422}
    return sorted(found)
