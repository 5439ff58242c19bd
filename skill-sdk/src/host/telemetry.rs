//! Traces over OTLP, as the standard variables of OpenTelemetry say.

use std::future::{Future, ready};
use std::sync::OnceLock;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanKind, TracerProvider};
use opentelemetry_otlp::SpanExporter as Otlp;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use tokio::runtime::{Handle, Runtime};
use tracing::Metadata;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Filter;
use tracing_subscriber::registry::LookupSpan;

/// Where traces go; one of them turns the export on.
const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];

/// How they go; what counts is the first that is set.
const PROTOCOLS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
];

/// The one protocol that this exporter speaks.
const PROTOBUF: &str = "http/protobuf";

/// The crates that move traces and answers: a span of theirs would cause the next.
const OWN_TRAFFIC: [&str; 7] = [
    "h2",
    "hyper",
    "hyper_util",
    "opentelemetry",
    "reqwest",
    "rustls",
    "tower",
];

/// How long the end of the program waits for the last traces.
const LAST: Duration = Duration::from_secs(5);

/// The export of traces, once it has begun, and what its requests run on.
static EXPORT: OnceLock<(SdkTracerProvider, Runtime)> = OnceLock::new();

/// The exporter of spans that the environment asks for, or why it cannot start. Events stay in the log.
pub(super) fn start<S>() -> Result<Option<impl Layer<S> + Send + Sync>, String>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let says = |name, word: &str| set(&name).is_some_and(|value| value.trim().eq_ignore_ascii_case(word));
    let off = says("OTEL_SDK_DISABLED", "true") || says("OTEL_TRACES_EXPORTER", "none");
    if off || ENDPOINTS.iter().all(|name| set(name).is_none()) {
        return Ok(None);
    }
    let protocol = PROTOCOLS.iter().find_map(set);
    if let Some(other) = protocol.filter(|protocol| protocol.trim() != PROTOBUF) {
        return Err(format!("the protocol is {other}, and only {PROTOBUF} is spoken"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("traces")
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let provider = provider(&runtime, set(&"OTEL_SERVICE_NAME").is_none())?;
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("skill-sdk"))
        .with_location(false)
        .with_threads(false)
        .with_level(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(spans_of_skills());
    // The log is started once.
    let _ = EXPORT.set((provider, runtime));
    Ok(Some(layer))
}

/// Sends what was not sent yet.
pub(super) fn finish() {
    if let Some((provider, _)) = EXPORT.get() {
        // Spans that cannot be sent now are lost; the log ends as well.
        drop(provider.shutdown_with_timeout(LAST));
    }
}

fn provider(runtime: &Runtime, nameless: bool) -> Result<SdkTracerProvider, String> {
    let entered = runtime.enter();
    let otlp = Otlp::builder().with_http().build();
    drop(entered);
    let exporter = Exporter {
        otlp: otlp.map_err(|error| error.to_string())?,
        runtime: runtime.handle().clone(),
    };
    let mut resource = Resource::builder();
    if nameless {
        resource = resource.with_service_name(program());
    }
    let version = KeyValue::new("skill_sdk.version", env!("CARGO_PKG_VERSION"));
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource.with_attribute(version).build());
    Ok(provider.build())
}

fn spans_of_skills<S>() -> impl Filter<S> {
    filter_fn(|metadata: &Metadata<'_>| {
        let root = metadata.target().split("::").next().unwrap_or_default();
        metadata.is_span() && *metadata.level() <= tracing::Level::INFO && !OWN_TRAFFIC.contains(&root)
    })
    .with_max_level_hint(tracing::level_filters::LevelFilter::INFO)
}

/// The name of the program, where nothing else names the service.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "skill-sdk".to_owned())
}

/// Exports on a runtime, and gives spans of calls the names that people look for.
#[derive(Debug)]
struct Exporter {
    otlp: Otlp,
    runtime: Handle,
}

impl SpanExporter for Exporter {
    fn export(&self, mut batch: Vec<SpanData>) -> impl Future<Output = OTelSdkResult> + Send {
        batch.iter_mut().for_each(name_call);
        // The processor of the SDK calls from a plain thread, on which requests cannot run.
        ready(self.runtime.block_on(self.otlp.export(batch)))
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.otlp.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.otlp.set_resource(resource);
    }
}

fn name_call(span: &mut SpanData) {
    if span.name != "skill" {
        return;
    }
    let skill = span.attributes.iter().find(|pair| pair.key.as_str() == "skill");
    if let Some(skill) = skill.map(|pair| pair.value.as_str().into_owned()) {
        span.name = format!("skill {skill}").into();
        span.span_kind = SpanKind::Server;
    }
}
