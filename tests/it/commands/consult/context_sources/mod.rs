//! Files, folders, globs, standard input and a project as context: what is read and in which order,
//! and what is refused before anything is sent.

mod order;
mod paths;
mod refusals;
mod windows;
mod large_context;
mod standard_input;
mod project;
mod planted_secrets;

use std::fs;

use serde_json::Value;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::ProviderServer;

/// Writes files in the folder where the binary runs.
fn write(conclave: &Conclave, files: &[(&str, &[u8])]) {
    for (path, bytes) in files {
        let path = conclave.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Returns the names of the context's files, and all that a run with these flags said.
fn names(conclave: &Conclave, flags: &[&str]) -> (Vec<String>, RunOutput) {
    let arguments: Vec<&str> = ["consult"]
        .into_iter()
        .chain(flags.iter().copied())
        .chain(["--rounds", "1", "Is this right?"])
        .collect();
    let output = conclave.run(&arguments).ends_with(0);
    let path = conclave.log("jsonl");
    let journal = fs::read_to_string(&path).unwrap();
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    let first: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    let sources = first["data"]["plan"]["context"]["sources"]
        .as_array()
        .expect("the plan has a context");
    let names = sources
        .iter()
        .map(|source| source["name"].as_str().unwrap().to_owned())
        .collect();
    (names, output)
}

/// Runs with these flags and expects an error of usage before anything is sent or stored.
fn refused(conclave: &Conclave, server: &ProviderServer, flags: &[&str]) -> String {
    let arguments: Vec<&str> = ["consult"]
        .into_iter()
        .chain(flags.iter().copied())
        .chain(["Is this right?"])
        .collect();
    let output = conclave.run(&arguments).ends_with(2);
    assert_eq!(output.stdout, "");
    assert!(server.requests().is_empty());
    assert!(!conclave.home().join("consult-logs").exists());
    output.stderr
}

fn setup() -> (ProviderServer, Conclave) {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    (server, conclave)
}
