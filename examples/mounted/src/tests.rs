//! Tests of the application over HTTP.

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use skill_sdk::testing::assert_valid_contract;
use tokio::net::TcpListener;

use super::{Shop, app};
use crate::orders::{Order, Orders};
use crate::skills;

/// Serves the shop and returns its address.
async fn serve(shop: Shop) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app(shop).unwrap()).await });
    address
}

fn shop() -> Shop {
    let order = Order {
        article: "a kettle".into(),
        sent: true,
    };
    Shop::new(Orders::new([(17, order)]))
}

async fn call(address: &str, number: u32) -> (StatusCode, Value) {
    let url = format!("{address}/agents/skills/shop.order@1");
    let body = json!({"inputs": {"number": number}});
    let answer = Client::new().post(url).json(&body).send().await.unwrap();
    (answer.status(), answer.json().await.unwrap())
}

#[test]
fn the_contract_is_valid() {
    assert_valid_contract(skills::order::SKILL);
}

#[tokio::test]
async fn skills_and_routes_share_the_orders() {
    let shop = shop();
    let address = serve(shop.clone()).await;
    let page = reqwest::get(format!("{address}/orders/17")).await.unwrap();
    let expected = json!({"article": "a kettle", "sent": true});
    assert_eq!(page.json::<Value>().await.unwrap(), expected);
    assert_eq!(call(&address, 17).await, (StatusCode::OK, expected));
    let (status, body) = call(&address, 18).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(body["error"]["code"], "order_unknown");
    assert_eq!(
        shop.requests(),
        3,
        "the middleware of the application counts all requests"
    );
}

#[tokio::test]
async fn skills_do_not_shadow_application_routes() {
    let address = serve(shop()).await;
    let listing = reqwest::get(format!("{address}/agents/skills")).await.unwrap();
    let listing = listing.json::<Value>().await.unwrap();
    assert_eq!(listing["skills"][0]["path"], "/agents/skills/shop.order@1");
    for (path, is_ours) in [("/agents/nope", true), ("/nope", false), ("/healthz", false)] {
        let answer = reqwest::get(format!("{address}{path}")).await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        let text = answer.text().await.unwrap();
        assert_eq!(text.contains("\"not_found\""), is_ours, "{path}: {text}");
    }
}
