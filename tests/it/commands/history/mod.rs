//! `conclave history`: listing, showing, exporting, deleting, grading and rejudging, and the names
//! of consultations.

mod list;
mod naming;
mod open;
mod outcome;
mod rejudge;
mod rm;
mod search;
mod show;
mod unsafe_names;

use serde_json::Value;

use crate::support::binary::Conclave;
use crate::support::sample_events;
use crate::support::saved::{complete_consultation, consultation_with};

/// Three consultations, the newest first: an unfinished one, an interrupted one and a complete one.
const NEWEST: &str = "01kfa3cccccccccccccccccccc";
const MIDDLE: &str = "01kfa2bbbbbbbbbbbbbbbbbbbb";
const OLDEST: &str = "01kfa1aaaaaaaaaaaaaaaaaaaa";

/// Returns a home with these three consultations and an index.
fn three() -> Conclave {
    let conclave = Conclave::new();
    complete_consultation(OLDEST, "2026-01-05T10:00:00Z", "Should I use OAuth or JWT?")
        .save(&conclave);
    consultation_with(
        sample_events::aborted(),
        MIDDLE,
        "2026-01-06T10:00:00Z",
        "Where do we keep \u{1b}[2Jsessions?\nIn Redis?",
    )
    .save(&conclave);
    let mut killed = consultation_with(
        sample_events::aborted(),
        NEWEST,
        "2026-01-07T10:00:00Z",
        "Is a größere Datenbank 🦀 worth it?",
    );
    killed.events.truncate(12);
    killed.save_journal(&conclave);
    conclave.run(&["history", "-n", "1"]).ends_with(0);
    conclave
}

/// Returns the ids of a list without their common prefix.
fn ids(list: &Value) -> Vec<String> {
    let unique = |row: &Value| {
        row["consultation_id"]
            .as_str()
            .unwrap()
            .strip_prefix("consult-")
            .unwrap()
            .to_owned()
    };
    list["consultations"]
        .as_array()
        .unwrap()
        .iter()
        .map(unique)
        .collect()
}
