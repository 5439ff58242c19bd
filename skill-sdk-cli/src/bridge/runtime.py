# @HEADER@
"""Calls Rust skills for an executor that imports Python modules.

Each call starts the program with the skills, writes one line of JSON to it and reads the answer. The program ends with
the call, whatever becomes of this process: its standard input ends, and on Linux the system tells it. Processes that a
skill started end with the program.
"""

import importlib
import json
import os
import pathlib
import signal
import subprocess
import time

#: Names the program in place of the one that was written beside this file.
PROGRAM_VARIABLE = "@VARIABLE@"

#: How long the program may take to end after its answer, in seconds.
_END = 10

_HOME = pathlib.Path(__file__).resolve().parent


class SkillError(Exception):
    """The failure of a call: `code`, `message`, `retryable`, `details`."""

    def __init__(self, code, message, retryable=False, details=None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.details = details

    def __reduce__(self):
        return SkillError, (self.code, self.message, self.retryable, self.details)


class Skill:
    """A Rust skill. Each has a class of its own, with its contract as `__skill_contract__`."""

    __slots__ = ()

    def __skill_invoke__(self, inputs, meta=None):
        """Runs the skill and gives `{"outputs", "cost"}`, or raises `SkillError`."""
        return _invoke(type(self).reference, inputs, meta or {})

    def __repr__(self):
        return f"<Rust skill {type(self).reference}>"

    def __reduce__(self):
        return _load, tuple(type(self).entrypoint.split(":", 1))


def skills(module):
    """The skills of a module by their names."""
    return {
        entry["entrypoint"].split(":", 1)[1]: _skill(module, entry)
        for entry in _table()["skills"]
        if entry["entrypoint"].split(":", 1)[0] == module
    }


def _skill(module, entry):
    members = {
        "__slots__": (),
        "__module__": module,
        "__doc__": entry["description"],
        "__skill_contract__": entry["contract"],
        "reference": entry["ref"],
        "name": entry["name"],
        "version": entry["version"],
        "entrypoint": entry["entrypoint"],
    }
    return type("RustSkill", (Skill,), members)()


def _load(module, name):
    return vars(importlib.import_module(module))[name]


def _table():
    with open(_HOME / "skills.json", encoding="utf-8") as file:
        return json.load(file)


def _program():
    named = os.environ.get(PROGRAM_VARIABLE)
    # A path that is not absolute is relative to this file.
    return named or str(_HOME / _table()["program"])


def _invoke(reference, inputs, meta):
    names = ("invocationId", "idempotencyKey", "timeoutSeconds", "settings", "traceparent", "tracestate")
    members = {name: _json(meta[name], f"`meta.{name}` is") for name in names if meta.get(name) is not None}
    try:
        text = _json(inputs, "inputs are")
    except SkillError as error:
        details = {"errors": [{"path": "/", "message": error.message}]}
        message = "inputs do not match the skill's input schema"
        raise SkillError("input_contract_violation", message, details=details) from None
    members = ",".join(f'"{name}":{member}' for name, member in members.items())
    line = f'{{"id":1,"skill":{json.dumps(reference)},"inputs":{text},"meta":{{{members}}}}}\n'.encode()
    process = _start(reference, len(line))
    try:
        answer = _ask(process, line)
    finally:
        _end(process)
    if answer is None:
        status = process.returncode
        raise SkillError("skill_error", f"the program with the skills ended without an answer (status {status})")
    error = answer.get("error")
    if error is None:
        del answer["id"]
        return answer
    raise SkillError(error["code"], error["message"], error["retryable"], error["details"])


def _json(value, what):
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise SkillError("bad_request", f"{what} not JSON: {error}"[:500]) from None


def _start(reference, length):
    arguments = [f"--line-limit={length}", f"--parent={os.getpid()}", "--", reference]
    program = _program()
    try:
        return subprocess.Popen(
            [program, "serve", "local", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    except OSError as error:
        message = f"the program {program} with the skills cannot be started: {error.strerror or error}"
        raise SkillError("skill_program_unavailable", message, retryable=True) from None


def _ask(process, line):
    """The answer to a line, or none when the program ends without one."""
    try:
        process.stdin.write(line)
        process.stdin.flush()
    except BrokenPipeError:
        # The program ended early; its status says more.
        return None
    for text in process.stdout:
        message = _message(text)
        if message is None:
            message = f"the program {process.args[0]} does not answer as a program with skills does"
            raise SkillError("skill_program_unavailable", message, retryable=False)
        if "progress" not in message and "notice" not in message:
            return message
    return None


def _message(text):
    """What a line of the program says, or none when it is no line of the protocol."""
    try:
        message = json.loads(text)
        if "id" not in message:
            return None
        error = message.get("error")
        if error is not None:
            known = error.keys() >= {"code", "message", "retryable", "details"}
        else:
            known = not message.keys().isdisjoint(("outputs", "progress", "notice"))
    except (ValueError, RecursionError, TypeError, AttributeError):
        return None
    return message if known else None


def _end(process):
    """Sees to it that the program is gone, and so is what it started."""
    for stream in (process.stdin, process.stdout):
        try:
            stream.close()
        except OSError:
            pass
    try:
        _wait(process)
    finally:
        # The program cannot always end its group itself, also when it ends well. As long as its status is not taken, the
        # number of both is nobody else's.
        if process.returncode is None:
            _kill(process)
        process.wait()


def _wait(process):
    """Waits for a while until the program ends. Its status stays to be taken, where the system can do that."""
    end = time.monotonic() + _END
    pause = 0.0005
    while time.monotonic() < end:
        try:
            if _has_ended(process):
                return
        except ChildProcessError:
            # Somebody else in this process has taken it.
            process.wait()
            return
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _has_ended(process):
    if not hasattr(os, "waitid"):
        status = process.poll()
        if status:
            # A program that ended well ended its group itself.
            _send_kill("killpg", process)
        return status is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill(process):
    """Ends the program and the processes of its group."""
    if hasattr(os, "killpg"):
        # Not by the methods of the process: they take its status first.
        _send_kill("kill", process)
        _send_kill("killpg", process)
    else:
        process.kill()


def _send_kill(how, process):
    try:
        getattr(os, how)(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):
        # It has ended, or there is no such group, or the system has none.
        pass
