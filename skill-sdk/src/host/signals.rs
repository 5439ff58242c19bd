//! Signals that stop the program.
//!
//! They are received on a separate thread: skills that compute may block all others, and then neither the server nor its timers
//! make progress. So this thread also ends a process that does not end by itself.

use std::future::{Future, pending};
use std::io;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::command::Failure;

/// How long a process may take beyond its patience: for clients that read their last responses, and for the last traces.
const MARGIN: Duration = Duration::from_secs(10);

/// Resolves when a signal stops the program, with the exit code for that signal. A second signal ends the process at once, and
/// so does the end of `patience` and [`MARGIN`]; before that `last` runs.
pub(super) fn stop_signal(
    patience: Duration,
    last: impl FnOnce() + Send + 'static,
) -> Result<impl Future<Output = u8>, Failure> {
    let failed = |error| Failure::usage(format_args!("cannot listen for signals: {error}"));
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed)?;
    let entered = runtime.enter();
    let next = signals().map_err(failed)?;
    drop(entered);
    let (told, stop) = oneshot::channel();
    std::thread::Builder::new()
        .name("skill-sdk-signals".into())
        .spawn(move || {
            let code = runtime.block_on(end(next, told, patience));
            last();
            std::process::exit(code.into());
        })
        .map_err(failed)?;
    Ok(async move {
        match stop.await {
            Ok(code) => code,
            Err(_) => pending().await,
        }
    })
}

/// Waits for the next signal that ends a program, and gives the exit code for it.
#[cfg(unix)]
fn signals() -> io::Result<impl AsyncFnMut() -> u8 + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move || {
        tokio::select! {
            _ = terminate.recv() => 143_u8,
            _ = interrupt.recv() => 130_u8,
        }
    })
}

#[cfg(not(unix))]
fn signals() -> io::Result<impl AsyncFnMut() -> u8 + Send + 'static> {
    Ok(async || {
        // Without a way to receive signals the program runs until it is ended from outside.
        if tokio::signal::ctrl_c().await.is_err() {
            pending::<()>().await;
        }
        1
    })
}

/// Reports the first signal, and resolves with the exit code when the process has to be ended.
async fn end(mut next: impl AsyncFnMut() -> u8, told: oneshot::Sender<u8>, patience: Duration) -> u8 {
    let first = next().await;
    // The receiver is dropped when the program is already ending.
    let _ = told.send(first);
    tokio::select! {
        biased;
        code = next() => {
            tracing::warn!("a second signal: stopping at once");
            code
        }
        () = sleep(patience.saturating_add(MARGIN)) => {
            tracing::warn!("the program did not stop in time because skills block its threads: stopping at once");
            first
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, timeout};

    use super::*;

    /// So many signals at once, and no others.
    fn signals(count: usize) -> impl AsyncFnMut() -> u8 {
        let mut codes = [143, 130].into_iter().take(count);
        async move || match codes.next() {
            Some(code) => code,
            None => pending().await,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_does_not_stop_is_stopped() {
        let began = Instant::now();
        let (told, stop) = oneshot::channel();
        let patience = Duration::from_secs(5);
        assert_eq!(end(signals(1), told, patience).await, 143);
        assert_eq!(stop.await, Ok(143));
        assert_eq!(began.elapsed().as_secs(), (patience + MARGIN).as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_signal_is_enough() {
        let began = Instant::now();
        // The host may be gone.
        let told = oneshot::channel().0;
        assert_eq!(end(signals(2), told, Duration::MAX).await, 130);
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn patience_has_no_greatest_number() {
        let ended = end(signals(1), oneshot::channel().0, Duration::MAX);
        assert!(timeout(Duration::from_hours(24 * 365), ended).await.is_err());
    }
}
