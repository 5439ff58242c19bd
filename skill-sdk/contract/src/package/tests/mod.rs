//! The whole of a package: names, plans, files on disk, drift.

mod checking;
mod comparing;
mod naming;
mod recorded;
mod writing;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::Plan;

/// A skill with a small document; `risk` makes two of them differ.
fn skill(name: &str, version: &str, risk: &str) -> Value {
    json!({
        "apiVersion": "example/v1",
        "kind": "Skill",
        "key": name,
        "spec": {
            "version": version,
            "description": "What it does.\nAnd more.\n",
            "riskLevel": risk,
            "contract": {"inputs": {"type": "object", "required": ["a", "b"]}, "timeoutSeconds": 60},
        },
    })
}

/// A directory for one test, and the package in it.
struct Sandbox {
    root: TempDir,
}

impl Sandbox {
    fn new() -> Self {
        Self {
            root: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    fn package(&self) -> PathBuf {
        self.root.path().join("pack")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.package().join("skills").join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    fn plan(&self, skills: &[Value]) -> Plan {
        Plan::new(self.package(), skills, &[]).expect("a plan")
    }

    /// The names in `skills`, hidden ones too.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.package().join("skills"))
            .into_iter()
            .flatten()
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        names
    }

    /// The drift of `skills` as text, with the directory left out.
    fn drift(&self, skills: &[Value]) -> Vec<String> {
        let directory = format!("{}/", self.package().join("skills").display());
        let found = self.plan(skills).check().expect("a check");
        found
            .iter()
            .map(|drift| drift.to_string().replace(&directory, ""))
            .collect()
    }
}

fn edited(skill: &Value, edit: impl FnOnce(&mut Value)) -> String {
    let mut document = skill.clone();
    edit(&mut document);
    super::yaml::emit(&document)
}
