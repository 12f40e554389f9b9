//! Text on standard input beside a question: it is refused before anything is spent, and a pipe
//! that is never written to does no harm.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::provider_server::{Answer, Hold, On, ProviderServer};

const REFUSED: &str = "\
error: standard input carries text that would be ignored
hint: make it part of the question, as in `(echo \"Is this right?\"; cat FILE) | conclave consult -`
hint: or ignore it with `< /dev/null`
";

const WARNING: &str =
    "Warning: text arrived on standard input during the run; it is not part of the question\n";

fn start(conclave: &Conclave, arguments: &[&str], input: Stdio) -> Child {
    conclave
        .command()
        .args(arguments)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Asks with this input, of which nothing more is written.
fn ask_with(conclave: &Conclave, input: Stdio) -> RunOutput {
    RunningProcess::of(start(conclave, &["consult", "Shall we?"], input)).wait()
}

/// Asks with a pipe that stays open as long as the returned end is held.
fn ask_with_pipe(conclave: &Conclave) -> (RunningProcess, ChildStdin) {
    let mut child = start(conclave, &["consult", "Shall we?"], Stdio::piped());
    let held = child.stdin.take().unwrap();
    (RunningProcess::of(child), held)
}

fn assert_refused(output: RunOutput, server: &ProviderServer, conclave: &Conclave) {
    let output = output.ends_with(2);
    assert_eq!(output.stderr, REFUSED);
    assert_eq!(output.stdout, "");
    assert!(server.requests().is_empty());
    assert!(!conclave.home().join("consult-logs").exists());
}

#[test]
fn piped_text_beside_a_question_is_refused() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for arguments in [
        &["consult", "Is this ok?"][..],
        &["Is this ok?"],
        &["consult", "Is", "this", "ok"],
        &["consult", "--dry-run", "Is this ok?"],
    ] {
        let output = conclave.run_with(arguments, "fn main() {}\n");
        assert_refused(output, &server, &conclave);
    }
}

#[test]
fn file_with_text_beside_a_question_is_refused() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let path = conclave.folder().join("code.rs");
    std::fs::write(&path, "fn main() {}\n").unwrap();
    let output = ask_with(&conclave, File::open(&path).unwrap().into());
    assert_refused(output, &server, &conclave);
}

#[test]
fn inputs_without_text_are_accepted() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let empty = conclave.folder().join("empty");
    std::fs::write(&empty, "").unwrap();
    let inputs = [
        Stdio::null(),
        File::open(&empty).unwrap().into(),
        File::open("/dev/zero").unwrap().into(),
    ];
    for input in inputs {
        let output = ask_with(&conclave, input).ends_with(0);
        assert!(
            !output.stderr.contains("standard input"),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn closed_input_is_accepted() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let script = "exec \"$0\" consult 'Shall we?' <&-";
    let mut shell = std::process::Command::new("/bin/sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_conclave")])
        .env_clear()
        .envs(conclave.variables())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    RunningProcess::of(shell.spawn().unwrap())
        .wait()
        .ends_with(0);
}

#[test]
fn pipe_that_is_never_written_to_is_accepted() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let (running, held) = ask_with_pipe(&conclave);
    let output = running.wait().ends_with(0);
    drop(held);
    assert!(
        !output.stderr.contains("standard input"),
        "{}",
        output.stderr
    );
}

#[test]
fn text_that_comes_after_the_start_is_refused_before_the_first_call() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let pipe = conclave.folder().join("pipe");
    make_pipe(&pipe);
    // The command that prints the key runs between the start and the first call.
    let command = format!("echo late > {}; echo key", pipe.display());
    let endpoint = format!(
        r#"{{"base_url": "{}", "api_key_cmd": "{command}"}}"#,
        server.url()
    );
    let conclave = conclave.config(&format!(
        r#"{{"endpoints": {{"x": {endpoint}}}, "panel": ["security=x:a", "architect=x:b"], "judge": "x:j"}}"#
    ));
    let held = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    let output = ask_with(&conclave, File::open(&pipe).unwrap().into());
    drop(held);
    assert_refused(output, &server, &conclave);
}

#[test]
fn text_that_comes_during_the_run_yields_a_warning() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(On::any(), Answer::valid().held_by(&hold));
    let conclave = Conclave::at(&server);
    let (running, mut input) = ask_with_pipe(&conclave);
    server.wait_until("the first calls have arrived", |requests| {
        !requests.is_empty()
    });
    input.write_all(b"late\n").unwrap();
    hold.release();
    let output = running.wait().ends_with(0);
    assert!(output.stderr.ends_with(WARNING), "{}", output.stderr);
    assert!(output.stdout.contains("Start small"), "{}", output.stdout);
}

#[test]
fn question_from_standard_input_uses_it_all() {
    let server = ProviderServer::start();
    let output = Conclave::at(&server)
        .run_with(&["consult", "-"], "Is this ok?\nfn main() {}\n")
        .ends_with(0);
    assert!(
        !output.stderr.contains("standard input"),
        "{}",
        output.stderr
    );
}

fn make_pipe(path: &Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status();
    assert!(status.unwrap().success());
}
