//! The text of a context in its file: where it is and where it is not, and what resumes, judges and
//! follows up from it.

mod file;
mod resume;
mod reuse;

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::support::binary::Conclave;
use crate::support::provider_server::{ProviderServer, RecordedRequest};

/// Words that only the context has.
const MARK: &str = "the gearbox of Zanzibar";

/// Writes a file with the mark, and returns the flags that make it the context.
fn notes(conclave: &Conclave) -> [&'static str; 2] {
    let text = format!("# Notes\n\nConsider {MARK}.\n");
    fs::write(conclave.folder().join("notes.md"), text).unwrap();
    ["-f", "notes.md"]
}

/// Asks a question with the notes as context.
fn asked(server: &ProviderServer) -> Conclave {
    let conclave = Conclave::at(server);
    let [flag, file] = notes(&conclave);
    conclave
        .run(&["consult", "Shall we?", flag, file])
        .ends_with(0);
    conclave
}

/// Starts a consultation with the notes as context, and ends it during the judge's first call.
fn interrupted(conclave: &Conclave, server: &ProviderServer, signal: Signal) -> String {
    let [flag, file] = notes(conclave);
    let running = conclave.start(&["consult", "Shall we?", flag, file]);
    server.wait_until("the judge is asked", |requests| requests.len() == 4);
    running.signal(signal);
    running.wait().stderr
}

fn logs(conclave: &Conclave) -> PathBuf {
    conclave.home().join("consult-logs")
}

fn id_of(file: &Path) -> String {
    file.file_stem().unwrap().to_str().unwrap().to_owned()
}

fn has_mark(request: &RecordedRequest) -> bool {
    request.body.to_string().contains(MARK)
}

/// Returns the requests since there were so many.
fn since(server: &ProviderServer, before: usize) -> Vec<RecordedRequest> {
    server.requests().into_iter().skip(before).collect()
}

/// Returns all files below a folder.
fn all_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                all_files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Runs a resume that must be rejected before any request, and returns standard error.
fn rejected(conclave: &Conclave, server: &ProviderServer, arguments: &[&str]) -> String {
    let before = server.requests().len();
    let output = conclave.run(arguments).ends_with(2);
    assert_eq!(output.stdout, "");
    assert_eq!(server.requests().len(), before);
    output.stderr
}
