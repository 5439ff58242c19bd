"""Shows what the client libraries of model providers do to tool schemas.

Reads {"tools": [{"name", "description", "inputs"}]} from standard input. Writes the versions of the libraries and for each
tool, under "provider.mode", whether the library accepts it unchanged ("same"), changes it ("altered") or fails ("refused"), with its
message. Requires the packages openai, anthropic and google-genai. Nothing is sent over the network.
"""

import copy
import importlib.metadata
import json
import logging
import sys
import types as namespaces

import anthropic
import pydantic
from anthropic.types import ToolParam
from google.genai import _transformers as gemini_transformers
from google.genai import types as gemini
from openai.lib._pydantic import _ensure_strict_json_schema as openai_strict_schema
from openai.types.shared import FunctionDefinition

# Keywords that the API documents as supported, but that the helper of the library moves into the description.
ANTHROPIC_DOCUMENTED = ("$schema", "definitions", "default", "pattern")


def openai_always(tool):
    definition = FunctionDefinition.model_validate(
        {"name": tool["name"], "description": tool["description"], "parameters": tool["inputs"]}
    )
    return tool["inputs"], definition.parameters


def openai_strict(tool):
    schema = copy.deepcopy(tool["inputs"])
    return tool["inputs"], openai_strict_schema(schema, path=(), root=schema)


def anthropic_always(tool):
    value = {"name": tool["name"], "description": tool["description"], "input_schema": tool["inputs"]}
    return value, pydantic.TypeAdapter(ToolParam).validate_python(value)


def anthropic_strict(tool):
    def expected(schema):
        """The output of the helper for a schema that it accepts unchanged."""
        if isinstance(schema, list):
            return [expected(item) for item in schema]
        if not isinstance(schema, dict):
            return schema
        schema = {key: value for key, value in schema.items() if key not in ANTHROPIC_DOCUMENTED}
        if "enum" in schema or "const" in schema:
            # A type is redundant if the values are fixed.
            schema.pop("type", None)
        if schema.get("type") == "object":
            schema.setdefault("properties", {})
        for key in ("items", "anyOf", "allOf"):
            if key in schema:
                schema[key] = expected(schema[key])
        for key in ("properties", "$defs"):
            if key in schema:
                schema[key] = {name: expected(value) for name, value in schema[key].items()}
        return schema

    def documented(schema):
        """The schema without these keywords at any depth."""
        if isinstance(schema, list):
            return [documented(item) for item in schema]
        if not isinstance(schema, dict):
            return schema
        names = {key for key in ("properties", "$defs") if isinstance(schema.get(key), dict)}
        kept = {key: value for key, value in schema.items() if key not in ANTHROPIC_DOCUMENTED}
        return {
            key: {name: documented(item) for name, item in value.items()} if key in names else documented(value)
            for key, value in kept.items()
        }

    plain = documented(tool["inputs"])
    return expected(plain), anthropic.transform_schema(copy.deepcopy(plain))


def gemini_always(tool):
    declaration = gemini.FunctionDeclaration(
        name=tool["name"], description=tool["description"], parameters_json_schema=tool["inputs"]
    )
    return tool["inputs"], declaration.parameters_json_schema


def gemini_openapi(tool):
    schema = copy.deepcopy(tool["inputs"])
    # Every client omits it.
    schema.pop("$schema", None)
    gemini.FunctionDeclaration(
        name=tool["name"], description=tool["description"], parameters=gemini.Schema.model_validate(schema)
    )
    processed = copy.deepcopy(schema)
    developer_api = namespaces.SimpleNamespace(vertexai=False)
    gemini_transformers.process_schema(processed, developer_api, order_properties=False)
    return schema, processed


CHECKS = {
    "openai.always": openai_always,
    "openai.strict": openai_strict,
    "anthropic.always": anthropic_always,
    "anthropic.strict": anthropic_strict,
    "gemini.always": gemini_always,
    "gemini.openapi": gemini_openapi,
}


def result(check, tool):
    try:
        before, after = check(tool)
    # A library may fail with any exception.
    except Exception as error:
        return {"verdict": "refused", "why": f"{type(error).__name__}: {error}"[:300]}
    if before == after:
        return {"verdict": "same"}
    return {"verdict": "altered", "why": json.dumps(after)[:300]}


def main():
    logging.disable(logging.WARNING)
    tools = json.load(sys.stdin)["tools"]
    names = ("openai", "anthropic", "google-genai")
    json.dump(
        {
            "versions": {name: importlib.metadata.version(name) for name in names},
            "results": [{key: result(check, tool) for key, check in CHECKS.items()} for tool in tools],
        },
        sys.stdout,
    )


main()
