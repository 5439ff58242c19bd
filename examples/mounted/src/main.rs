//! The shop as a binary. On Ctrl-C it shuts down gracefully.

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
        // If the signal handler cannot be installed, the program runs until it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    axum::serve(listener, app).with_graceful_shutdown(stop).await?;
    Ok(())
}
