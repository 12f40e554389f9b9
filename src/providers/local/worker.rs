//! The thread that owns the model: it accepts calls and decodes all open ones as one batch, step by
//! step.
//!
//! One prompt is read at a time, so that the next one finds their shared prefix; open answers
//! continue meanwhile.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::{OnceLock, mpsc};
use std::time::Instant;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use sha2::{Digest, Sha256};

use crate::consultation::protocol::call::{Ask, Failure, FailureClass};
use crate::domain::cost::tokens::{Usage, UsageSource};
use crate::engine::ports::{Delta, LocalProgress};

use super::chat::Frame;
use super::cpu::LoadWatch;
use super::guide::{Guide, Writer};
use super::job::{Job, JobEvent, LocalSettings, internal};
use super::schema::tighten;
use super::slots::Slots;

/// Prompt tokens read in one step. A step cannot be interrupted: this many take about half a second
/// with the default model.
pub(super) const CHUNK: usize = 64;
/// The tokens of one step: a chunk of a prompt, and one for each open answer.
pub(super) const BATCH: usize = 512;
/// The most tokens reserved for an answer. Answers to a tightened schema end well within it, even
/// if the call allows more.
const ROOM: usize = 1_280;

/// llama.cpp allows one backend per process.
static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();

/// Answers jobs until the provider is dropped.
pub(super) fn run(settings: &LocalSettings, jobs: &mpsc::Receiver<Job>) {
    let Ok(first) = jobs.recv() else { return };
    let started = now();
    let watch = LoadWatch::begin();
    let failed = match load(settings) {
        Ok((backend, model)) => match Worker::new(settings, (&watch, started), backend, &model) {
            Ok(mut worker) => return worker.work(first, jobs),
            Err(failure) => failure,
        },
        Err(failure) => failure,
    };
    for job in std::iter::once(first).chain(jobs) {
        let _ = job.events.send(JobEvent::Done(Err(failed.clone())));
    }
}

fn load(settings: &LocalSettings) -> Result<(&'static LlamaBackend, LlamaModel), Failure> {
    let backend = BACKEND.get_or_init(|| {
        LlamaBackend::init().ok().map(|mut backend| {
            backend.void_logs();
            backend
        })
    });
    let backend = backend
        .as_ref()
        .ok_or_else(|| internal("llama.cpp did not start"))?;
    let model = LlamaModel::load_from_file(backend, &settings.file, &LlamaModelParams::default())
        .map_err(|error| {
        Failure::new(
            FailureClass::ModelMissing,
            format!("cannot load `{}`: {error}", settings.file.display()),
        )
    })?;
    Ok((backend, model))
}

/// Returns the time for the progress and the number of threads; no answer depends on it.
fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "how fast the engine is can only be read off the clock, and only here"
    )]
    Instant::now()
}

/// A tokenised call that waits for a slot.
struct WaitingJob {
    job: Job,
    prompt: Vec<i32>,
    room: usize,
    writer: Writer,
}

/// A call in progress.
pub(super) struct ActiveJob {
    pub(super) slot: usize,
    pub(super) job: Job,
    pub(super) writer: Writer,
    pub(super) usage: Usage,
    pub(super) prompt: usize,
    /// The most tokens of the answer.
    pub(super) room: usize,
    pub(super) pace: Pace,
}

/// The beginning of what a call does now: reading its prompt, or writing its answer.
pub(super) struct Pace {
    since: Instant,
    /// The tokens that were done then.
    before: u64,
    is_writing: bool,
}

impl ActiveJob {
    pub(super) fn report_reading(&self, tokens: usize) {
        let progress = self.pace.progress(wide(tokens), wide(self.prompt));
        self.report(Delta::Reading(progress));
    }

    pub(super) fn begin_writing(&mut self) {
        if !self.pace.is_writing {
            self.pace = Pace {
                since: now(),
                before: self.usage.output,
                is_writing: true,
            };
        }
    }

    pub(super) fn report_writing(&self) {
        let progress = self.pace.progress(self.usage.output, wide(self.room));
        self.report(Delta::Writing(progress));
    }

    fn report(&self, delta: Delta) {
        let _ = self.job.events.send(JobEvent::Delta(delta));
    }
}

impl Pace {
    fn progress(&self, tokens: u64, of: u64) -> LocalProgress {
        let done = u32::try_from(tokens.saturating_sub(self.before)).unwrap_or(u32::MAX);
        let rest = u32::try_from(of.saturating_sub(tokens)).unwrap_or(u32::MAX);
        let each = self.since.elapsed().checked_div(done);
        LocalProgress {
            tokens: tokens.min(of),
            of,
            left: each.map(|each| each.saturating_mul(rest)),
        }
    }
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

pub(super) struct Worker<'a> {
    pub(super) model: &'a LlamaModel,
    pub(super) context: LlamaContext<'a>,
    pub(super) batch: LlamaBatch<'static>,
    frame: Frame,
    guide: Guide,
    pub(super) slots: Slots,
    /// The tokens of one call, including its answer.
    length: usize,
    pub(super) file: String,
    waiting: VecDeque<WaitingJob>,
    pub(super) answering: Vec<ActiveJob>,
}

impl<'a> Worker<'a> {
    fn new(
        settings: &LocalSettings,
        (watch, started): (&LoadWatch, Instant),
        backend: &'static LlamaBackend,
        model: &'a LlamaModel,
    ) -> Result<Self, Failure> {
        let length = settings.context.min(model.n_ctx_train()).max(512);
        let threads = settings
            .threads
            .unwrap_or_else(|| watch.threads(started.elapsed()));
        let threads = i32::try_from(threads.get()).unwrap_or(1);
        let parallel = settings.parallel.get();
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(length))
            .with_n_batch(u32::try_from(BATCH).unwrap_or(u32::MAX))
            .with_n_ubatch(u32::try_from(BATCH).unwrap_or(u32::MAX))
            .with_n_seq_max(u32::try_from(Slots::count(parallel)).unwrap_or(u32::MAX))
            .with_kv_unified(true)
            .with_n_threads(threads)
            .with_n_threads_batch(threads);
        let context = model
            .new_context(backend, params)
            .map_err(|error| internal(format!("cannot create a context: {error}")))?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok(Self {
            model,
            context,
            batch: LlamaBatch::new(BATCH, 1),
            frame: Frame::of(model)?,
            guide: Guide::of(model)?,
            slots: Slots::new(length, parallel),
            length,
            file: settings
                .file
                .file_name()
                .unwrap_or(settings.file.as_os_str())
                .to_string_lossy()
                .into_owned(),
            waiting: VecDeque::new(),
            answering: Vec::new(),
        })
    }

    fn work(&mut self, first: Job, jobs: &mpsc::Receiver<Job>) {
        self.receive(first);
        loop {
            if self.waiting.is_empty() && self.answering.is_empty() {
                match jobs.recv() {
                    Ok(job) => self.receive(job),
                    Err(mpsc::RecvError) => return,
                }
            }
            loop {
                match jobs.try_recv() {
                    Ok(job) => self.receive(job),
                    Err(mpsc::TryRecvError::Empty) => break,
                    Err(mpsc::TryRecvError::Disconnected) => return,
                }
            }
            self.drop_cancelled();
            self.admit();
            if let Err(failure) = self.step() {
                self.fail_all(&failure);
            }
        }
    }

    fn receive(&mut self, job: Job) {
        let _ = job.events.send(JobEvent::Delta(Delta::Connected));
        match self.prepare(&job.ask) {
            Ok((prompt, room, writer)) => self.waiting.push_back(WaitingJob {
                job,
                prompt,
                room,
                writer,
            }),
            Err(failure) => drop(job.events.send(JobEvent::Done(Err(failure)))),
        }
    }

    fn prepare(&self, ask: &Ask) -> Result<(Vec<i32>, usize, Writer), Failure> {
        let prompt = self.frame.tokens(self.model, &ask.prompt);
        let room = usize::try_from(ask.max_output_tokens)
            .unwrap_or(usize::MAX)
            .clamp(1, ROOM.min(self.length / 2));
        let over = (prompt.len() + room).saturating_sub(self.length);
        if over > 0 {
            let message = format!(
                "the prompt is {} tokens and its answer needs {room}: {over} more than the local \
                 model's context of {}",
                prompt.len(),
                self.length
            );
            return Err(Failure::new(FailureClass::Context, message));
        }
        let schema = tighten(
            &ask.answer.schema(ask.form),
            &ask.prompt.text(),
            u64::try_from(room).unwrap_or(u64::MAX),
        );
        let writer = self.guide.start(self.model, schema, seed(ask))?;
        Ok((prompt, room, writer))
    }

    /// Removes calls whose futures were dropped.
    fn drop_cancelled(&mut self) {
        self.waiting
            .retain(|waiting| !waiting.job.events.is_closed());
        let slots = &mut self.slots;
        self.answering.retain(|answering| {
            let wanted = !answering.job.events.is_closed();
            if !wanted {
                slots.finish(answering.slot);
            }
            wanted
        });
    }

    /// Assigns a slot to the oldest waiting call, unless another prompt is still being read.
    fn admit(&mut self) {
        if self
            .answering
            .iter()
            .any(|answering| self.slots.waiting(answering.slot) > CHUNK)
        {
            return;
        }
        let Some(next) = self.waiting.pop_front() else {
            return;
        };
        let Some(admission) = self.slots.admit(&next.prompt, next.room) else {
            self.waiting.push_front(next);
            return;
        };
        let (slot, from) = (sequence(admission.slot), sequence(admission.from));
        let reused = u32::try_from(admission.reused).ok();
        for clear in &admission.clear {
            let _ = self.context.kv_cache_seq_rm(sequence(*clear), None, None);
        }
        if slot == from {
            let _ = self.context.kv_cache_seq_rm(slot, reused, None);
        } else if admission.reused > 0 {
            let _ = self.context.kv_cache_seq_cp(from, slot, Some(0), reused);
        }
        let evaluated = u64::try_from(next.prompt.len() - admission.reused).unwrap_or(0);
        let reused = u64::try_from(admission.reused).unwrap_or(0);
        let usage = Usage {
            input: evaluated,
            cache_read: reused,
            source: UsageSource::Reported,
            ..Usage::default()
        };
        let answering = ActiveJob {
            slot: admission.slot,
            job: next.job,
            writer: next.writer,
            usage,
            prompt: next.prompt.len(),
            room: next.room,
            pace: Pace {
                since: now(),
                before: reused,
                is_writing: false,
            },
        };
        answering.report_reading(admission.reused);
        self.go_on(answering, &[]);
    }
}

/// The model answers differently under another call id.
fn seed(ask: &Ask) -> u32 {
    let digest = Sha256::digest(format!(
        "{}\n{}\n{}",
        ask.call,
        ask.answer.name(),
        ask.prompt.text()
    ));
    digest
        .iter()
        .take(4)
        .fold(0, |seed, byte| (seed << 8) | u32::from(*byte))
}

/// Returns a slot's number in llama.cpp's type.
pub(super) fn sequence(slot: usize) -> i32 {
    i32::try_from(slot).unwrap_or(i32::MAX)
}
