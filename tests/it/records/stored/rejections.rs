//! Files that are not records, and records with damage.

use std::fs;
use std::path::Path;

use conclave::domain::time::Timestamp;
use conclave::records::index::extract;
use conclave::records::stored::{self, RecordReadError, read};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::path;

#[test]
fn files_beside_records_are_no_records() {
    let result = stored::read_file(&path("journal-1.0.jsonl"));
    assert!(
        matches!(result, Err(RecordReadError::NotJson(_))),
        "{result:?}"
    );
    let outcome = br#"{"schema_version":"1.0","consultation_id":"consult-a","outcome":"right","at":"2026-11-21T08:30:00Z"}"#;
    assert!(matches!(read(outcome), Err(RecordReadError::NotARecord(_))));
}

#[test]
fn unreadable_record_is_an_error_that_names_it() {
    let nested = format!("{{\"@vocab\":{}", "[".repeat(10_000));
    let whole = fs::read(path("record-1.0.json")).unwrap();
    let truncated = &whole[..whole.len() / 2];
    let not_text = b"{\"consultation_id\":\"consult-\xff\",\"question\":\"x\"}";
    for bytes in [
        b"".as_slice(),
        b"garbage",
        b"{} {}",
        b"\0\0\0",
        b"\xef\xbb\xbf",
        nested.as_bytes(),
        truncated,
        not_text,
    ] {
        let result = read(bytes);
        assert!(
            matches!(result, Err(RecordReadError::NotJson(_))),
            "{result:?}"
        );
    }
    for bytes in [
        b"null".as_slice(),
        b"[]",
        b"\"x\"",
        b"{}",
        br#"{"tool_version":"0.1.0","consultation_id":"consult-1"}"#,
        br#"{"question":"?"}"#,
        br#"{"consultation_id":7,"question":"x"}"#,
    ] {
        let result = read(bytes);
        assert!(
            matches!(result, Err(RecordReadError::NotARecord(_))),
            "{result:?}"
        );
    }
    for other in ["2.0", "10", "1.7", "0.3", "one"] {
        let record = format!(
            r#"{{"schema_version":"{other}","consultation_id":"consult-a","question":"x","tool_version":"9"}}"#
        );
        assert_eq!(
            read(record.as_bytes()).unwrap_err().to_string(),
            format!("it has version `{other}`; this program reads `1.0`")
        );
    }
    assert!(matches!(
        stored::read_file(Path::new("/nowhere")),
        Err(RecordReadError::Io { .. })
    ));
}

#[test]
fn artifact_without_a_version_makes_a_record_unreadable() {
    let bytes = fs::read(path("record-1.0.json")).unwrap();
    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
    let verdict = &mut value["responses"]["round_4"]["artifacts"][0];
    verdict
        .as_object_mut()
        .unwrap()
        .shift_remove("schema_version");
    let error = read(&serde_json::to_vec(&value).unwrap()).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        cause.contains("Missing required field: schema_version"),
        "{cause}"
    );
}

#[test]
fn file_too_large_for_a_record_is_not_read() {
    let huge = tempfile::NamedTempFile::new().unwrap();
    huge.as_file().set_len((64 << 20) + 1).unwrap();
    let Err(RecordReadError::Io { source, .. }) = stored::read_file(huge.path()) else {
        panic!("it is read");
    };
    assert_eq!(source.to_string(), "it is larger than 64 MB");
}

/// Collects the JSON pointers of all places in a value.
fn places(value: &Value, here: String, found: &mut Vec<String>) {
    if let Value::Object(fields) = value {
        for (name, inner) in fields {
            let name = name.replace('~', "~0").replace('/', "~1");
            places(inner, format!("{here}/{name}"), found);
        }
    }
    for (at, inner) in value.as_array().into_iter().flatten().enumerate() {
        places(inner, format!("{here}/{at}"), found);
    }
    found.push(here);
}

fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!(u64::MAX)),
        Just(json!("")),
        Just(json!("\u{0}<script>")),
        Just(json!([])),
        Just(json!([[1, "x", {}]])),
        Just(json!({})),
        Just(json!({ "a": { "b": [] } })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn field_of_any_other_type_never_panics(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), odd()), 1..6),
    ) {
        let mut value: Value =
            serde_json::from_slice(&fs::read(path("record-1.0.json")).unwrap()).unwrap();
        for (place, odd) in changes {
            let mut found = Vec::new();
            places(&value, String::new(), &mut found);
            *value.pointer_mut(&found[place.index(found.len())]).unwrap() = odd;
        }
        let bytes = serde_json::to_vec(&value).unwrap();
        // Either a named error, or a record that has a page and rows.
        match read(&bytes) {
            Ok(record) => {
                prop_assert!(!record.id.is_empty());
                let _ = extract::rows(&record, Timestamp(0));
                prop_assert!(conclave::terminal::report::page(&record).ends_with("</html>\n"));
            }
            Err(error) => prop_assert!(
                matches!(
                    error,
                    RecordReadError::NotARecord(_)
                        | RecordReadError::OtherVersion(_)
                        | RecordReadError::Id(_)
                ),
                "{error}"
            ),
        }
    }

    #[test]
    fn changed_or_lost_bytes_never_panic(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = fs::read(path("record-1.0.json")).unwrap();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        let _ = read(&bytes).map(|record| conclave::terminal::report::page(&record));
        bytes.truncate(length.index(bytes.len()));
        let _ = read(&bytes).map(|record| extract::rows(&record, Timestamp(0)));
    }
}
