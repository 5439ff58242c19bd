//! Permissions that a skill asks for.

use serde_json::Value;

use super::policy::is_empty;
use super::violation::Violation;
use crate::rules;
use crate::text::{kind, quoted};

/// The permissions that platforms are known to have, sorted. The list grows on their side, so a name of the right
/// shape that is not on it is only warned about.
pub const KNOWN_PERMISSIONS: &[&str] = &[
    "admin",
    "agents.manage",
    "agents.read",
    "agents.secrets.manage",
    "agents.status.write",
    "approvals.decide",
    "approvals.manage",
    "approvals.read",
    "artifact_types.manage",
    "artifact_types.read",
    "artifacts.read",
    "artifacts.write",
    "calendars.write",
    "claims.manage",
    "connections.manage",
    "connections.read",
    "connections.status.write",
    "delegations.manage",
    "events.export",
    "events.read",
    "goals.read",
    "goals.write",
    "knowledge.packs.manage",
    "observations.write",
    "operations.manage",
    "operations.read",
    "org.manage",
    "org.read",
    "packages.plan",
    "packages.settings.manage",
    "packages.settings.read",
    "packages.test",
    "principals.read",
    "principals.write",
    "processes.operate",
    "processes.read",
    "processes.write",
    "project_templates.manage",
    "project_templates.read",
    "projects.manage",
    "projects.read",
    "rules.read",
    "rules.write",
    "sessions.manage",
    "sessions.open",
    "skills.execute",
    "skills.invoke",
    "task_types.manage",
    "task_types.read",
    "tasks.claim",
    "tasks.read",
    "tasks.write",
    "workspaces.manage",
    "workspaces.read",
];

pub(super) fn check(value: Option<&Value>, found: &mut Vec<Violation>) {
    let Some(value) = value.filter(|value| !is_empty(value)) else {
        return;
    };
    let violation = |pointer, message| Violation::invalid(pointer, "requiredPermissions", message);
    let Some(items) = value.as_array() else {
        let message = format!(
            "`requiredPermissions` must be a list of strings, not {}",
            kind(value)
        );
        found.push(violation("/requiredPermissions".to_owned(), message));
        return;
    };
    for (index, item) in items.iter().enumerate() {
        let violation = |message| violation(format!("/requiredPermissions/{index}"), message);
        let Some(name) = item.as_str() else {
            let message = format!("a permission must be a string, not {}", kind(item));
            found.push(violation(message));
            continue;
        };
        if let Err(reason) = rules::permission(name) {
            found.push(violation(reason));
        } else if KNOWN_PERMISSIONS.binary_search(&name).is_err() {
            let message = format!(
                "the permission {} is not on the list that this SDK knows: if it is not new on the platform, it is a \
                 typing error and publication refuses it",
                quoted(name)
            );
            found.push(violation(message).into_warning());
        }
    }
}
