#!/usr/bin/env python3
"""Runs third-party MCP clients and the official conformance suite against the example `everything-skills`.

Usage: run.py PROGRAM SCRATCH [--update]
       run.py --install SCRATCH

Everything is installed below the directory SCRATCH; `--install` only installs. Every client must produce the same transcript,
`golden.json`; `--update` regenerates it. Exit code 0 means that everything is as expected.
"""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The timeout of one client or one run of the suite, in seconds.
SECONDS = 240


def install(scratch: Path) -> tuple[dict, Path]:
    """Installs the clients. Returns the environment with the right Node, and the path of Python."""
    scratch.mkdir(parents=True, exist_ok=True)
    for file in HERE.iterdir():
        if file.is_file():
            shutil.copy(file, scratch)
    binaries = [scratch / "node_modules/node/bin", scratch / "node_modules/.bin"]
    path = os.pathsep.join([*map(str, binaries), os.environ["PATH"]])
    environment, python = os.environ | {"PATH": path}, scratch / "python" / "bin" / "python"
    versions = "".join((HERE / name).read_text() for name in ["package.json", "package-lock.json", "requirements.txt"])
    stamp = scratch / "installed"
    if stamp.exists() and stamp.read_text() == versions:
        return environment, python
    # Not `npm ci`: an optional dependency of one of the tools exists only for another platform, and the command would fail.
    npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(npm, cwd=scratch, check=True, timeout=600)
    # An interrupted installation may be incomplete, so start over.
    subprocess.run([sys.executable, "-m", "venv", "--clear", scratch / "python"], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", HERE / "requirements.txt"], check=True, timeout=600)
    stamp.write_text(versions)
    return environment, python


class Server:
    """The example as a server over HTTP."""

    def __init__(self, program: Path, *flags: str):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [program, "serve", "mcp-http", "--allow-anonymous", "--sessions", "--notices", "--port", "0", *flags],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )

    def __enter__(self) -> str:
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise SystemExit(f"the server did not print its address: {line!r}\n{self.told()}")
        return line.removeprefix("listening on ").strip()

    def __exit__(self, *_) -> None:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        if code != 0:
            raise SystemExit(f"the server ended with {code}:\n{self.told()}")

    def told(self) -> str:
        self.log.seek(0)
        return self.log.read()


def run(command: list, environment: dict, scratch: Path) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(
            command, cwd=scratch, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired as late:
        raise SystemExit(f"it takes more than {SECONDS} seconds: {late.cmd}\n{late.stdout}\n{late.stderr}")


def transcripts(program: Path, url: str, environment: dict, python: Path, scratch: Path):
    """The transcript of every client, in every protocol era that it supports, over both transports."""
    stdio, http = ["stdio", program, "serve", "mcp-stdio"], ["http", url]
    clients = [
        ("TypeScript SDK 1", ["node", "sdk_v1.mjs"], ["legacy"]),
        ("TypeScript SDK 2", ["node", "sdk_v2.mjs"], ["legacy", "auto"]),
        ("Python SDK", [python, "sdk_python.py"], ["legacy", "auto"]),
    ]
    for (name, client, eras), target in itertools.product(clients, [stdio, http]):
        for era in eras:
            label = f"{name}, {era}, {target[0]}"
            done = run([*client, era, *target], environment, scratch)
            if done.returncode != 0:
                raise SystemExit(f"{label}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
            yield label, json.loads(done.stdout)


def inspect(program: Path, url: str, environment: dict, scratch: Path, golden: dict) -> None:
    """The Inspector lists and calls tools, and reports no problem in their schemas."""
    targets = [[url], [program, "serve", "mcp-stdio"]]
    for target, era in itertools.product(targets, ["legacy", "modern"]):
        label = f"Inspector, {era}, {'http' if len(target) == 1 else 'stdio'}"
        base = ["mcp-inspector", "--cli", *target, "--protocol-era", era, "--format", "json", "-q"]
        listed = run([*base, "--method", "tools/list", "--strict"], environment, scratch)
        if listed.returncode != 0 or listed.stderr.strip():
            raise SystemExit(f"{label}: tools/list --strict: {listed.returncode}\n{listed.stderr}\n{listed.stdout}")
        names = [tool["name"] for tool in found(listed.stdout, "tools")]
        same(f"{label}: tools/list", names, golden["tools"])
        step = golden["calls"][4]
        call = ["--method", "tools/call", "--tool-name", step["tool"]]
        call += ["--tool-args-json", json.dumps(step["arguments"])]
        called = run([*base, *call], environment, scratch)
        if called.returncode != 0:
            raise SystemExit(f"{label}: tools/call: {called.returncode}\n{called.stderr}\n{called.stdout}")
        same(f"{label}: tools/call", found(called.stdout, "content"), step["result"]["content"])
        print(f"ok: {label}")


def found(text: str, member: str):
    """A field of the result that the Inspector printed."""
    told = json.loads(text)
    return told[member] if member in told else told["result"][member]


def conform(url: str, environment: dict, scratch: Path) -> None:
    """The official suite, with the expected findings."""
    for revision in ["2025-11-25", "2026-07-28"]:
        results = scratch / "results" / revision
        shutil.rmtree(results, ignore_errors=True)
        command = ["conformance", "server", "--url", url, "--requirements", revision, "-o", results]
        done = run([*command, "--expected-failures", f"conformance-{revision}.yml"], environment, scratch)
        summary = done.stdout[done.stdout.find("=== SUMMARY") :]
        print(f"-- conformance, {revision}\n{summary.strip()}")
        if done.returncode != 0:
            raise SystemExit(f"conformance, {revision}: exit code {done.returncode}\n{done.stderr}")


def same(label: str, told, golden) -> None:
    if told != golden:
        told, golden = (json.dumps(one, indent=2, ensure_ascii=False) for one in (told, golden))
        raise SystemExit(f"{label}: differs from golden.json\n-- told\n{told}\n-- golden\n{golden}")


def main() -> None:
    if sys.argv[1] == "--install":
        install(Path(sys.argv[2]).resolve())
        return
    program, scratch = (Path(given).resolve() for given in sys.argv[1:3])
    update = "--update" in sys.argv[3:]
    environment, python = install(scratch)
    golden_file = HERE / "golden.json"
    golden = None if update else json.loads(golden_file.read_text())
    with Server(program) as url:
        for label, told in transcripts(program, url, environment, python, scratch):
            if golden is None:
                golden = told
                golden_file.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")
            same(label, told, golden)
            print(f"ok: {label}")
        inspect(program, url, environment, scratch, golden)
    # The suite checks JSON Schema keywords that the portable form of schemas inlines.
    with Server(program, "--tool-schemas", "contract") as url:
        conform(url, environment, scratch)


main()
