//! Skills in an existing axum application: a shop with its own state, routes and middleware. The skills are mounted below
//! `/agents`, use the data of the application, and are called through the same middleware.

pub mod orders;
pub mod skills;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use axum::{Json, Router};
use skill_sdk::http::{HttpServer, Limits, router};
use skill_sdk::pipeline::{SkillSet, SkillSetError, install_panic_hook};

use crate::orders::{Order, Orders};

/// The state of the application.
#[derive(Debug, Clone, Default)]
pub struct Shop {
    orders: Arc<Orders>,
    requests: Arc<AtomicU64>,
}

impl Shop {
    /// Creates a shop with these orders.
    pub fn new(orders: Orders) -> Self {
        Self {
            orders: Arc::new(orders),
            requests: Arc::default(),
        }
    }

    /// The number of requests so far, for skills and all other routes.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

/// The application: its own routes, and the skills below `/agents`.
///
/// This application does not authenticate callers. For authentication, pass a token verifier to `HttpServer::new`.
///
/// # Errors
///
/// If a skill is invalid.
pub fn app(shop: Shop) -> Result<Router, SkillSetError> {
    // `serve http` does this by itself.
    install_panic_hook();
    let mut limits = Limits::default();
    limits.max_body_bytes = 64 * 1024;
    limits.concurrency = 16;
    // Skills have no axum state: they get the orders of the application as a state of the SDK.
    let host = SkillSet::collect()?.provide(Arc::clone(&shop.orders));
    let skills = router(HttpServer::anonymous(host).limits(limits));
    Ok(Router::new()
        .route("/orders/{number}", get(order))
        .with_state(shop.clone())
        .nest("/agents", skills)
        .layer(from_fn_with_state(shop, count))
        .fallback(|| async { (StatusCode::NOT_FOUND, "no such page\n") }))
}

async fn order(State(shop): State<Shop>, Path(number): Path<u32>) -> Result<Json<Order>, StatusCode> {
    shop.orders
        .find(number)
        .cloned()
        .map(Json)
        .ok_or(StatusCode::NOT_FOUND)
}

async fn count(State(shop): State<Shop>, request: Request, next: Next) -> Response {
    shop.requests.fetch_add(1, Ordering::Relaxed);
    next.run(request).await
}

#[cfg(test)]
mod tests;
