//! Reads a table into entities.

use std::collections::HashSet;

use serde::Deserialize;
use skill_sdk::knowledge::Entity;
use skill_sdk::{FailureExt, SkillError};

/// The maximum number of rows.
const MAX_ROWS: usize = 10_000;

/// The columns, in any order.
const COLUMNS: [&str; 4] = ["city", "key", "name", "seats"];

/// A row of the table.
#[derive(Debug, Deserialize)]
struct Row {
    key: String,
    name: String,
    city: String,
    seats: Option<u32>,
}

/// The branches in `text`, in order. An error has the terminal code `table_invalid` and names the line. One invalid row
/// rejects the whole table: a row missing in a snapshot would end the validity of its branch.
pub(crate) fn entities(text: &str) -> Result<Vec<Entity>, SkillError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    check_columns(&mut reader)?;
    let mut keys = HashSet::new();
    let mut entities = Vec::new();
    for row in reader.deserialize::<Row>() {
        // The error of the CSV reader could contain a field, and messages go to callers.
        let line = entities.len() + 2;
        let row = row.terminal_with(
            "table_invalid",
            format!("row {line} must have the columns of a branch"),
        )?;
        let wrong = |what: &str| {
            Err(SkillError::terminal(
                "table_invalid",
                format!("row {line} {what}"),
            ))
        };
        if row.key.is_empty() {
            return wrong("has no key");
        }
        if !keys.insert(row.key.clone()) {
            return wrong("has the key of an earlier row");
        }
        if entities.len() == MAX_ROWS {
            return wrong("exceeds the limit: a table must have at most 10000");
        }
        let mut entity = Entity::new("branch", row.key)
            .title(row.name)
            .attribute("city", row.city);
        if let Some(seats) = row.seats {
            entity = entity.attribute("seats", seats);
        }
        entities.push(entity);
    }
    if entities.is_empty() {
        let message =
            "the table must have at least one row: loading an empty table would remove all branches";
        return Err(SkillError::terminal("table_invalid", message));
    }
    Ok(entities)
}

/// Rejects files with other columns, such as an empty file or an HTML error page.
fn check_columns(reader: &mut csv::Reader<&[u8]>) -> Result<(), SkillError> {
    let message = "row 1 must contain the column names: key, name, city and seats";
    let headers = reader.headers().terminal_with("table_invalid", message)?;
    let mut headers: Vec<_> = headers.iter().collect();
    headers.sort_unstable();
    if headers == COLUMNS {
        Ok(())
    } else {
        Err(SkillError::terminal("table_invalid", message))
    }
}
