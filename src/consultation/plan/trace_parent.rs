//! The trace of the program that a consultation runs for.

use serde::{Deserialize, Serialize};

/// The span of another program in which the consultation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct TraceParent {
    pub trace: u128,
    pub span: u64,
    /// Whether that program records its trace.
    pub is_sampled: bool,
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

impl From<TraceParent> for String {
    fn from(parent: TraceParent) -> Self {
        let TraceParent {
            trace,
            span,
            is_sampled,
        } = parent;
        format!("00-{trace:032x}-{span:016x}-{:02x}", u8::from(is_sampled))
    }
}

impl TryFrom<String> for TraceParent {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("it is not a `traceparent`")
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
            let read = TraceParent::parse(&text);
            assert_eq!(read, expected, "{text}");
            let written = read.map(String::from);
            assert_eq!(written.and_then(|it| TraceParent::parse(&it)), read);
        }
    }
}
