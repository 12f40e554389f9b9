//! The trace of a consultation for OpenTelemetry, folded from its events: one span for the
//! consultation, in it one for each agent's work in a round, in that one for each of its calls.
//!
//! Invariants: the same events give the same trace, ids included, so that exporting it again, or
//! after a resume, adds to the same trace; a span lies within the times of its parent; texts of
//! people and models are in messages alone, and only if they are wanted.
//!
//! The attributes' names are those of OpenTelemetry's conventions for generative AI that did not
//! change when these moved to a repository of their own; all others begin with `conclave.`.

mod builder;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::ids::CallId;
use crate::domain::time::Timestamp;

use crate::consultation::protocol::call::Prompt;

/// All spans of a consultation, parents before children.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub id: u128,
    pub spans: Vec<Span>,
    /// Whether the program that it is a part of records its trace too.
    pub is_sampled: bool,
}

/// An operation with its begin and end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    pub id: u64,
    /// `None` for the consultation, unless another trace is continued.
    pub parent: Option<u64>,
    pub name: String,
    /// A request to another process.
    pub is_client: bool,
    pub start: Timestamp,
    pub end: Timestamp,
    pub attributes: Map<String, Value>,
    /// The kind of failure, one of a few names; `None` if it succeeded.
    pub error: Option<String>,
}

/// How texts of people and models get into a trace.
#[expect(missing_debug_implementations, reason = "a function has none")]
pub struct Texts<'a> {
    /// Those of calls, as far as they are known.
    pub prompts: BTreeMap<CallId, Prompt>,
    /// Masks their secrets.
    pub scrub: Box<dyn Fn(&mut String) + 'a>,
}
