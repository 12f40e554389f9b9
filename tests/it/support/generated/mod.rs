//! Records of consultations that never were, as many as are asked for: the same for the same seed,
//! and of every kind that there is. They are made by the program itself from events, so that they
//! have its shape; what later versions write beside it is added to some.

mod later;
mod story;
mod times;
mod words;

use std::fs;
use std::path::Path;

use conclave::consultation::event::{Envelope, SCHEMA_VERSION};
use conclave::consultation::transcript::Transcript;
use conclave::domain::ids::ConsultationId;
use conclave::domain::time::Timestamp;
use conclave::records::record::record;
use serde_json::Value;

/// How long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// As panels of three with four rounds are, about 45 KB.
    Usual,
    /// Small panels that say little in one round or two, about 12 KB.
    Short,
}

/// One consultation.
#[derive(Clone, Debug)]
pub(crate) struct Generated {
    /// With its `consult-`; sorts by time.
    pub(crate) id: String,
    pub(crate) at: Timestamp,
    /// What its journal has.
    pub(crate) events: Vec<Envelope>,
    pub(crate) record: Value,
}

impl Generated {
    /// The record as its file has it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(&self.record).unwrap();
        bytes.push(b'\n');
        bytes
    }

    /// The journal as its file has it.
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

/// So many consultations, the earliest first.
pub(crate) fn consultations(
    seed: u64,
    count: usize,
    length: Length,
) -> impl Iterator<Item = Generated> {
    times::moments(seed, count)
        .into_iter()
        .zip(0_u64..)
        .map(move |(at, nth)| {
            // Each has its own randomness: it does not change with the number of those before it.
            let mut chance =
                fastrand::Rng::with_seed(seed ^ (nth + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let unique = ulid::Ulid::from_parts(u64::try_from(at.0).unwrap(), chance.u128(..));
            one(at, &unique.to_string(), &mut chance, length)
        })
}

/// Writes so many records into a folder of logs.
pub(crate) fn write(logs: &Path, seed: u64, count: usize, length: Length) {
    consultations(seed, count, length).for_each(|consultation| consultation.write(logs));
}

fn one(at: Timestamp, unique: &str, chance: &mut fastrand::Rng, length: Length) -> Generated {
    let id = ConsultationId::from_unique(unique);
    let story = story::tell(at, chance, length);
    let envelope = |(seq, (at, event))| Envelope {
        schema_version: SCHEMA_VERSION.to_owned(),
        seq,
        at,
        consultation_id: id.clone(),
        cause: None,
        event,
    };
    let events: Vec<Envelope> = (1..).zip(story.events).map(envelope).collect();
    let mut record = record(&Transcript::fold(&events).unwrap());
    later::add(&mut record, story.ended_early, chance);
    Generated {
        id: id.to_string(),
        at,
        events,
        record,
    }
}
