//! Permissions that a skill asks for.

use serde_json::Value;

use super::policy::is_empty;
use super::shape::is_permission_name;
use super::text::{kind, quoted};
use super::violation::Violation;

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

/// Whether the permission is in [`KNOWN_PERMISSIONS`].
pub fn is_known_permission(permission: &str) -> bool {
    KNOWN_PERMISSIONS.binary_search(&permission).is_ok()
}

/// Checks one permission.
///
/// # Errors
///
/// A [`Violation`] at `/requiredPermissions`: a warning for a name of the right shape that is not known, an error for
/// everything else.
pub fn check_permission(permission: &str) -> Result<(), Violation> {
    if is_known_permission(permission) {
        return Ok(());
    }
    let name = quoted(permission);
    let violation = |message| Violation::invalid("/requiredPermissions", "requiredPermissions", message);
    Err(if is_permission_name(permission) {
        violation(format!(
            "the permission {name} is not on the list that this SDK knows: if it is not new on the platform, it is \
             a typing error and publication refuses it"
        ))
        .into_warning()
    } else {
        violation(format!(
            "{name} is not a permission: names are lower case words joined by dots, such as \"tasks.read\""
        ))
    })
}

pub(super) fn check(value: Option<&Value>, found: &mut Vec<Violation>) {
    let Some(value) = value.filter(|value| !is_empty(value)) else {
        return;
    };
    let not_a_list = |pointer: String, is: &Value| {
        let message = format!(
            "`requiredPermissions` must be a list of strings, not {}",
            kind(is)
        );
        Violation::invalid(pointer, "requiredPermissions", message)
    };
    let Some(items) = value.as_array() else {
        found.push(not_a_list("/requiredPermissions".to_owned(), value));
        return;
    };
    for (index, item) in items.iter().enumerate() {
        let step = format!("/{index}");
        match item.as_str() {
            None => {
                let mut violation = not_a_list(format!("/requiredPermissions{step}"), item);
                violation.message = format!("a permission must be a string, not {}", kind(item));
                found.push(violation);
            }
            Some(permission) => found.extend(check_permission(permission).err().map(|mut violation| {
                violation.pointer.push_str(&step);
                violation
            })),
        }
    }
}
