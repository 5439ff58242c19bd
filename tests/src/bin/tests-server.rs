//! A server with skills, for tests that need a separate process.

#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    clippy::panic,
    reason = "the signatures of the skills are part of the tests"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::{Attached, Attachment, SkillContext, SkillError, skill, state};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::{OnceCell, watch};

/// Connects to the test, and returns when the test closes the connection.
#[skill("process.wait", version = "1", side_effects = "none", risk = "low")]
async fn wait(
    /// The address of the test.
    address: String,
) -> Result<String, SkillError> {
    let failed = |error: std::io::Error| SkillError::terminal("test_gone", error.to_string());
    let mut test = TcpStream::connect(address).await.map_err(failed)?;
    test.read_to_end(&mut Vec::new()).await.map_err(failed)?;
    Ok("waited".into())
}

/// Connects to the test once for all calls. All calls return when the test closes that connection.
#[skill("process.gather", version = "1", side_effects = "none", risk = "low")]
async fn gather(
    /// The address of the test.
    address: String,
) -> Result<String, SkillError> {
    static TEST: OnceCell<watch::Receiver<()>> = OnceCell::const_new();
    let connected = TEST.get_or_try_init(async || {
        let mut test = TcpStream::connect(address).await?;
        let (sender, receiver) = watch::channel(());
        tokio::spawn(async move {
            drop(test.read_to_end(&mut Vec::new()).await);
            drop(sender);
        });
        Ok(receiver)
    });
    let failed = |error: std::io::Error| SkillError::terminal("test_gone", error.to_string());
    // `recv` fails when the sender is dropped.
    let _ = connected.await.map_err(failed)?.clone().changed().await;
    Ok("gathered".into())
}

/// Returns a long string.
#[skill("process.big", version = "1", side_effects = "none", risk = "low")]
async fn big(
    /// Its length in bytes.
    bytes: usize,
) -> String {
    "x".repeat(bytes)
}

/// Blocks its thread, even when it is cancelled, until the test closes the connection.
#[skill(
    "process.stuck",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 5
)]
async fn stuck(
    /// The address of the test.
    address: String,
) -> Result<(), SkillError> {
    let failed = |error: std::io::Error| SkillError::terminal("test_gone", error.to_string());
    let mut test = std::net::TcpStream::connect(address).map_err(failed)?;
    std::io::Read::read_to_end(&mut test, &mut Vec::new()).map_err(failed)?;
    Ok(())
}

/// Works until it is cancelled, and then puts things in order.
#[skill("process.work", version = "1", side_effects = "none", risk = "low")]
fn work(
    /// Where the test listens.
    address: String,
    ctx: &SkillContext,
) -> Result<(), SkillError> {
    let failed = |error: std::io::Error| SkillError::terminal("test_gone", error.to_string());
    let mut test = std::net::TcpStream::connect(address).map_err(failed)?;
    while !ctx.is_cancelled() {
        // As good as working, and leaves the test its cores.
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
    std::io::Write::write_all(&mut test, b"cleaned up").map_err(failed)
}

/// A text and how the call ends.
#[derive(Deserialize, JsonSchema)]
struct Words {
    /// The text.
    text: String,
    /// How the call ends.
    ending: Ending,
    /// More texts.
    #[serde(default)]
    more: Vec<Words>,
}

/// How a call ends.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Ending {
    Good,
    Refused,
    Crashed,
}

/// The outputs of `process.hear`.
#[derive(Serialize, JsonSchema)]
struct Heard {
    /// The text, reversed.
    turned: String,
    /// The number of texts.
    parts: usize,
    /// The headers that the skill would send with requests of its own.
    trace: BTreeMap<String, String>,
}

/// Reverses the text while it holds a secret.
#[skill(
    "process.hear",
    version = "1.2",
    side_effects = "none",
    risk = "low",
    title = "Hear",
    tags = ["talk"],
    secrets = ["TEST_SECRET"],
    examples = serde_json::json!([{"inputs": {"text": "ab", "ending": "good", "more": []}}])
)]
fn hear(inputs: Words, ctx: &SkillContext) -> Result<Heard, SkillError> {
    let secret = ctx.secret("TEST_SECRET")?;
    ctx.add_cost("word", 1.0);
    tracing::info_span!("hearing").in_scope(|| tracing::info!("it is heard"));
    match inputs.ending {
        Ending::Good => Ok(Heard {
            turned: inputs.text.chars().rev().collect(),
            parts: 1 + inputs.more.len(),
            trace: ctx
                .trace_headers()
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        }),
        Ending::Refused => Err(SkillError::terminal("refused", format!("no: {}", inputs.text))
            .with_details(serde_json::json!({"said": inputs.text, "secret": secret.expose()}))),
        Ending::Crashed => panic!("on purpose"),
    }
}

/// The outputs of `process.draw`.
#[derive(Serialize, JsonSchema)]
struct Drawn {
    /// The width of the line.
    width: u8,
}

/// Draws a line as an image attachment.
#[skill(
    "process.draw",
    version = "1",
    side_effects = "none",
    risk = "low",
    tags = ["draw"],
    implementation = http("https://skills.example.com/draw", audience = "skills", scopes = ["lines:draw"])
)]
fn draw(width: u8) -> Attached<Drawn> {
    let line = format!("<svg xmlns='http://www.w3.org/2000/svg'><rect width='{width}' height='1'/></svg>");
    Attached::new(Drawn { width }).with(Attachment::image(line, "image/svg+xml"))
}

/// Blocks a worker thread until the timeout of the call.
#[skill(
    "process.spin",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 30
)]
async fn spin(ctx: &SkillContext) -> Result<(), SkillError> {
    loop {
        ctx.check_deadline()?;
        // Sleeping blocks the thread as computing does, and leaves the cores to the test.
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
}

/// Blocks all worker threads forever, and then connects to the test.
#[skill("process.swamp", version = "1", side_effects = "none", risk = "low")]
async fn swamp(
    /// The address of the test.
    address: String,
) -> Result<(), SkillError> {
    let failed = |error: std::io::Error| SkillError::terminal("test_gone", error.to_string());
    let runtime = tokio::runtime::Handle::current();
    let threads = runtime.metrics().num_workers();
    let (kept, is_kept) = std::sync::mpsc::channel::<()>();
    // Spawned from a thread outside the runtime: a worker keeps the last task that it spawned to itself.
    let spawning = std::thread::spawn(move || {
        // This call blocks the last worker.
        for _ in 1..threads {
            let kept = kept.clone();
            runtime.spawn(async move {
                drop(kept);
                loop {
                    std::thread::park();
                }
            });
        }
    });
    let _ = spawning.join();
    is_kept.iter().for_each(drop);
    let _test = std::net::TcpStream::connect(address).map_err(failed)?;
    loop {
        std::thread::park();
    }
}

/// A state that can always be built.
struct Shared;

#[state]
fn shared() -> Shared {
    Shared
}

fn main() -> std::process::ExitCode {
    let _ = Shared;
    skill_sdk::host::main()
}
