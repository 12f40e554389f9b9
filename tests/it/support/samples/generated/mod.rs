//! Generates records of consultations of every kind, the same for the same seed. The program itself
//! builds them from events, so that they have its shape; some get fields of other versions.

mod answers;
mod calls;
mod extra_fields;
mod scenario;
mod start_times;
mod terms;
mod text;

use std::fs;
use std::path::Path;

use conclave::consultation::event::{Envelope, SCHEMA_VERSION};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ConsultationId;
use conclave::domain::record::stored_record::StoredRecord;
use conclave::domain::time::Timestamp;
use serde_json::Value;

/// The length of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// Panels of two to four with mostly four rounds, about 45 KB.
    Usual,
    /// Small panels with short answers in one or two rounds, about 12 KB.
    Short,
}

/// A generated consultation.
#[derive(Clone, Debug)]
pub(crate) struct GeneratedConsultation {
    /// The id with its prefix `consult-`; sorts by time.
    pub(crate) id: String,
    pub(crate) at: Timestamp,
    /// The events of its journal.
    pub(crate) events: Vec<Envelope>,
    pub(crate) record: Value,
}

impl GeneratedConsultation {
    /// Returns the content of the record's file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(&self.record).unwrap();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the record as read from its file.
    pub(crate) fn stored(&self) -> StoredRecord {
        conclave::records::stored::read(&self.bytes()).unwrap()
    }

    /// Returns the content of the journal's file.
    pub(crate) fn journal(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for event in &self.events {
            serde_json::to_writer(&mut bytes, event).unwrap();
            bytes.push(b'\n');
        }
        bytes
    }

    /// Writes the record into a folder of logs.
    pub(crate) fn write(&self, logs: &Path) {
        fs::write(logs.join(format!("{}.json", self.id)), self.bytes()).unwrap();
    }
}

/// Generates this many consultations, the earliest first.
pub(crate) fn consultations(
    seed: u64,
    count: usize,
    length: Length,
) -> impl Iterator<Item = GeneratedConsultation> {
    start_times::start_times(seed, count)
        .into_iter()
        .zip(0_u64..)
        .map(move |(at, nth)| {
            // Each consultation has its own seed, so that it does not depend on those before it.
            let mut rng =
                fastrand::Rng::with_seed(seed ^ (nth + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let unique = ulid::Ulid::from_parts(u64::try_from(at.0).unwrap(), rng.u128(..));
            one(at, &unique.to_string(), &mut rng, length)
        })
}

/// Writes this many records into a folder of logs.
pub(crate) fn write(logs: &Path, seed: u64, count: usize, length: Length) {
    consultations(seed, count, length).for_each(|consultation| consultation.write(logs));
}

fn one(
    at: Timestamp,
    unique: &str,
    rng: &mut fastrand::Rng,
    length: Length,
) -> GeneratedConsultation {
    let id = ConsultationId::from_unique(unique);
    let scenario = scenario::generate(at, rng, length);
    let envelope = |(seq, (at, event))| Envelope {
        schema_version: SCHEMA_VERSION.to_owned(),
        seq,
        at,
        consultation_id: id.clone(),
        cause: None,
        waited_for_person_ms: 0,
        event,
    };
    let events: Vec<Envelope> = (1..).zip(scenario.events).map(envelope).collect();
    let mut record =
        serde_json::to_value(Transcript::fold(&events).unwrap().stored_record()).unwrap();
    extra_fields::add(&mut record, scenario.ended_early, rng);
    GeneratedConsultation {
        id: id.to_string(),
        at,
        events,
        record,
    }
}
