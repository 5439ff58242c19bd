//! Tests with a core in memory.

use serde_json::{Value, json};
use skill_sdk::knowledge::{Entity, Snapshot};
use skill_sdk::testing::{FakeCore, assert_package_matches, assert_valid_contract, invoke};

use super::{apply, preview};

const TABLE: &str = "key,name,city,seats\nb-1, Main street ,Riga,12\nb-2,Harbour,Tallinn,\n";

fn core(table: &str) -> FakeCore {
    let core = FakeCore::new();
    core.put("a-1", table, "text/csv");
    core
}

fn load() -> Value {
    json!({"artifact": "a-1", "workspace": "w"})
}

fn to_apply(token: &Value) -> Value {
    json!({"artifact": "a-1", "workspace": "w", "stateToken": token})
}

#[test]
fn the_contracts_are_valid() {
    assert_valid_contract(preview::SKILL);
    assert_valid_contract(apply::SKILL);
}

#[test]
fn the_package_is_up_to_date() {
    assert_package_matches("package");
}

#[tokio::test]
async fn apply_makes_the_previewed_changes() {
    let core = core(TABLE);
    let old = Snapshot::new("offices", "table:branches", "all")
        .entity(
            Entity::new("branch", "b-2")
                .title("Port")
                .attribute("city", "Tallinn"),
        )
        .entity(Entity::new("branch", "b-9"));
    core.load("w", &old);
    let shown = invoke(preview::SKILL, load()).core(&core).await.unwrap();
    let plan = &shown.outputs;
    assert_eq!(
        (&plan["opened"], &plan["changed"], &plan["closed"]),
        (&json!(["b-1"]), &json!(["b-2"]), &json!(["b-9"]))
    );
    assert_eq!(shown.cost.unwrap()["units"]["row"], 2.0);
    assert!(core.applied().is_empty());
    let done = invoke(apply::SKILL, to_apply(&plan["stateToken"]))
        .core(&core)
        .await
        .unwrap();
    assert_eq!(done.outputs["applied"], true);
    let branches = core.entities("w");
    assert_eq!(branches.len(), 2);
    assert_eq!(
        (branches[0].title.as_str(), branches[0].attribute("seats")),
        ("Main street", &json!(12))
    );
    assert_eq!(branches[1].attribute("seats"), &Value::Null);
}

#[tokio::test]
async fn a_stale_plan_changes_nothing() {
    let core = core(TABLE);
    let plan = invoke(preview::SKILL, load()).core(&core).await.unwrap().outputs;
    let theirs = Snapshot::new("offices", "table:branches", "all").entity(Entity::new("branch", "b-7"));
    core.interfere("w", &theirs);
    let late = invoke(apply::SKILL, to_apply(&plan["stateToken"]))
        .core(&core)
        .await
        .unwrap();
    assert_eq!(
        late.outputs,
        json!({"applied": false, "plan": null, "reason": "stale"})
    );
    assert_eq!(core.entities("w")[0].key, "b-7");
}

#[tokio::test]
async fn a_retry_after_a_lost_response_succeeds() {
    let core = core(TABLE);
    let plan = invoke(preview::SKILL, load()).core(&core).await.unwrap().outputs;
    let mut unchanged = Vec::new();
    for _ in 0..2 {
        let done = invoke(apply::SKILL, to_apply(&plan["stateToken"]))
            .core(&core)
            .await;
        let done = done.unwrap().outputs;
        assert_eq!((&done["applied"], &done["reason"]), (&json!(true), &Value::Null));
        unchanged.push(done["plan"]["unchanged"].clone());
    }
    assert_eq!(unchanged, [0, 2], "the second one changes nothing");
    assert_eq!(core.applied().len(), 1);
}

#[tokio::test]
async fn an_invalid_table_is_not_loaded() {
    for (table, row) in [
        ("key,name,city,seats\n,Main,Riga,1\n", "row 2"),
        ("key,name,city,seats\nb-1,Main,Riga,1\nb-1,Main,Riga,1\n", "row 3"),
        ("key,name,city,seats\nb-1,Main,Riga,many\n", "row 2"),
        ("key,name,city,seats\nb-1,Main\n", "row 2"),
        ("key,name\nb-1,Main\n", "row 1"),
        ("", "row 1"),
        ("\n\n", "row 1"),
        ("key,name,city,seats", "the table must have at least one row"),
        ("key,name,city,seats\n\n", "the table must have at least one row"),
        ("b-1,Main,Riga,1\n", "row 1"),
        ("key,name,city\nb-1,Main,Riga\n", "row 1"),
        ("key,name,city,seats,key\nb-1,Main,Riga,1,b-2\n", "row 1"),
        ("key,name,city,seats,country\nb-1,Main,Riga,1,LV\n", "row 1"),
        ("Key,Name,City,Seats\nb-1,Main,Riga,1\n", "row 1"),
        ("{\"error\": \"not found\"}", "row 1"),
    ] {
        let error = invoke(preview::SKILL, load())
            .core(core(table))
            .await
            .unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            ("table_invalid", false),
            "{table}"
        );
        assert!(error.message().starts_with(row), "{table}: {error}");
    }
}

#[tokio::test]
async fn columns_can_have_any_order() {
    let core = core("\u{feff}seats, city,name,key\n3,Riga,Main,b-1\n");
    let plan = invoke(preview::SKILL, load()).core(&core).await.unwrap().outputs;
    assert_eq!(plan["opened"], json!(["b-1"]));
}

#[tokio::test]
async fn platform_failures_are_returned() {
    let error = invoke(preview::SKILL, json!({"artifact": "a-2", "workspace": "w"}))
        .core(core(TABLE))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("artifact_not_found", false)
    );
    let down = core(TABLE);
    down.set_down(true);
    let error = invoke(apply::SKILL, to_apply(&json!("st:1")))
        .core(&down)
        .await
        .unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("core_unavailable", true));
}
