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

/// The span of another program in which the consultation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub trace: u128,
    pub span: u64,
    /// Whether that program records its trace.
    pub is_sampled: bool,
}

/// How texts of people and models get into a trace.
#[expect(missing_debug_implementations, reason = "a function has none")]
pub struct Texts<'a> {
    /// Those of calls, as far as they are known.
    pub prompts: BTreeMap<CallId, Prompt>,
    /// Masks their secrets.
    pub scrub: Box<dyn Fn(&mut String) + 'a>,
}

impl TraceParent {
    /// Reads the header `traceparent` of the W3C's recommendation "Trace Context".
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let mut next = |digits| {
            let part = parts.next().filter(|part| part.len() == digits)?;
            let is_lower = |byte| b"0123456789abcdef".contains(&byte);
            let number = u128::from_str_radix(part, 16).ok();
            number.filter(|_| part.bytes().all(is_lower))
        };
        let (version, trace, span, flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
        // Later versions may add parts.
        let is_known = version != 0xff && (version != 0 || parts.next().is_none());
        let (span, is_sampled) = (u64::try_from(span).ok()?, flags & 1 == 1);
        let is_valid = is_known && trace != 0 && span != 0;
        is_valid.then_some(Self {
            trace,
            span,
            is_sampled,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_by_the_recommendation() {
        let usual = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let parent = TraceParent {
            trace: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
            span: 0x00f0_67aa_0ba9_02b7,
            is_sampled: true,
        };
        let unsampled = TraceParent {
            is_sampled: false,
            ..parent
        };
        let without = |id: &str| usual.replace(id, &"0".repeat(id.len()));
        for (text, expected) in [
            (usual.to_owned(), Some(parent)),
            (usual.replace("-01", "-02"), Some(unsampled)),
            (usual.replacen("00", "cc", 1) + "-0a", Some(parent)),
            (usual.to_owned() + "-0a", None),
            (usual.replacen("00", "ff", 1), None),
            (usual.to_uppercase(), None),
            (without("00f067aa0ba902b7"), None),
            (without("4bf92f3577b34da6a3ce929d0e0e4736"), None),
            (usual.replace("4bf9", "4bf"), None),
            (usual.replace("4bf9", "+bf9"), None),
            (String::new(), None),
        ] {
            assert_eq!(TraceParent::parse(&text), expected, "{text}");
        }
    }
}
