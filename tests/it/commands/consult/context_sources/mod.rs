//! Files, folders, globs, standard input and a project as context: what is read and in which order,
//! what is masked, and what is refused before anything is sent.

mod order;
mod paths;
mod refusals;
mod windows;
mod large_context;
mod standard_input;
mod project;
mod planted_secrets;

use std::fs;

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

/// Returns the names of the context's files, and all that a preview with these flags says.
fn names(conclave: &Conclave, flags: &[&str]) -> (Vec<String>, RunOutput) {
    let preview = ["--dry-run", "--json", "Is this right?"];
    let output = conclave
        .run(&[&["consult"], flags, &preview].concat())
        .ends_with(0);
    let context = output.json()["context"].clone();
    let sources = context["sources"].as_array().expect("there is a context");
    let names = sources
        .iter()
        .map(|source| source["name"].as_str().unwrap());
    (names.map(ToOwned::to_owned).collect(), output)
}

/// Runs with these flags and expects an error of usage before anything is sent or stored.
fn refused(conclave: &Conclave, server: &ProviderServer, flags: &[&str]) -> String {
    let output = conclave
        .run(&[&["consult"], flags, &["Is this right?"]].concat())
        .ends_with(2);
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
