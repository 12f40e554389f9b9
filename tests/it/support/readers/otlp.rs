//! Reads the bytes of an exported trace: a small decoder of protobuf, with the numbers of
//! opentelemetry-proto, which knows nothing of the encoder.

use conclave::domain::hash::hex;
use serde_json::{Map, Value, json};

/// A field of a message: a number of any width, or bytes.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number has at most ten bytes");
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (value, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(value.try_into().unwrap()))
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(value)
            }
            other => panic!("no field of a trace has the wire type {other}"),
        };
        fields.push((tag >> 3, field));
    }
    fields
}

fn all(message: &[u8], number: u64) -> Vec<&[u8]> {
    let fields = fields(message).into_iter();
    let bytes = fields.filter_map(|(found, field)| match field {
        Field::Bytes(bytes) if found == number => Some(bytes),
        _ => None,
    });
    bytes.collect()
}

fn text(message: &[u8], number: u64) -> String {
    String::from_utf8(all(message, number)[0].to_vec()).unwrap()
}

fn number(message: &[u8], wanted: u64) -> Option<u64> {
    let number = |(found, field)| match field {
        Field::Number(value) if found == wanted => Some(value),
        _ => None,
    };
    fields(message).into_iter().find_map(number)
}

fn any(value: &[u8]) -> Value {
    match fields(value).as_slice() {
        [(1, Field::Bytes(text))] => json!(String::from_utf8(text.to_vec()).unwrap()),
        [(2, Field::Number(flag))] => json!(*flag == 1),
        [(3, Field::Number(count))] => json!(count),
        [(4, Field::Number(bits))] => json!(f64::from_bits(*bits)),
        [(5, Field::Bytes(array))] => all(array, 1).into_iter().map(any).collect(),
        _ => panic!("a value has one of these forms"),
    }
}

fn attributes(message: &[u8], number: u64) -> Map<String, Value> {
    let pairs = all(message, number).into_iter();
    pairs
        .map(|pair| (text(pair, 1), any(all(pair, 2)[0])))
        .collect()
}

/// An exported trace.
#[derive(Debug)]
pub(crate) struct Exported {
    /// Of the resource.
    pub(crate) resource: Map<String, Value>,
    pub(crate) spans: Vec<Value>,
}

impl Exported {
    pub(crate) fn of(request: &[u8]) -> Self {
        let of_resource = all(request, 1)[0];
        let of_scope = all(of_resource, 2)[0];
        assert_eq!(text(all(of_scope, 1)[0], 1), "conclave");
        let span = |span: &[u8]| {
            let id = |number| all(span, number).first().map(|id| hex(id));
            let status = all(span, 15).first().and_then(|status| number(status, 3));
            json!({
                "trace": id(1), "id": id(2), "parent": id(4), "name": text(span, 5),
                "kind": number(span, 6), "start": number(span, 7), "end": number(span, 8),
                "attributes": attributes(span, 9), "status": status,
            })
        };
        Self {
            resource: attributes(all(of_resource, 1)[0], 1),
            spans: all(of_scope, 2).into_iter().map(span).collect(),
        }
    }

    /// Returns the spans whose attribute has this value.
    pub(crate) fn with(&self, name: &str, value: &Value) -> Vec<&Value> {
        let spans = self.spans.iter();
        spans
            .filter(|span| span["attributes"][name] == *value)
            .collect()
    }
}
