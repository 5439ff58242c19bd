"""An executor of skills like the platform's: it imports packages, finds skills, and runs each call in a child process.

Standard library only. It follows the known behavior of the platform's executor. A skill is an object whose *type* has
`__skill_contract__`. The entrypoint `module:function` of the contract is imported and called as `__skill_invoke__(inputs, meta)`. A
call runs in a child process that is killed at the timeout. An exception is a failure, with its `code` if that is valid,
`retryable` if it is exactly true, and `details`.

    executor.py list                  the skills of CONTROL_PLANE_SKILLS_LOCAL_PACKAGES, as JSON
    executor.py run < CALLS           one call per line, {ref, inputs, meta?, kill?, start?}; one response per line
    executor.py measure REF INPUTS N  seconds for N calls in one process each, and for N calls in one process
    executor.py answers FILE          interprets recorded responses of an HTTP server; prints those that differ
"""

import importlib
import json
import multiprocessing
import os
import pkgutil
import re
import sys
import time

CODE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}\Z")


def discover():
    found = {}
    for package in os.environ["CONTROL_PLANE_SKILLS_LOCAL_PACKAGES"].split(","):
        module = importlib.import_module(package)
        names = [package]
        names += [info.name for info in pkgutil.walk_packages(module.__path__, f"{package}.")]
        for name in names:
            for value in vars(importlib.import_module(name)).values():
                contract = getattr(type(value), "__skill_contract__", None)
                if contract is not None:
                    found[contract["implementation"]["entrypoint"]] = value
    return found


def load(entrypoint):
    module, function = entrypoint.split(":", 1)
    value = getattr(importlib.import_module(module), function)
    if not hasattr(type(value), "__skill_contract__"):
        raise LookupError(f"{entrypoint} is not a skill")
    return value


def failure(error):
    code = getattr(error, "code", None)
    known = isinstance(code, str) and CODE.match(code) is not None
    return {
        "code": code if known else "skill_error",
        "message": str(error) if known else type(error).__name__,
        "retryable": getattr(error, "retryable", False) is True,
        "details": getattr(error, "details", None) if known else None,
    }


def work(sender, entrypoint, inputs, meta):
    try:
        result = load(entrypoint).__skill_invoke__(inputs, meta)
        answer = {"outputs": result["outputs"], "cost": result["cost"]}
    except BaseException as error:
        answer = {"failure": failure(error)}
    sender.send(answer)
    sender.close()


def call(entrypoint, job):
    """Runs one call in a child process; kills it at the timeout."""
    contract = type(load(entrypoint)).__skill_contract__
    meta = {"invocationId": None, "idempotencyKey": None, "timeoutSeconds": None, "settings": None}
    meta |= job.get("meta", {}) | {"skill": job["ref"]}
    seconds = job.get("kill") or meta["timeoutSeconds"] or contract["timeoutSeconds"]
    context = multiprocessing.get_context(job.get("start", "fork"))
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=work, args=(sender, entrypoint, job["inputs"], meta))
    child.start()
    sender.close()
    try:
        if receiver.poll(seconds):
            answer = receiver.recv()
        else:
            answer = {"failure": {"code": "timeout", "message": "killed", "retryable": True, "details": None}}
    except EOFError:
        answer = {"failure": {"code": "skill_error", "message": "died", "retryable": False, "details": None}}
    child.kill() if "failure" in answer and answer["failure"]["message"] == "killed" else None
    child.join()
    return answer


def run():
    found = discover()
    entrypoints = {type(skill).reference: entrypoint for entrypoint, skill in found.items()}
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(call(entrypoints[job["ref"]], job)), flush=True)


def measure(reference, inputs, count):
    entrypoints = {type(skill).reference: entrypoint for entrypoint, skill in discover().items()}
    entrypoint = entrypoints[reference]
    start = time.perf_counter()
    for _ in range(count):
        answer = call(entrypoint, {"ref": reference, "inputs": inputs})
        assert "outputs" in answer, answer
    processes = time.perf_counter() - start
    skill = load(entrypoint)
    start = time.perf_counter()
    for _ in range(count):
        skill.__skill_invoke__(inputs, {})
    alone = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(count):
        child = multiprocessing.get_context("fork").Process(target=int)
        child.start()
        child.join()
    empty = time.perf_counter() - start
    print(json.dumps({"calls": count, "processes": processes, "alone": alone, "empty": empty}))


ENDPOINT = "https://skills.test/skills/math.add@1"


def refused(message, errors=None):
    details = None if errors is None else {"errors": errors}
    return {"failure": {"code": "output_contract_violation", "message": message, "retryable": False, "details": details}}


def outcome(status, headers, body):
    """Interprets a response of an HTTP server. The output schema is {type object, required [sum], sum an integer}."""
    if 200 <= status < 300:
        try:
            outputs = json.loads(body.decode())
        except ValueError:
            return refused("the 2xx response is not JSON")
        if not isinstance(outputs, dict):
            return refused(f"outputs must be a JSON object, got {type(outputs).__name__}")
        value = outputs.get("sum")
        if isinstance(value, bool) or not (isinstance(value, int) or isinstance(value, float) and value.is_integer()):
            return refused("outputs do not match the skill's output schema", [{"path": "/sum"}])
        try:
            cost = json.loads(headers.get("x-skill-cost", "null"))
        except ValueError:
            cost = None
        return {"success": {"outputs": outputs, "cost": cost if isinstance(cost, dict) and cost else None}}
    text = body.decode(errors="replace")
    message, retryable = f"{ENDPOINT} answered {status}", False
    if status < 400:
        code = "unexpected_status"
    else:
        code, retryable = f"http_{status}", status >= 500
        try:
            error = json.loads(text)["error"]
            known = isinstance(error["code"], str) and CODE.match(error["code"])
        except (ValueError, TypeError, KeyError):
            known = False
        if known:
            code, retryable = error["code"], error.get("retryable") is True
            said = error.get("message")
            message += f": {error['code'] if said is None else said}"
    details = {"status": status, "body": text[:256], "bodyTruncated": len(text) > 256}
    return {"failure": {"code": code, "message": message[:4000], "retryable": retryable, "details": details}}


def answers(file):
    with open(file, encoding="utf-8") as cases:
        cases = json.load(cases)["cases"]
    for case in cases:
        given, expected = case["input"], case["expect"]
        if given.get("transport") == "timeout":
            failed = {"code": "timeout", "message": f"{ENDPOINT} timed out", "retryable": True, "details": None}
            got = {"failure": failed}
        else:
            if "hex" in given:
                body = bytes.fromhex(given["hex"])
            else:
                body = (given["text"] if "text" in given else json.dumps(given["json"])).encode()
            headers = {name.lower(): value for name, value in given.get("headers", {}).items()}
            got = outcome(given["status"], headers, body)
        for error in ((expected.get("failure") or {}).get("details") or {}).get("errors", []):
            # The wording of a violation depends on the validator.
            del error["message"]
        if got != expected:
            print(json.dumps({"id": case["id"], "got": got, "expected": expected}))
    print(json.dumps({"cases": len(cases)}))


def main():
    match sys.argv[1:]:
        case ["list"]:
            listed = [
                {
                    "entrypoint": entrypoint,
                    "ref": type(skill).reference,
                    "description": type(skill).__doc__,
                    "contract": type(skill).__skill_contract__,
                }
                for entrypoint, skill in discover().items()
            ]
            print(json.dumps(listed))
        case ["run"]:
            run()
        case ["measure", reference, inputs, count]:
            measure(reference, json.loads(inputs), int(count))
        case ["answers", file]:
            answers(file)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
