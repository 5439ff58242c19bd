//! From targets to skills: builds the programs, asks them, and selects what the targets name.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use skill_sdk::contract::compare_versions;
use skill_sdk::host::command::{Failure, failure, select};
use skill_sdk::host::protocol::{Envelope, PROTOCOL, Problem, SkillEntry};

use crate::cli::Reach;
use crate::runner::{self, Need, Program, program, unreferenced};
use crate::target::{self, Package, Plan};

/// The skills of all programs that the targets reach, and which of them are selected.
#[derive(Debug)]
pub(crate) struct Session {
    described: Vec<SkillDescription>,
    names: Vec<String>,
}

#[derive(Debug)]
struct SkillDescription {
    program: Program,
    envelope: Envelope,
}

/// A selected skill and the program that holds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selected<'a> {
    pub(crate) program: &'a Program,
    pub(crate) skill: &'a SkillEntry,
}

impl Session {
    /// Builds and asks every program that the targets need.
    pub(crate) fn open(reach: &Reach, need: Need) -> Result<Self, Failure> {
        let args = reach.cargo.clone().absolute()?;
        let mut plan = target::resolve(&reach.targets, &args, need == Need::DescribeAll)?;
        if need.is_one_program() {
            plan = one_program(plan)?;
        }
        let mut programs: Vec<Program> = Vec::new();
        for path in &plan.programs {
            programs.push(Program {
                path: path.clone(),
                packages: Vec::new(),
                graph: None,
            });
        }
        for group in &plan.groups {
            if need == Need::Describe {
                group.linked.iter().for_each(warn_of_static_library);
            }
            programs.extend(runner::programs(group, &args, need)?);
        }
        let mut described = Vec::new();
        for program in programs {
            let envelope = program::describe(&program.path)?;
            described.push(SkillDescription { program, envelope });
        }
        let session = Self {
            described,
            names: plan.names,
        };
        session.report_absent(args.verbose > 0);
        Ok(session)
    }

    /// All that the programs said as one envelope: the skills that the targets name, or the problems.
    pub(crate) fn envelope(&self) -> Result<Envelope, Failure> {
        let mut whole = self.unusable();
        whole.skills = if whole.problems.is_empty() {
            let selected = self.selected()?.into_iter();
            selected.map(|selected| selected.skill.clone()).collect()
        } else {
            self.everything()
        };
        Ok(whole)
    }

    /// The skills that the targets name, sorted by name and version; without names all. Skills that are named beside their
    /// package are those of it that are meant. Problems of the programs are an error, and so is a target that names nothing.
    pub(crate) fn selected(&self) -> Result<Vec<Selected<'_>>, Failure> {
        self.unusable().usable()?;
        if self.skills().next().is_none() {
            let packages: Vec<&str> = self.packages().collect();
            return Err(no_skills(&packages));
        }
        let (mut of_packages, mut selected) = (Vec::new(), Vec::new());
        for name in &self.names {
            let found: Vec<Selected<'_>> = self.matching(name).collect();
            if found.is_empty() {
                return Err(self.unknown(name));
            }
            if self.packages().any(|package| package == name) {
                of_packages.push(found);
            } else {
                selected.extend(found);
            }
        }
        let is_named = |one: &Selected<'_>| {
            selected
                .iter()
                .any(|named| named.skill.reference == one.skill.reference)
        };
        of_packages.retain(|package| !package.iter().any(is_named));
        selected.extend(of_packages.into_iter().flatten());
        if self.names.is_empty() {
            selected.extend(self.skills());
        }
        selected.sort_by(|a, b| order(a.skill, b.skill));
        // Two programs may link the same package, and two targets may name the same skill.
        selected.dedup_by(|a, b| a.skill.reference == b.skill.reference);
        Ok(selected)
    }

    /// A program of the author's own has the features that the author gave it.
    pub(crate) fn refuse_without(&self, need: Need) -> Result<(), Failure> {
        for SkillDescription { program, envelope } in &self.described {
            let is_missing = |feature: &&&str| !envelope.features.iter().any(|present| present == **feature);
            let missing = need.features().iter().filter(is_missing);
            let missing: Vec<_> = missing.map(|feature| format!("`{feature}`")).collect();
            if !missing.is_empty() {
                let feature = if missing.len() == 1 { "feature" } else { "features" };
                return Err(Failure::usage(format!(
                    "{} was built without the {feature} {} of skill-sdk",
                    program.path.display(),
                    missing.join(" and ")
                ))
                .help(format!(
                    "add it: skill-sdk = {{ features = {:?} }}",
                    need.features()
                )));
            }
        }
        Ok(())
    }

    /// Every skill of the programs, whatever the targets name.
    pub(crate) fn everything(&self) -> Vec<SkillEntry> {
        self.skills().map(|selected| selected.skill.clone()).collect()
    }

    /// Whether a target is the name of a package or of skills, and no path.
    pub(crate) fn is_name(&self, target: &str) -> bool {
        self.names.iter().any(|name| name == target)
    }

    /// Whether the targets name skills, and not only whole packages.
    pub(crate) fn names_skills(&self) -> bool {
        let is_package = |name: &String| self.packages().any(|package| package == name);
        !self.names.iter().all(is_package)
    }

    /// The one selected skill.
    pub(crate) fn the_one(&self, command: &str) -> Result<Selected<'_>, Failure> {
        let selected = self.selected()?;
        let skills: Vec<&SkillEntry> = selected.iter().map(|selected| selected.skill).collect();
        let one = select::exactly_one(&skills, command)?;
        selected
            .into_iter()
            .find(|selected| std::ptr::eq(selected.skill, one))
            .ok_or_else(|| select::unknown(&one.reference, skills.iter().copied()))
    }

    fn skills(&self) -> impl Iterator<Item = Selected<'_>> {
        self.described.iter().flat_map(|described| {
            described.envelope.skills.iter().map(|skill| Selected {
                program: &described.program,
                skill,
            })
        })
    }

    /// The packages that the programs were built for.
    pub(crate) fn packages(&self) -> impl Iterator<Item = &str> {
        self.described
            .iter()
            .flat_map(|described| described.program.packages.iter().map(String::as_str))
    }

    /// The skills that a name means. A package means all that it links, not only what it declares itself.
    fn matching<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Selected<'a>> {
        self.described.iter().flat_map(move |described| {
            let program = &described.program;
            let package = program.packages.iter().find(|package| **package == *name);
            let linked: BTreeSet<&str> = match (package, &program.graph) {
                (Some(package), Some(graph)) => graph
                    .linked_with(std::slice::from_ref(package))
                    .into_iter()
                    .map(|package| package.name.as_str())
                    .collect(),
                _ => BTreeSet::new(),
            };
            let wanted = move |skill: &&SkillEntry| {
                linked.contains(skill.package.as_str()) || select::matches(skill, name)
            };
            described
                .envelope
                .skills
                .iter()
                .filter(wanted)
                .map(move |skill| Selected { program, skill })
        })
    }

    fn unknown(&self, name: &str) -> Failure {
        if let Some(package) = self.packages().find(|package| *package == name) {
            return no_skills(&[package]);
        }
        let packages: Vec<&str> = self.packages().collect();
        let mut failure = Failure::usage(format!("no target matches `{name}`"));
        if !packages.is_empty() {
            failure = failure.help(format!("the packages are: {}", packages.join(", ")));
        }
        failure.help(format!(
            "the skills are: {}",
            select::listed(self.skills().map(|selected| selected.skill))
        ))
    }

    /// An envelope with every reason why the skills cannot be used, and no skills.
    fn unusable(&self) -> Envelope {
        let own = self
            .described
            .iter()
            .flat_map(|described| described.envelope.problems.iter().cloned());
        Envelope {
            protocol: PROTOCOL,
            sdk: env!("CARGO_PKG_VERSION").to_owned(),
            skills: Vec::new(),
            problems: own.chain(self.twice()).collect(),
            features: Vec::new(),
        }
    }

    /// The same ref in two programs, declared at two places.
    fn twice(&self) -> Vec<Problem> {
        let mut skills: Vec<&SkillEntry> = self.skills().map(|selected| selected.skill).collect();
        skills.sort_by(|a, b| order(a, b));
        let pairs = skills.windows(2).filter_map(|pair| match pair {
            [a, b] if a.reference == b.reference && origin(a) != origin(b) => Some((*a, *b)),
            _ => None,
        });
        let between_programs = pairs.filter(|(a, b)| {
            // One program reports its own duplicates.
            !self.described.iter().any(|described| {
                let has = |skill: &SkillEntry| {
                    described
                        .envelope
                        .skills
                        .iter()
                        .any(|own| std::ptr::eq(own, skill))
                };
                has(a) && has(b)
            })
        });
        between_programs
            .map(|(a, b)| Problem {
                code: "duplicate_skill".to_owned(),
                reference: Some(a.reference.clone()),
                pointer: None,
                origin: Some(format!("{}:{}", b.file, b.line)),
                message: format!(
                    "the skill `{}` is declared twice, also in package {} at {}:{}",
                    a.reference, a.package, a.file, a.line
                ),
            })
            .collect()
    }

    /// Warns of dependencies whose skills are silently absent.
    fn report_absent(&self, verbose: bool) {
        for SkillDescription { program, envelope } in &self.described {
            if verbose && !program.packages.is_empty() {
                eprintln!("packages: {}", program.packages.join(", "));
            }
            for absent in unreferenced(program, &envelope.skills) {
                let consequence = if absent.linked_here {
                    "a program of its own would not link those skills"
                } else {
                    "its skills are not linked"
                };
                failure::warn(
                    &format!(
                        "package '{}' depends on '{}', which uses skill-sdk, but no code names it: {consequence}",
                        absent.user, absent.package
                    ),
                    Some(&format!(
                        "write `use {} as _;` in src/lib.rs of {}",
                        absent.extern_name, absent.user
                    )),
                );
            }
        }
    }
}

/// The other way to lose skills silently, which only the program that links them could see.
fn warn_of_static_library(package: &Package) {
    if package.is_static_library() {
        failure::warn(
            &format!(
                "package '{}' is also a static library: a program in another language may link it without its skills",
                package.name
            ),
            Some("let its linker keep the whole library: `-Wl,--whole-archive`, on macOS `-Wl,-force_load`"),
        );
    }
}

/// What can be served: one process links one set of packages by one lock file.
fn one_program(mut plan: Plan) -> Result<Plan, Failure> {
    let count =
        |plan: &Plan| plan.programs.len() + plan.groups.iter().map(target::Group::programs).sum::<usize>();
    if count(&plan) <= 1 {
        return Ok(plan);
    }
    if plan.groups.len() + plan.programs.len() > 1 {
        return Err(Failure::usage(
            "one host serves the skills of one workspace, and the targets are of several",
        )
        .help("make a small package that depends on all of them and names each with `use the_crate as _;`"));
    }
    plan.groups = plan
        .groups
        .into_iter()
        .filter_map(target::Group::by_one_runner)
        .collect();
    if count(&plan) != 1 {
        return Err(
            Failure::usage("one host is one program, and the targets bring several of their own")
                .help("name one of the packages"),
        );
    }
    Ok(plan)
}

fn no_skills(packages: &[&str]) -> Failure {
    let names = packages
        .iter()
        .map(|name| format!("'{name}'"))
        .collect::<Vec<_>>()
        .join(", ");
    let place = if names.is_empty() {
        "the program".to_owned()
    } else {
        names
    };
    Failure::usage(format!("no skills found in {place}"))
        .help("is the module that declares them declared itself, with `mod`?")
        .help("is the crate that declares them named somewhere (`use other_crate as _;`)?")
        .help("are they behind a feature? `--features NAME` turns one on")
}

fn order(a: &SkillEntry, b: &SkillEntry) -> Ordering {
    let by_name = a.name.cmp(&b.name);
    by_name.then_with(|| compare_versions(&a.version, &b.version))
}

fn origin(skill: &SkillEntry) -> (&str, &str, u32) {
    (&skill.package, &skill.file, skill.line)
}
