//! conclave: a panel of language models answers one question in an auditable protocol.
//!
//! ```text
//!  question ─► Estimating ─► AwaitingConsent ─► Independent ─► Synthesis ─► CrossExam ─► Verdict ─► answer
//!                                │ no              │ no answer        │ no judge answers
//!                                └───────────────► Aborted ◄──────────┘          (also on Ctrl-C, from anywhere)
//! ```
//!
//! | layer | folder | owns | may use |
//! |---|---|---|---|
//! | L0 | [`text`] | loose text from people and models: what is safe to show, JSON, YAML and tables with their lines, JSON that is almost JSON | |
//! | L0 | [`domain`] | plain data: ids, money, tokens, panel, artifacts | [`text`] |
//! | L0 | [`scrub`] | secrets: rules as data, one pass over a batch of texts, placeholders | [`text`], [`domain`] |
//! | L1 | [`stopping`] | decisions to stop AI work, each with its evaluation or a named reason: early termination, the circuit breaker; how far stated confidence can be trusted | L0 |
//! | L1 | [`consultation`] | the pipeline: a pure machine, its prompts, its reading of answers, its policies | L0, [`stopping`] |
//! | L1 | [`benchmark`] | cases with known answers, whether an answer is right, and the figures of a run | L0, [`stopping`], [`consultation`] |
//! | L1 | [`refinement`] | a document with open questions, what a panel finds about them, and the edits that follow | L0, [`stopping`], [`consultation`] |
//! | L2 | [`files`] | reading of regular files of a bounded size, writing of files whole or not at all, and logs of events | L0 |
//! | L2 | [`engine`] | the driver, one for each consultation: calls, timers, interrupts, and the ports to models, people and faces; the dispatcher, one for each process: limits, backoffs, circuits and budgets | L0, L1 |
//! | L3 | [`providers`], [`context`], [`agent_loop`], [`suites`], [`records`], [`config`], `fleet` | the outside; none of these uses another | L0–L2 |
//! | L4 | [`setup`] | from a request and the settings to a template, and from a question to a plan | L0–L3 |
//! | L4 | [`session`] | runs consultations, one or many side by side, from their plans to their files and outcomes | L0–L3, `setup` |
//! | L5 | [`terminal`] | what people see: the face of preparations and runs, questions, progress, reports and tables | L0–L2, `setup`, `session` |
//! | L6 | [`commands`] | the commands: their arguments, and what they do with the layers below | L0–L5 |
//! | | [`cli`], [`error`] | the command line, and errors with exit codes and hints | all |
//!
//! `setup` and `session` know no face: what they say or ask goes through a port. No two modules of
//! a folder use each other, directly or by way of others. L0 and L1 name no runtime, network, file,
//! terminal, environment, clock or unseeded randomness. A test checks these rules.
//!
//! `docs/architecture.md` walks through the folders and says what to touch to add something. To
//! read the pipeline, begin with [`consultation::machine`] and follow the modules in the order in
//! which they are declared.

#[cfg(not(unix))]
compile_error!("conclave needs a Unix system; on Windows, build it in WSL");

pub mod text;
pub mod domain;
pub mod scrub;
pub mod stopping;
pub mod consultation;
pub mod benchmark;
pub mod refinement;
pub mod files;
pub mod engine;
pub mod providers;
pub mod context;
pub mod agent_loop;
pub mod suites;
pub mod records;
pub mod config;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod setup;
pub mod session;
pub mod terminal;
pub mod commands;
pub mod cli;
pub mod error;
#[cfg(test)]
mod schema;
