//! The shop as a program. It stops listening on Ctrl-C and lets running requests finish.

use std::error::Error;
use std::net::SocketAddr;

use mounted::orders::{Order, Orders};
use mounted::{Shop, app};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let order = Order {
        article: "a kettle".into(),
        sent: true,
    };
    let app = app(Shop::new(Orders::new([(17, order)])))?;
    let address: SocketAddr = "127.0.0.1:8080".parse()?;
    let listener = TcpListener::bind(address).await?;
    let stop = async {
        // Without a way to hear of signals the program runs until it is ended from outside.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    axum::serve(listener, app).with_graceful_shutdown(stop).await?;
    Ok(())
}
