//! Skills that misbehave: they print, hang, block their thread, leave child processes behind and fail in every way.
//!
//! `local-skills parent ARGUMENTS LINE` starts itself as `serve local ARGUMENTS`, sends it the line, prints the process
//! id of that child, and waits to be killed. `local-skills mcp-parent ARGUMENTS LINE` does the same with `serve
//! mcp-stdio`.

#![allow(
    clippy::unwrap_used,
    clippy::unused_async,
    reason = "this program is part of the tests, and a panic is a failed test"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, ExitCode, Stdio};

use serde_json::json;
use skill_sdk::{SkillContext, SkillError, skill};

/// Prints to standard output in every way a program can.
#[skill("proc.print", version = "1", side_effects = "none", risk = "low")]
fn print() -> String {
    println!("printed");
    let _ = std::io::stdout().write_all(b"{\"id\": 1, \"outputs\": {\"forged\": true}}\n");
    let _ = std::io::stdout().flush();
    let child = Command::new("sh").args(["-c", "echo from a child"]).status();
    if cfg!(target_os = "linux")
        && let Ok(mut raw) = std::fs::File::options().append(true).open("/proc/self/fd/1")
    {
        let _ = raw.write_all(b"raw\n");
    }
    format!("{:?}", child.map(|status| status.success()))
}

/// Reads standard input to its end, in this process and in a child process.
#[skill("proc.read", version = "1", side_effects = "none", risk = "low")]
fn read() -> u64 {
    let mut text = String::new();
    let own = std::io::stdin().read_to_string(&mut text).unwrap();
    let child = Command::new("cat").stderr(Stdio::inherit()).output().unwrap();
    (own + child.stdout.len()) as u64
}

/// Never returns.
#[skill("proc.hang", version = "1", side_effects = "none", risk = "low")]
async fn hang(ctx: &SkillContext) {
    ctx.progress(0.0, None, "hanging");
    std::future::pending::<()>().await;
}

/// Never returns and blocks its thread.
#[skill("proc.spin", version = "1", side_effects = "none", risk = "low")]
fn spin(ctx: &SkillContext) {
    ctx.progress(0.0, None, "spinning");
    loop {
        std::thread::park();
    }
}

/// Blocks a worker thread until the call is cancelled.
#[skill("proc.compute", version = "1", side_effects = "none", risk = "low")]
async fn compute(ctx: &SkillContext) -> Result<(), SkillError> {
    ctx.progress(0.0, None, "computing");
    loop {
        ctx.check_deadline()?;
        std::thread::park_timeout(std::time::Duration::from_millis(1));
    }
}

/// Blocks all worker threads and never returns.
#[skill("proc.swamp", version = "1", side_effects = "none", risk = "low")]
async fn swamp(ctx: &SkillContext) {
    let threads = tokio::runtime::Handle::current().metrics().num_workers();
    let (kept, is_kept) = std::sync::mpsc::channel();
    for _ in 0..threads {
        let kept = kept.clone();
        tokio::spawn(async move {
            kept.send(()).unwrap();
            loop {
                std::thread::park();
            }
        });
    }
    // This call already runs on a thread of its own, as the first calls of each skill do.
    is_kept.iter().take(threads).for_each(drop);
    ctx.progress(0.0, None, "swamped");
    std::future::pending::<()>().await;
}

/// The response of the user.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// Sends two elicitations at once.
#[skill("proc.ask", version = "1", side_effects = "none", risk = "low")]
async fn ask(ctx: &SkillContext) -> Result<String, SkillError> {
    let (first, second) = tokio::join!(
        ctx.ask::<Name>("first", "Who are you?"),
        ctx.ask::<Name>("second", "And who else?"),
    );
    Ok(format!(
        "{} {}",
        first?.accepted()?.name,
        second?.accepted()?.name
    ))
}

/// Starts a child process that starts another one, writes both process ids into a file, and then ends as the input says.
#[skill("proc.family", version = "1", side_effects = "none", risk = "low")]
#[expect(clippy::zombie_processes, reason = "the children must outlive this call")]
fn spawn_children(file: String, then: String, ctx: &SkillContext) {
    let mut child = Command::new("sh")
        .args(["-c", "sleep 1000 & echo $!; wait"])
        .stdout(Stdio::piped())
        // The children must not hold the pipes of the server: the test reads its standard error to the end.
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut grandchild = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut grandchild)
        .unwrap();
    std::fs::write(file, format!("{} {}", child.id(), grandchild.trim())).unwrap();
    ctx.progress(0.0, None, "they run");
    match then.as_str() {
        "return" => {}
        "exit" => std::process::exit(3),
        "kill" => drop(Command::new("sh").args(["-c", "kill -9 $PPID"]).status()),
        _ => loop {
            std::thread::park();
        },
    }
}

/// Returns its input.
#[skill("proc.answer", version = "1", side_effects = "none", risk = "low")]
async fn answer(text: String) -> String {
    text
}

/// A type that prints while the server derives its schema.
struct Loud;

impl schemars::JsonSchema for Loud {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Loud".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        if std::env::args().any(|argument| argument.starts_with("serve")) {
            println!("printed by a schema");
        }
        schemars::json_schema!({"type": "object"})
    }
}

impl serde::Serialize for Loud {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde::Serialize::serialize(&std::collections::BTreeMap::<String, u8>::new(), serializer)
    }
}

/// Returns a value whose type prints while its schema is derived.
#[skill("proc.loud", version = "1", side_effects = "none", risk = "low")]
fn loud() -> Loud {
    Loud
}

/// Fails in the way that the input names.
#[skill("proc.fail", version = "1", side_effects = "none", risk = "low")]
async fn fail(kind: String) -> Result<(), SkillError> {
    match kind.as_str() {
        "retryable" => Err(SkillError::retryable("upstream_busy", "later")),
        "terminal" => {
            Err(SkillError::terminal("denied", "refused").with_details(json!({"why": ["policy", 1]})))
        }
        "exit" => std::process::exit(3),
        "abort" => std::process::abort(),
        #[expect(clippy::panic, reason = "the caller asked for a panic")]
        _ => panic!("boom"),
    }
}

/// Never returns; its timeout is 1 s.
#[skill("proc.sleep", version = "1", side_effects = "none", risk = "low", timeout = 1)]
fn sleep() {
    loop {
        std::thread::park();
    }
}

/// Skills in modules.
mod deep {
    pub(crate) mod inner {
        use skill_sdk::{SkillContext, skill};

        /// Returns the metadata of its call.
        #[skill(
            "proc.context",
            version = "3",
            side_effects = "none",
            risk = "low",
            timeout = 40
        )]
        pub(crate) async fn context(text: Option<String>, ctx: &SkillContext) -> super::Seen {
            ctx.add_cost("ops", 2.0);
            super::Seen {
                text,
                invocation: ctx.invocation_id().map(str::to_owned),
                key: ctx.idempotency_key().map(str::to_owned),
                settings: ctx.settings().clone().into(),
                seconds: ctx.remaining().map_or(0, |left| left.as_secs() + 1),
            }
        }
    }

    /// The metadata of a call.
    #[derive(serde::Serialize, schemars::JsonSchema)]
    pub(crate) struct Seen {
        text: Option<String>,
        invocation: Option<String>,
        key: Option<String>,
        settings: serde_json::Value,
        seconds: u64,
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.as_slice() {
        [program, parent, request, line] if parent == "parent" => {
            be_parent(&mut Command::new(program), "local", request, line)
        }
        [program, parent, request, line] if parent == "mcp-parent" => {
            be_parent(&mut Command::new(program), "mcp-stdio", request, line)
        }
        #[cfg(unix)]
        [program, parent, request, line] if parent == "parent-of-leader" => {
            use std::os::unix::process::CommandExt;

            let mut host = Command::new(program);
            be_parent(host.process_group(0), "local", request, line)
        }
        _ => skill_sdk::host::main(),
    }
}

#[expect(
    clippy::zombie_processes,
    reason = "the test kills this parent, so it cannot wait for its child"
)]
fn be_parent(host: &mut Command, protocol: &str, arguments: &str, line: &str) -> ExitCode {
    let arguments = arguments.replace("$PID", &std::process::id().to_string());
    let mut child = host
        .args(["serve", protocol])
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{line}\n").as_bytes()).unwrap();
    // The call runs once it reports progress.
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut [0]).unwrap();
    println!("{}", child.id());
    loop {
        std::thread::park();
    }
}
