//! A trace as OpenTelemetry's protocol writes it: an `ExportTraceServiceRequest` in protobuf. The
//! numbers are those of opentelemetry-proto 1.

use std::collections::BTreeMap;
use std::iter::once;

use serde_json::Value;

use crate::consultation::transcript::trace::{Span, Trace};
use crate::domain::time::Timestamp;

/// A request for one trace, from a resource with these attributes.
pub(super) fn request(trace: &Trace, resource: &BTreeMap<String, Value>) -> Vec<u8> {
    let name = bytes(1, env!("CARGO_PKG_NAME"));
    let scope = message(1, [name, bytes(2, env!("CARGO_PKG_VERSION"))]);
    let spans = trace.spans.iter().map(|span| self::span(span, trace.id));
    let of_scope = message(2, once(scope).chain(spans));
    let attributes = resource
        .iter()
        .map(|(name, value)| attribute(1, name, value));
    message(1, [message(1, attributes), of_scope])
}

fn span(span: &Span, trace: u128) -> Vec<u8> {
    let parent = span.parent.map(|parent| bytes(4, parent.to_be_bytes()));
    let failed = span.error.as_ref().map(|_| message(15, [number(3, 2)]));
    let fields = [
        bytes(1, trace.to_be_bytes()),
        bytes(2, span.id.to_be_bytes()),
        bytes(5, &span.name),
        number(6, if span.is_client { 3 } else { 1 }),
        fixed64(7, nanoseconds(span.start)),
        fixed64(8, nanoseconds(span.end)),
    ];
    let attributes = span.attributes.iter();
    let attributes = attributes.map(|(name, value)| attribute(9, name, value));
    message(
        2,
        fields
            .into_iter()
            .chain(parent)
            .chain(attributes)
            .chain(failed),
    )
}

fn attribute(field: u64, name: &str, value: &Value) -> Vec<u8> {
    message(field, [bytes(1, name), message(2, [any(value)])])
}

/// Values that the protocol has no form for are JSON.
fn any(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => bytes(1, text),
        Value::Bool(flag) => number(2, (*flag).into()),
        Value::Number(count) if count.is_i64() => number(3, count.as_u64().unwrap_or_default()),
        Value::Number(number) => fixed64(4, number.as_f64().unwrap_or_default().to_bits()),
        Value::Array(texts) if texts.iter().all(Value::is_string) => {
            message(5, texts.iter().map(|text| message(1, [any(text)])))
        }
        other => bytes(1, other.to_string()),
    }
}

fn nanoseconds(at: Timestamp) -> u64 {
    u64::try_from(at.0).unwrap_or(0).saturating_mul(1_000_000)
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn fixed64(field: u64, value: u64) -> Vec<u8> {
    [varint((field << 3) | 1), value.to_le_bytes().to_vec()].concat()
}

fn message(field: u64, fields: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    bytes(field, fields.into_iter().collect::<Vec<_>>().concat())
}

fn bytes(field: u64, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    [
        &varint((field << 3) | 2),
        &varint(value.len() as u64),
        value,
    ]
    .concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.extend(value.to_le_bytes().first().map(|byte| byte | 0x80));
        value >>= 7;
    }
    bytes.extend(value.to_le_bytes().first());
    bytes
}

/// Whether the receiver left out spans, by the body of its response: the first field of its
/// message about a partial success is their number.
pub(super) fn is_partial_success(response: &[u8]) -> bool {
    let mut message = response.strip_prefix(b"\x0a").unwrap_or_default().iter();
    // Its length.
    let _ = message.find(|byte| **byte < 0x80);
    message
        .as_slice()
        .strip_prefix(b"\x08")
        .is_some_and(|rest| rest.first() != Some(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_receiver_rejects_is_read() {
        for (response, is_partial) in [
            (&b""[..], false),
            (b"\x0a\x00", false),
            (b"\x0a\x02\x08\x03", true),
            (b"\x0a\x02\x08\x00", false),
            (b"\x0a\x83\x01\x08\xac\x02\x12\x7d", true),
            // A warning, with all spans taken.
            (b"\x0a\x04\x12\x02no", false),
            (b"{\"partialSuccess\":{}}", false),
        ] {
            assert_eq!(is_partial_success(response), is_partial, "{response:?}");
        }
    }
}
