#!/usr/bin/env python3
"""Measures the compile time of crates with skills and of the same crates without the macro.

It prints figures and judges nothing. See README.md in this folder.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# The content of a crate. Each variant adds to the one before it.
VARIANTS = {
    "plain": "structs and functions",
    "derives": "and the derives of serde and schemars",
    "by hand": "and, for each function, a table entry that parses, calls, serializes and returns the schemas",
    "skills": "the derives, and #[skill] on each function",
}
PER_MODULE = 10

MANIFEST = """[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[lib]
path = "src/lib.rs"

[dependencies]
{dependencies}
[workspace]
"""

DEPENDENCIES = """schemars = "1"
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
skill-sdk = {{ path = "{sdk}" }}
"""

BY_HAND = """
//! The parts that a server of functions needs: parse, call, serialize.

/// A running call.
pub type Call = std::pin::Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send>>;
/// One function.
pub struct Entry {
    pub name: &'static str,
    pub call: fn(&[u8]) -> Result<Call, serde_json::Error>,
    pub inputs: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
    pub outputs: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
}
/// Serializes the result of a function.
pub fn write<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, String> {
    serde_json::to_vec(value).map_err(|error| error.to_string())
}
"""


def one(variant: str, number: int, edit: int) -> str:
    """The source of one function and its types."""
    read = write = variants = attribute = table = ""
    error = "String"
    if variant != "plain":
        read = "#[derive(serde::Deserialize, schemars::JsonSchema)]\n"
        write = "#[derive(serde::Serialize, schemars::JsonSchema)]\n"
        variants = '#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n#[serde(rename_all = "snake_case")]\n'
    if variant == "skills":
        error = "skill_sdk::SkillError"
        attribute = (
            f'#[skill_sdk::skill("bench.skill_{number}", version = "1", side_effects = "external_read", risk = "low", timeout = 30)]\n'
        )
    if variant == "by hand":
        table = f"""
pub static ENTRY_{number}: crate::table::Entry = crate::table::Entry {{
    name: "bench.skill_{number}",
    call: |inputs| {{
        let inputs: In{number} = serde_json::from_slice(inputs)?;
        Ok(Box::pin(async move {{ crate::table::write(&work_{number}(inputs).await?) }}))
    }},
    inputs: <In{number} as schemars::JsonSchema>::json_schema,
    outputs: <Out{number} as schemars::JsonSchema>::json_schema,
}};
"""
    return f"""
/// The mode of the work.
{variants}pub enum Way{number} {{
    /// As fast as possible.
    Fast,
    /// With a check of each part.
    Careful,
    /// Without writing anything.
    Dry,
}}

/// The work to do.
{read}pub struct In{number} {{
    /// The customer.
    pub customer: String,
    /// The quantity.
    pub count: u32,
    /// Keywords for search.
    pub tags: Vec<String>,
    /// The mode of the work.
    pub way: Option<Way{number}>,
}}

/// The finished work.
{write}pub struct Out{number} {{
    /// Its number.
    pub id: String,
    /// The price in cents.
    pub total: u64,
    /// The mode of the work.
    pub way: Way{number},
}}

/// Do the work number {number}.
{attribute}pub async fn work_{number}(inputs: In{number}) -> Result<Out{number}, {error}> {{
    let total = u64::from(inputs.count) + inputs.tags.len() as u64 + {edit};
    Ok(Out{number} {{ id: inputs.customer, total, way: inputs.way.unwrap_or(Way{number}::Dry) }})
}}
{table}"""


class Crate:
    """A generated crate, built alone in a target directory of its own."""

    def __init__(self, place: Path, variant: str, skills: int):
        self.variant, self.skills = variant, skills
        self.name = f"{variant.replace(' ', '_')}_{skills}"
        self.path = place / self.name
        self.target = self.path / "target"
        self.edits = 0
        (self.path / "src").mkdir(parents=True, exist_ok=True)
        dependencies = "" if variant == "plain" else DEPENDENCIES.format(sdk=ROOT / "skill-sdk")
        (self.path / "Cargo.toml").write_text(MANIFEST.format(name=self.name, dependencies=dependencies))
        if variant != "plain":
            shutil.copy(ROOT / "Cargo.lock", self.path / "Cargo.lock")
        modules = range(0, skills, PER_MODULE)
        lib = "".join(f"pub mod part_{module};\n" for module in modules)
        if variant == "by hand":
            lib += "pub mod table;\n"
            (self.path / "src/table.rs").write_text(BY_HAND.lstrip())
        (self.path / "src/lib.rs").write_text(lib)
        for module in modules:
            self.write(module)

    def write(self, module: int) -> None:
        numbers = range(module, min(module + PER_MODULE, self.skills))
        text = "".join(one(self.variant, number, self.edits if number == 0 else 0) for number in numbers)
        (self.path / f"src/part_{module}.rs").write_text(text)

    def edit(self) -> None:
        """Changes a number in the body of the first function."""
        self.edits += 1
        self.write(0)

    def cargo(self, command: str, *arguments: str) -> tuple[float, float]:
        """Runs cargo; returns the CPU time of all child processes and the wall time, in seconds."""
        environment = dict(os.environ, CARGO_TARGET_DIR=str(self.target), CARGO_INCREMENTAL="1", CARGO_TERM_COLOR="never")
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            ["cargo", command, "--quiet", *arguments],
            cwd=self.path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        passed, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"cargo {command} in {self.path}:\n{done.stdout}")
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, passed

    def clean(self, command: str) -> tuple[float, float]:
        self.cargo("clean", "--package", self.name)
        return self.cargo(command)

    def incremental(self, command: str) -> tuple[float, float]:
        self.edit()
        return self.cargo(command)


def prepare(place: Path, variants: list[str], sizes: list[int], commands: list[str]) -> list[Crate]:
    """Generates the crates and builds their dependencies, which are not measured. They are built for one crate and copied to the others."""
    crates = [Crate(place, variant, size) for size in sizes for variant in variants]
    prebuilt = None
    for crate in crates:
        if crate.variant == "plain":
            continue
        if prebuilt and not crate.target.exists():
            # Keep the modification times: cargo uses them to detect changes.
            shutil.copytree(prebuilt, crate.target)
        if not prebuilt:
            for command in commands:
                crate.cargo(command)
            prebuilt = crate.target
    return crates


def measure(crates: list[Crate], commands: list[str], kinds: list[str], rounds: int, clock: int) -> dict:
    """The medians, by command, kind, size and variant. The crates take turns, so that other load on the machine affects all of them alike."""
    times: dict = {}
    for command in commands:
        for crate in crates:
            crate.cargo(command)
        for kind in kinds:
            for _ in range(rounds):
                for crate in crates:
                    taken = getattr(crate, kind)(command)[clock]
                    times.setdefault((command, kind, crate.skills, crate.variant), []).append(taken)
    return {key: statistics.median(values) for key, values in times.items()}


def report(medians: dict, variants: list[str], sizes: list[int], commands: list[str], kinds: list[str], floor: str) -> None:
    for command in commands:
        for kind in kinds:
            what = "one function's body touched" if kind == "incremental" else "clean, dependencies built"
            print(f"\ncargo {command}, {what}")
            print(f"{'':9}" + "".join(f"{variant:>19}" for variant in variants) + "   skills/derives")
            for size in sizes:
                row = [medians[command, kind, size, variant] for variant in variants]
                more = [
                    (medians[command, kind, size, variant] - medians[command, kind, size, floor]) * 1000 / size
                    for variant in variants
                ]
                cells = "".join(f"{taken:8.2f} s {each:6.1f} ms" for taken, each in zip(row, more))
                known = dict(zip(variants, row))
                print(f"{size:>9}{cells}   {known['skills'] / known['derives']:10.2f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds of what is felt most; at most 90 s")
    parser.add_argument("--rounds", type=int, help="how often each is measured (5; 3 with --quick)")
    parser.add_argument("--sizes", help="numbers of skills (1,50,200; 50 with --quick)")
    parser.add_argument("--commands", help="check,build (build with --quick)")
    parser.add_argument("--kinds", help="clean,incremental (incremental with --quick)")
    parser.add_argument("--variants", help=",".join(VARIANTS) + " (not by hand with --quick)")
    parser.add_argument("--wall", action="store_true", help="time that passes instead of CPU time")
    parser.add_argument("--keep", type=Path, help="where the crates are and stay (target/compile-time, removed afterwards)")
    given = parser.parse_args()

    quick = given.quick
    words = lambda text, default: text.split(",") if text else default
    sizes = [int(size) for size in words(given.sizes, ["50"] if quick else ["1", "50", "200"])]
    commands = words(given.commands, ["build"] if quick else ["check", "build"])
    kinds = words(given.kinds, ["incremental"] if quick else ["clean", "incremental"])
    variants = words(given.variants, ["plain", "derives", "skills"] if quick else list(VARIANTS))
    rounds = given.rounds or (3 if quick else 5)
    if missing := {"derives", "skills"} - set(variants):
        parser.error(f"--variants needs {' and '.join(sorted(missing))}")

    place = given.keep or ROOT / "target/compile-time"
    try:
        crates = prepare(place.resolve(), variants, sizes, commands)
        medians = measure(crates, commands, kinds, rounds, clock=1 if given.wall else 0)
    finally:
        if not given.keep:
            shutil.rmtree(place, ignore_errors=True)
    clock = "seconds that pass" if given.wall else "seconds of CPU time"
    floor = "plain" if "plain" in variants else "derives"
    print(f"{clock}, medians of {rounds}; milliseconds per skill over {floor}")
    for variant in variants:
        print(f"  {variant:8} {VARIANTS[variant]}")
    report(medians, variants, sizes, commands, kinds, floor)


if __name__ == "__main__":
    main()
