//! A handwritten schema, and an argument that is mirrored in a header.

use serde::Deserialize;
use skill_sdk::skill;

/// A person to contact.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Person {
    name: Option<String>,
    contact_method: Option<String>,
}

/// Tool with JSON Schema 2020-12 features.
#[skill(
    "json_schema_2020_12_tool",
    version = "1",
    side_effects = "none",
    risk = "low",
    inputs_schema = "schemas/json_schema_2020_12_tool.json"
)]
pub fn json_schema(inputs: Person) -> String {
    let name = inputs.name.unwrap_or_else(|| "somebody".to_owned());
    let method = inputs.contact_method.unwrap_or_else(|| "any way".to_owned());
    format!("{name} can be reached by {method}.")
}

/// Counts the waiting items of a region. A proxy can read the region from a header.
#[skill("test_header_mirroring", version = "1", side_effects = "none", risk = "low")]
pub fn header_mirroring(
    /// The region that the request is routed to.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    /// The minimum priority.
    #[schemars(extend("x-mcp-header" = "Least"))]
    least: Option<u32>,
) -> String {
    format!("{region}: at least {}", least.unwrap_or(0))
}
