"""An OpenAI-compatible mock server based on the types of the official Python library.

A request that is invalid for the types of the library is rejected with 400 and an error type that no other response format avoids.
The response is generated from the schema in the request, with null wherever null is allowed, and serialized by the library's own
types. Below the path /no-schema a response_format with a schema is rejected. Prints its address, and serves until it is killed.
"""

import http.server
import json
import sys
import typing

import pydantic
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

REQUEST = pydantic.TypeAdapter(CompletionCreateParamsNonStreaming)
KNOWN = set(typing.get_type_hints(CompletionCreateParamsNonStreaming))


def sample(schema, root):
    """A value that is valid for a schema."""
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return sample(target, root)
    if "anyOf" in schema or "oneOf" in schema:
        branches = schema.get("anyOf") or schema["oneOf"]
        null = [branch for branch in branches if branch.get("type") == "null"]
        return sample((null or branches)[0], root)
    kinds = schema["type"]
    if isinstance(kinds, list):
        if "null" in kinds:
            return None
        kinds = kinds[0]
    if "enum" in schema:
        return schema["enum"][0]
    if kinds == "object":
        return {name: sample(inner, root) for name, inner in schema["properties"].items()}
    if kinds == "array":
        return [sample(schema["items"], root)]
    return {"string": "text", "number": schema.get("minimum", 0), "integer": schema.get("minimum", 0), "boolean": True, "null": None}[kinds]


def answer(path, body):
    request = REQUEST.validate_python(body)
    unknown = set(body) - KNOWN
    assert not unknown, f"the library does not know {unknown}"
    # Lists in the library's types are validated lazily: reading them validates them.
    messages = list(request["messages"])
    assert [sorted(message) for message in messages] == [["content", "role"]] * len(messages), messages
    form = request.get("response_format") or {"type": "text"}
    if form["type"] == "json_schema":
        if path.startswith("/no-schema"):
            raise ValueError("no schema")
        schema = form["json_schema"]
        value = sample(schema["schema"], schema["schema"])
    elif path.startswith("/no-schema"):
        assert "JSON Schema" in messages[0]["content"]
        value = {"summary": "text"}
    else:
        value = {}
    usage = {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}
    message = {"role": "assistant", "content": json.dumps(value)}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    completion = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice], "usage": usage}
    return ChatCompletion.model_validate(completion).model_dump_json()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.removesuffix("/chat/completions")
        try:
            assert path != self.path and self.headers["authorization"].startswith("Bearer ")
            status, text = 200, answer(path, body)
        except ValueError as error:
            status, text = 400, json.dumps({"error": {"message": str(error), "type": "invalid_request_error", "code": None, "param": None}})
        except Exception as error:  # pylint: disable=broad-except
            print(f"rejected: {error!r}", file=sys.stderr)
            status, text = 500, json.dumps({"error": {"message": str(error), "code": "unknown_request"}})
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
