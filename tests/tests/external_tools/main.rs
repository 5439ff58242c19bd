//! External tools read the documents and metrics of the servers. The tests run if these variables are set, as in CI:
//!
//! - `SKILL_SDK_TEST_PYTHON`: a Python with `prometheus_client`, `openapi-spec-validator` and `openapi-python-client`
//! - `SKILL_SDK_TEST_NODE_TOOLS`: a `node_modules` with `node`, `openapi-typescript`, `typescript` and
//!   `@hey-api/openapi-ts`

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use skill_sdk::context::States;
use skill_sdk::http::{HttpServer, ServeOptions};
use skill_sdk::pipeline::SkillSet;
use skill_sdk::testing::TestIssuer;
use skill_sdk_tests::program::Program;
use skill_sdk_tests::raw_http::{Client, Server, request};
use skill_sdk_tests::sample;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_tests-server");

/// The path in the environment variable. `None`, with a message, if it is not set.
fn tool_path(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        eprintln!("skipped: {variable} is not set");
    }
    path
}

/// Runs a command that must succeed, and returns its output.
fn run(command: &mut Command) -> String {
    let output = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{stdout}\n{stderr}");
    stdout
}

fn python(python: &Path, folder: &TempDir, script: &str, arguments: &[&str]) -> String {
    run(Command::new(python)
        .current_dir(folder.path())
        .args(["-c", script])
        .args(arguments))
}

/// A server with a few skills.
fn serve() -> Program {
    let arguments = ["serve", "http", "--allow-anonymous", "--port", "0"];
    Program::serve(BINARY, &arguments, &[("TEST_SECRET", "s")])
}

/// A server with the same skills and authentication.
fn serve_guarded(issuer: &TestIssuer) -> Program {
    let variables = issuer.variables();
    let variables = variables
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let variables: Vec<_> = variables.chain([("TEST_SECRET", "s")]).collect();
    Program::serve(BINARY, &["serve", "http", "--port", "0"], &variables)
}

/// The OpenAPI documents of two servers with the same skills and of two servers with the recorded skills, whose schemas
/// cover all kinds. The first and third server are anonymous, the others require a token.
async fn documents(
    folder: &TempDir,
    program: &Program,
    guarded: &Program,
    issuer: &TestIssuer,
) -> Vec<PathBuf> {
    let open = Server::of(sample::SKILLS).await;
    let host = SkillSet::with_states(sample::SKILLS.iter().copied(), States::default()).unwrap();
    let http = HttpServer::new(host, issuer.verifier());
    let closed = Server::start(http, ServeOptions::default()).await;
    let token = issuer.token().authorization();
    let mut documents = Vec::new();
    for (index, address) in [program.address, guarded.address, open.address, closed.address]
        .into_iter()
        .enumerate()
    {
        let headers = [("Authorization", token.as_str())];
        let headers = if index % 2 == 0 { &[] } else { &headers[..] };
        let mut client = Client::connect(address).await;
        client.send(request("GET", "/openapi.json", headers, "")).await;
        let document = client.receive().await.json();
        assert_eq!(
            document["components"]["securitySchemes"]["bearer"].is_object(),
            !headers.is_empty()
        );
        let path = folder.path().join(format!("document-{index}.json"));
        fs::write(&path, document.to_string()).unwrap();
        documents.push(path);
    }
    documents
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_openapi_document_is_valid() {
    let Some(tool) = tool_path("SKILL_SDK_TEST_PYTHON") else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let (program, issuer) = (serve(), TestIssuer::start());
    let guarded = serve_guarded(&issuer);
    let script = "import json, sys\n\
                  from openapi_spec_validator import OpenAPIV31SpecValidator as Validator\n\
                  for path in sys.argv[1:]:\n    Validator(json.load(open(path))).validate()\n    print('valid')";
    let documents = documents(&folder, &program, &guarded, &issuer).await;
    let paths: Vec<_> = documents.iter().map(|path| path.to_str().unwrap()).collect();
    let said = python(&tool, &folder, script, &paths);
    assert_eq!(said.matches("valid").count(), documents.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generated_python_client_works() {
    let Some(tool) = tool_path("SKILL_SDK_TEST_PYTHON") else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let (program, issuer) = (serve(), TestIssuer::start());
    let guarded = serve_guarded(&issuer);
    let tools = tool.parent().unwrap();
    // The generator runs a formatter that is installed beside it.
    let path = std::env::join_paths(std::iter::once(tools.to_path_buf()).chain(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    )))
    .unwrap();
    let documents = documents(&folder, &program, &guarded, &issuer).await;
    for (index, document) in documents.iter().enumerate() {
        run(Command::new(tools.join("openapi-python-client"))
            .current_dir(folder.path())
            .env("PATH", &path)
            .args(["generate", "--meta", "none"])
            // The generator warns that it does not support an enum of numbers and strings, which a recorded case has.
            .args((index < 2).then_some("--fail-on-warning"))
            .arg("--path")
            .arg(document)
            .args(["--output-path", &format!("client_{index}")]));
    }
    let script = "\
import sys
from client_0 import Client
from client_0.api.talk import call_process_hear_v12 as hear
from client_0.models import ProcessHearV12Call as Call, ProcessHearV12Inputs as Inputs, ProcessHearV12InputsEnding as Ending
client = Client(base_url=sys.argv[1])
def say(ending):
    inputs = Inputs(text='ab', ending=ending)
    return hear.sync_detailed(client=client, body=Call(inputs=inputs))
good = say(Ending.GOOD)
assert good.status_code == 200 and good.parsed.turned == 'ba' and good.parsed.parts == 1, good
assert good.headers['x-skill-cost'] == '{\"units\":{\"word\":1.0}}', good
bad = say(Ending.REFUSED)
assert bad.status_code == 422 and bad.parsed.error.code == 'refused' and bad.parsed.error.retryable is False, bad
from client_0.api.draw import call_process_draw_v1 as draw
from client_0.models import ProcessDrawV1Call, ProcessDrawV1Inputs
drawn = draw.sync_detailed(client=client, body=ProcessDrawV1Call(inputs=ProcessDrawV1Inputs(width=3)))
assert drawn.status_code == 200 and drawn.parsed.width == 3 and drawn.headers['x-skill-attachments'] == '1', drawn
parts = client.with_headers({'accept': 'multipart/mixed'}).get_httpx_client().post(
    '/skills/process.draw@1', json={'inputs': {'width': 3}})
import email
message = email.message_from_bytes(b'content-type: ' + parts.headers['content-type'].encode() + b'\\r\\n\\r\\n' + parts.content)
kinds = [(part.get_content_type(), part.get_payload(decode=True)[:4]) for part in message.get_payload()]
assert kinds == [('application/json', b'{\"wi'), ('image/svg+xml', b'<svg')], kinds
from client_1 import AuthenticatedClient, Client as Stranger
from client_1.api.draw import call_process_draw_v1 as guarded
from client_1.models import ProcessDrawV1Call, ProcessDrawV1Inputs
def ask(client):
    return guarded.sync_detailed(client=client, body=ProcessDrawV1Call(inputs=ProcessDrawV1Inputs(width=4)))
known = ask(AuthenticatedClient(base_url=sys.argv[2], token=sys.argv[3]))
assert known.status_code == 200 and known.parsed.width == 4, known
stranger = ask(AuthenticatedClient(base_url=sys.argv[2], token='abc'))
assert stranger.status_code == 401 and stranger.parsed.error.code == 'invalid_token', stranger
print('called')
";
    let [address, closed] = [&program, &guarded].map(|program| format!("http://{}", program.address));
    let token = issuer.token().sign();
    let said = python(&tool, &folder, script, &[&address, &closed, &token]);
    assert_eq!(said.trim(), "called");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_typescript_clients_work() {
    let Some(modules) = tool_path("SKILL_SDK_TEST_NODE_TOOLS") else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let (program, issuer) = (serve(), TestIssuer::start());
    let guarded = serve_guarded(&issuer);
    let node = modules.join(".bin/node");
    let tool = |name: &str| {
        let mut command = Command::new(&node);
        command
            .current_dir(folder.path())
            .arg(modules.join(".bin").join(name).canonicalize().unwrap());
        command
    };
    std::os::unix::fs::symlink(&modules, folder.path().join("node_modules")).unwrap();
    fs::write(folder.path().join("package.json"), r#"{"type": "module"}"#).unwrap();
    let documents = documents(&folder, &program, &guarded, &issuer).await;
    for (index, document) in documents.iter().enumerate() {
        run(tool("openapi-typescript")
            .arg(document)
            .args(["-o", &format!("types-{index}.ts")]));
        run(tool("openapi-ts")
            .arg("-i")
            .arg(document)
            .args(["-o", &format!("client-{index}")]));
    }
    let script = "\
import { client } from './client-0/client.gen.ts'
import { callProcessHearV12 } from './client-0/sdk.gen.ts'
client.setConfig({ baseUrl: process.argv[2] })
const good = await callProcessHearV12({ body: { inputs: { text: 'ab', ending: 'good' } } })
if (good.data?.turned !== 'ba') throw new Error(JSON.stringify(good.error))
const bad = await callProcessHearV12({ body: { inputs: { text: 'ab', ending: 'refused' } } })
if (bad.error?.error.code !== 'refused') throw new Error(JSON.stringify(bad))
import { callProcessDrawV1 } from './client-0/sdk.gen.ts'
const drawn = await callProcessDrawV1({ body: { inputs: { width: 3 } } })
if (drawn.data?.width !== 3 || drawn.response.headers.get('x-skill-attachments') !== '1') throw new Error(JSON.stringify(drawn))
import { client as guarded } from './client-1/client.gen.ts'
import { callProcessDrawV1 as draw } from './client-1/sdk.gen.ts'
guarded.setConfig({ baseUrl: process.argv[3], auth: () => process.argv[4] })
const known = await draw({ body: { inputs: { width: 4 } } })
if (known.data?.width !== 4) throw new Error(JSON.stringify(known))
guarded.setConfig({ auth: () => 'abc' })
const stranger = await draw({ body: { inputs: { width: 4 } } })
if (stranger.error?.error.code !== 'invalid_token') throw new Error(JSON.stringify(stranger))
console.log('called')
";
    fs::write(folder.path().join("call.ts"), script).unwrap();
    let checked = [
        "--noEmit",
        "--strict",
        "--skipLibCheck",
        "--module",
        "nodenext",
        "--allowImportingTsExtensions",
    ];
    run(tool("tsc")
        .args(checked)
        .args((0..documents.len()).map(|index| format!("types-{index}.ts"))));
    // The generated files import each other without file extensions, which node requires, so the test bundles them.
    run(Command::new(modules.join(".bin/esbuild"))
        .current_dir(folder.path())
        .args([
            "call.ts",
            "--bundle",
            "--platform=node",
            "--format=esm",
            "--outfile=call.mjs",
        ]));
    let said = run(Command::new(&node)
        .current_dir(folder.path())
        .arg("call.mjs")
        .args([&program, &guarded].map(|program| format!("http://{}", program.address)))
        .arg(issuer.token().sign()));
    assert_eq!(said.trim(), "called");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_are_valid_for_prometheus() {
    let Some(tool) = tool_path("SKILL_SDK_TEST_PYTHON") else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let program = serve();
    let mut client = Client::connect(program.address).await;
    for ending in ["good", "refused", "crashed", "nonsense"] {
        let body = json!({"inputs": {"text": "a", "ending": ending}}).to_string();
        client.post("/skills/process.hear@1.2", &body).await;
    }
    client.get("GET", "/nope").await;
    let text = client.get("GET", "/metrics").await.body;
    let path = folder.path().join("metrics");
    fs::write(&path, &text).unwrap();
    let script = "\
import sys
from prometheus_client.parser import text_string_to_metric_families as parse
families = {family.name: family for family in parse(open(sys.argv[1]).read())}
assert all(family.type in ('counter', 'gauge', 'histogram') and family.documentation for family in families.values()), families
calls = families['skill_sdk_calls'].samples
assert {s.labels['skill']: s.value for s in calls}['process.hear@1.2'] == 4, calls
errors = {(s.labels['skill'], s.labels['code']): s.value for s in families['skill_sdk_call_errors'].samples}
assert errors[('process.hear@1.2', 'input_contract_violation')] == 1, errors
buckets = [s for s in families['skill_sdk_call_duration_seconds'].samples if s.name.endswith('_bucket') and s.labels['skill'] == 'process.hear@1.2']
values = [s.value for s in buckets]
assert values == sorted(values) and buckets[-1].labels['le'] == '+Inf' and values[-1] == 4, buckets
print('parsed')
";
    let said = python(&tool, &folder, script, &[path.to_str().unwrap()]);
    assert_eq!(said.trim(), "parsed");
    // The linter of Prometheus, if it is installed.
    if let Ok(mut promtool) = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(fs::File::open(&path).unwrap())
        .spawn()
    {
        assert!(promtool.wait().unwrap().success(), "promtool rejects the metrics");
    }
}
