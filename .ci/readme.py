"""Runs every shell command of a README as a new user would, in one shell session, and compares the outputs that it shows.

Blocks fenced as `sh` are run in order, and each command must succeed. Blocks fenced as `console` have commands behind `$ ` and their
outputs, which must be the same: standard output, then the errors, warnings and hints on standard error. A command that serves HTTP is
started in the background on a free port; the `curl` line that it prints is run, then the server must shut down gracefully. Of a command
that adds an MCP server to a client, the server is started as the client would do, and must list a tool. A Rust block that follows the
words "into `FILE`" is written to FILE. Crates beside the clone are built in the clone's `target`, where most of it is built already, and
`cargo install` installs there too.

usage: readme.py README COMMAND…; each COMMAND must be among those of the README, and a command that serves too
"""

import difflib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SERVES = re.compile(r"\bserve http\b")
ADDS_A_SERVER = re.compile(r"^claude mcp add .*? -- (.*)$")
MESSAGE = re.compile(r"^(error|warning|help): ")

MCP_REQUESTS = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "readme", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]


def blocks(text: str):
    """Yields (language, code, the paragraph before it) of the fenced blocks."""
    before = ""
    for match in re.finditer(r"(?P<prose>.*?)^```(?P<lang>\w+)\n(?P<code>.*?)^```\n", text, re.S | re.M):
        before = match["prose"].strip().split("\n\n")[-1]
        yield match["lang"], match["code"], before


class Shell:
    """A shell whose directory and variables live on from one command to the next."""

    def __init__(self, directory: Path):
        self.clone = directory
        self.directory = directory
        installed = directory / "target" / "installed"
        self.variables = os.environ | {
            "CARGO_INSTALL_ROOT": str(installed),
            "PATH": f"{installed / 'bin'}:{os.environ['PATH']}",
        }

    def environment(self) -> dict:
        """The variables of the next command."""
        if self.directory.is_relative_to(self.clone):
            return self.variables
        return self.variables | {"CARGO_TARGET_DIR": str(self.clone / "target")}

    def run(self, command: str) -> None:
        print(f"\n$ {command}", flush=True)
        with tempfile.NamedTemporaryFile("r", suffix=".env") as state:
            script = f"set -e\n{command}\n{{ pwd; env -0; }} > {state.name}"
            subprocess.run(["bash", "-c", script], cwd=self.directory, env=self.environment(), check=True)
            directory, _, variables = state.read().partition("\n")
        self.directory = Path(directory)
        pairs = (pair.partition("=") for pair in variables.split("\0") if "=" in pair)
        self.variables = {name: value for name, _, value in pairs if name != "CARGO_TARGET_DIR"}

    def compare(self, command: str, expected: str) -> None:
        print(f"\n$ {command}", flush=True)
        script = ["bash", "-c", command]
        ended = subprocess.run(script, cwd=self.directory, env=self.environment(), capture_output=True, text=True)
        found = ended.stdout + "".join(line for line in ended.stderr.splitlines(True) if MESSAGE.match(line))
        print(found, end="", flush=True)
        if found != expected:
            lines = difflib.unified_diff(expected.splitlines(True), found.splitlines(True), "shown", "printed")
            raise SystemExit(f"the output is not the one that is shown:\n{''.join(lines)}{ended.stderr}")

    def add_a_server(self, command: str) -> None:
        print(f"\n$ {command}", flush=True)
        requests = "".join(json.dumps(request) + "\n" for request in MCP_REQUESTS)
        script = ["bash", "-c", command]
        ended = subprocess.run(
            script, cwd=self.directory, env=self.environment(), input=requests, stdout=subprocess.PIPE, text=True, check=True
        )
        responses = [json.loads(line) for line in ended.stdout.splitlines()]
        tools = [tool["name"] for response in responses for tool in response["result"].get("tools", [])]
        print(f"tools: {tools}", flush=True)
        if not tools:
            raise SystemExit(f"the server lists no tools: {ended.stdout}")

    def serve(self, command: str) -> None:
        print(f"\n$ {command} &", flush=True)
        with tempfile.TemporaryFile("w+") as errors:
            server = subprocess.Popen(
                ["bash", "-c", f"exec {command} --port 0"],
                cwd=self.directory,
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
            try:
                line = server.stdout.readline()
                if not line.startswith("listening on http://127.0.0.1:"):
                    raise SystemExit(f"the server did not say where it listens: {line!r}")
                print(line, end="", flush=True)
                self.run(self.curl_line(errors))
            finally:
                os.killpg(server.pid, signal.SIGTERM)
                code = server.wait(timeout=60)
                errors.seek(0)
                if code != 0:
                    raise SystemExit(f"the server ended with {code}:\n{errors.read()}")

    @staticmethod
    def curl_line(errors) -> str:
        # The line is printed right after the address, by another write.
        for _ in range(200):
            errors.seek(0)
            lines = re.findall(r"^try: (curl .*)$", errors.read(), re.M)
            if lines:
                return lines[0].replace("curl -sS", "curl -sS --fail-with-body")
            time.sleep(0.05)
        raise SystemExit("the server printed no curl line")


def transcript(code: str):
    """Yields (command, output) of a block fenced as `console`."""
    for part in re.split(r"^\$ ", code, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def main() -> None:
    readme, wanted = Path(sys.argv[1]).resolve(), set(sys.argv[2:])
    done = set()
    shell = Shell(readme.parent)
    with tempfile.TemporaryDirectory() as scratch:
        # `cd ..` leads beside the clone; a scratch directory takes that place.
        for language, code, before in blocks(readme.read_text()):
            if language == "rust":
                target = re.search(r"into `([^`]+)`", before)
                if target:
                    (shell.directory / target[1]).write_text(code)
            elif language == "console":
                for command, output in transcript(code):
                    shell.compare(command, output)
            elif language == "sh":
                for command in code.replace("\\\n", "").splitlines():
                    done.add("a server" if SERVES.search(command) else command.strip())
                    command = command.replace("cd .. &&", f"cd '{scratch}' &&")
                    if SERVES.search(command):
                        shell.serve(command)
                    elif added := ADDS_A_SERVER.match(command):
                        shell.add_a_server(added[1])
                    elif command.strip():
                        shell.run(command)
    if missing := (wanted | {"a server"}) - done:
        raise SystemExit(f"{readme} does not have in a block fenced as `sh`: {', '.join(sorted(missing))}")


main()
