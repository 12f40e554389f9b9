//! The traces of consultations on their way to a receiver for OpenTelemetry, or to a file.
//!
//! A failure never harms a consultation or its answer: it is one warning at the end of the run.
//! What people and models wrote goes along only where the setting `otlp_content` is on, with
//! secrets masked: a program in a seat can have put some into its answer.

mod destination;
mod protobuf;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::consultation::machine::replay::replay;
use crate::consultation::transcript::trace::{Texts, Trace};
use crate::domain::ids::ConsultationId;
use crate::domain::model::address::authority;
use crate::engine::ports::Face;
use crate::error::{Error, whole};
use crate::providers::http::Http;
use crate::records::files::ConsultationFiles;
use crate::records::journal::read_journal;
use crate::scrub::Scrubber;
use crate::setup::context::scrubber;
use crate::setup::settings;

use self::destination::Destination;
use super::resume;

/// The shortest wait before another attempt.
const SHORTEST: Duration = Duration::from_millis(25);

const LATE: &str = "not done in time";
const LOST: &str = "no connection";
const PART: &str = "some spans were rejected";

/// Exports the traces of a run's consultations, one after the other.
#[derive(Debug)]
pub struct TraceExporter {
    queue: UnboundedSender<(ConsultationId, Value)>,
    sent: JoinSet<Result<(), String>>,
    limit: Duration,
    receiver: String,
}

/// Writes the traces of stored consultations, as receivers take them.
#[derive(Debug)]
pub struct TraceWriter {
    home: Home,
    environment: Environment,
    /// Masks texts; `None` if none are wanted.
    scrubber: Option<Scrubber>,
}

impl TraceWriter {
    pub fn open(home: &Home, environment: &Environment) -> Result<Self, Error> {
        let has_texts = settings::load_own(home, environment)?.otlp_content;
        Ok(Self {
            home: home.clone(),
            environment: environment.clone(),
            scrubber: has_texts.then(|| scrubber::load(environment)).transpose()?,
        })
    }

    /// With more attributes of the consultation's span: what it was for.
    pub fn write(&self, id: &ConsultationId, labels: Value) -> Result<Vec<u8>, Error> {
        Ok(self.bytes(&self.trace(id, labels)?))
    }

    fn bytes(&self, trace: &Trace) -> Vec<u8> {
        protobuf::request(trace, &destination::resource(&self.environment))
    }

    fn trace(&self, id: &ConsultationId, labels: Value) -> Result<Trace, Error> {
        let files = ConsultationFiles::in_folder(&self.home.logs_folder(), id);
        let mut events = read_journal(&files.journal).map_err(Error::failed)?;
        if self.scrubber.is_some() {
            // Without its context, what was asked cannot be made again; the answers are there.
            let _ = resume::add_context(id, &mut events, &files);
        }
        let prompts = || replay(&events).map_or_else(|_| BTreeMap::new(), |it| it.prompts);
        let texts = self.scrubber.as_ref().map(|scrubber| Texts {
            prompts: prompts(),
            scrub: Box::new(|text| scrubber.mask(vec![text])),
        });
        let trace = Trace::of(&events, labels, texts.as_ref());
        trace.ok_or_else(|| Error::failed(format!("{} has no events", id.short())))
    }
}

impl TraceExporter {
    /// Returns `None` if settings or variables do not ask for it, or cannot be followed, which is
    /// a warning. It belongs to the runtime that calls this.
    pub fn open(home: &Home, environment: &Environment, face: &dyn Face) -> Option<Self> {
        let settings = settings::load_own(home, environment).ok();
        settings.filter(|settings| settings.otlp)?;
        let warn = |why: &str| face.warning(&format!("No traces are exported: {why}"));
        let destination = Destination::of(environment).inspect_err(|why| warn(why));
        let destination = destination.ok()??;
        // What a run of this home needs can be used.
        let writer = TraceWriter::open(home, environment).ok()?;
        let (queue, mut waiting) = mpsc::unbounded_channel::<(ConsultationId, _)>();
        let (limit, receiver) = (destination.timeout, authority(&destination.url));
        let mut sent = JoinSet::new();
        sent.spawn(async move {
            let http = Http::default();
            while let Some((id, labels)) = waiting.recv().await {
                let trace = writer.trace(&id, labels);
                let trace = trace.map_err(|error| whole(error.source()))?;
                if trace.is_sampled {
                    destination.send(&writer.bytes(&trace), &http).await?;
                }
            }
            Ok(())
        });
        Some(Self {
            queue,
            sent,
            limit,
            receiver,
        })
    }

    /// Begins to send the trace of a stored consultation. After a failure, nothing more is sent.
    pub fn send(&self, id: ConsultationId, labels: Value) {
        let _ = self.queue.send((id, labels));
    }

    /// Waits for what is on its way, but not for long, and not after an interrupt.
    pub async fn finish(mut self, interrupts: &mut UnboundedReceiver<()>, face: &dyn Face) {
        drop(self.queue);
        let sent = tokio::select! {
            Some(()) = interrupts.recv() => Err("interrupted".to_owned()),
            sent = timeout(self.limit, self.sent.join_next()) => {
                sent.map_or(Err(LATE.to_owned()), |sent| {
                    sent.map_or(Ok(()), |sent| sent.unwrap_or_else(|panic| Err(panic.to_string())))
                })
            }
        };
        if let Err(why) = sent {
            let receiver = self.receiver;
            face.warning(&format!("Failed to export traces to `{receiver}`: {why}"));
        }
    }
}

impl Destination {
    /// Tries again while there is time, later each time, where the specification wants it. No word of the receiver,
    /// which may quote a header, is in the error.
    async fn send(&self, trace: &[u8], http: &Http) -> Result<(), String> {
        let client = http.client_for(&self.url);
        let request = client.map_err(|error| error.to_string())?.post(&self.url);
        let request = request.header("content-type", "application/x-protobuf");
        let request = request.headers(self.headers.clone()).body(trace.to_owned());
        let request = request.timeout(self.timeout);
        // Processes that fail together come back at different times.
        let since = Instant::now();
        let mut pause = SHORTEST * (10 + std::process::id() % 10);
        while let Some(request) = request.try_clone() {
            let sent = request.send().await;
            let mut response = sent.map_err(|it| if it.is_timeout() { LATE } else { LOST })?;
            if response.status().is_success() {
                let body = response.chunk().await.ok().flatten().unwrap_or_default();
                let is_part = protobuf::is_partial_success(&body);
                return if is_part { Err(PART.into()) } else { Ok(()) };
            }
            let status = response.status().as_u16();
            let wanted = response.headers().get("retry-after");
            let seconds = wanted.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
            let wanted = seconds.map(|seconds| Duration::from_secs(seconds).max(SHORTEST));
            let wait = wanted.unwrap_or(pause);
            let is_in_time = since.elapsed().saturating_add(wait) < self.timeout;
            if !is_in_time || !matches!(status, 408 | 429 | 500..600) {
                return Err(format!("status {status}"));
            }
            sleep(wait).await;
            pause *= 2;
        }
        Ok(())
    }
}
