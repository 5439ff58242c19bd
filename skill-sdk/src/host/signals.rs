//! Being told to stop.

use std::future::Future;

/// Resolves when the program is told to stop; a second signal ends it at once.
#[cfg(feature = "http")]
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    stop_signal_with(|| ())
}

/// The same; before a second signal ends the program, `last` runs.
#[cfg(unix)]
pub(super) fn stop_signal_with(
    last: impl FnOnce() + Send + 'static,
) -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut next = async move || {
        tokio::select! {
            _ = terminate.recv() => 143_u8,
            _ = interrupt.recv() => 130_u8,
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move {
            let code = next().await;
            tracing::warn!("a second signal: stopping at once");
            last();
            std::process::exit(code.into());
        });
    })
}

/// Resolves when the program is told to stop.
#[cfg(not(unix))]
pub(super) fn stop_signal_with(
    _: impl FnOnce() + Send + 'static,
) -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without a way to hear of signals the program runs until it is ended from outside.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    })
}
