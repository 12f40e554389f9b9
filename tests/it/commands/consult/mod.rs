//! `conclave consult`, from the command line to the files and the requests at the vendors.

mod asking;
mod context_sources;
mod context_storage;
mod cost;
mod debate;
mod follow_up;
mod output;
mod panel;
mod providers;
pub(crate) mod failures;
mod settings;
mod system;
mod usage_errors;

use serde_json::Value;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::ProviderServer;

/// Asks the default panel with these flags.
fn ask(server: &ProviderServer, flags: &[&str]) -> (Conclave, RunOutput) {
    let conclave = Conclave::at(server);
    let output = conclave.run(&[&["consult", "Shall we?"], flags].concat());
    (conclave, output)
}

/// Returns the events in the journal of the only consultation.
fn journal(conclave: &Conclave) -> Vec<Value> {
    let journal = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    let lines = journal.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[track_caller]
fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "{part}: {text}");
}

/// Checks a record against the published schema, which allows more fields of an artifact.
fn assert_published(record: &Value) {
    let schema = include_str!("../../../../schemas/consultation.schema.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let errors = validator.iter_errors(record);
    let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}
