//! Text on standard input beside a question is context; a pipe that is never written to does no
//! harm, and neither does an input that is no text or has no end.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::{Value, json};

use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::provider_server::{Answer, Hold, On, ProviderServer};
use crate::support::timeout::blocking;

const LATE: &str =
    "Warning: text arrived on standard input during the run; it is not part of the context\n";
const WITHOUT: &str =
    "Warning: no data on standard input in time; the question is asked without it\n";
const WAITING: &str = "Waiting for standard input… (if there is none, run with `< /dev/null`)\n";

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

/// Runs a script of the shell, in which `$0` is the binary.
fn run_shell(conclave: &Conclave, script: &str, input: Stdio) -> RunOutput {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_conclave")])
        .env_clear()
        .envs(conclave.variables())
        .current_dir(conclave.folder())
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    RunningProcess::of(shell.spawn().unwrap()).wait()
}

/// Returns what the saved plan says of the context's sources.
fn sources(conclave: &Conclave) -> Value {
    let journal = std::fs::read_to_string(conclave.log("jsonl")).unwrap();
    let first: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    first["data"]["plan"]["context"]["sources"].clone()
}

/// Asserts that standard input with this text is the only source.
fn assert_is_context(conclave: &Conclave, text: &str) {
    let sources = sources(conclave);
    assert_eq!(sources[0]["kind"], "stdin", "{sources}");
    assert_eq!(sources[0]["name"], "stdin");
    assert_eq!(sources[0]["bytes"], text.len());
    assert_eq!(sources[1], Value::Null);
}

/// Asserts that nothing was read, and nothing is said of it.
fn assert_is_no_context(conclave: &Conclave, output: &RunOutput) {
    assert_eq!(sources(conclave), Value::Null);
    assert!(
        !output.stderr.contains("standard input"),
        "{}",
        output.stderr
    );
}

fn assert_refused(output: RunOutput, server: &ProviderServer, conclave: &Conclave) -> String {
    let output = output.ends_with(2);
    assert_eq!(output.stdout, "");
    assert!(server.requests().is_empty());
    assert!(!conclave.home().join("consult-logs").exists());
    output.stderr
}

#[test]
fn piped_text_beside_a_question_is_context() {
    for arguments in [
        &["consult", "Is this ok?"][..],
        &["Is this ok?"],
        &["consult", "Is", "this", "ok"],
    ] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        conclave.run_with(arguments, "fn main() {}\n").ends_with(0);
        assert_is_context(&conclave, "fn main() {}\n");
    }
}

#[test]
fn file_with_text_beside_a_question_is_context() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let path = conclave.folder().join("code.rs");
    std::fs::write(&path, "fn main() {}\n").unwrap();
    ask_with(&conclave, File::open(&path).unwrap().into()).ends_with(0);
    assert_is_context(&conclave, "fn main() {}\n");
}

#[test]
fn text_larger_than_a_pipe_is_read_to_its_end() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let text = "A line of a log that goes through a pipe.\n".repeat(5_000);
    let arguments = ["consult", "--yes", "--rounds", "1", "Which is odd?"];
    conclave.run_with(&arguments, &text).ends_with(0);
    assert_is_context(&conclave, &text);
}

#[test]
fn socket_with_text_is_context() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(b"from a socket").unwrap();
    drop(ours);
    ask_with(&conclave, OwnedFd::from(theirs).into()).ends_with(0);
    assert_is_context(&conclave, "from a socket");
}

#[test]
fn socket_that_is_never_written_to_is_no_context() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let output = ask_with(&conclave, OwnedFd::from(theirs).into()).ends_with(0);
    drop(ours);
    assert_is_no_context(&conclave, &output);
}

#[test]
fn inputs_without_text_are_no_context() {
    for path in ["/dev/null", "empty"] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let empty = conclave.folder().join(path);
        if path == "empty" {
            std::fs::write(&empty, "").unwrap();
        }
        let output = ask_with(&conclave, File::open(&empty).unwrap().into()).ends_with(0);
        assert_is_no_context(&conclave, &output);
    }
}

#[test]
fn closed_input_is_no_context() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let script = "exec \"$0\" consult 'Shall we?' <&-";
    let output = run_shell(&conclave, script, Stdio::null()).ends_with(0);
    assert_is_no_context(&conclave, &output);
}

#[test]
fn pipe_that_is_never_written_to_is_left_after_its_time() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).variable("CONCLAVE_STDIN_WAIT_SECONDS", "0.1");
    let (running, held) = ask_with_pipe(&conclave);
    let output = running.wait().ends_with(0);
    drop(held);
    assert_eq!(sources(&conclave), Value::Null);
    assert!(output.stderr.starts_with(WITHOUT), "{}", output.stderr);
}

#[test]
fn pipe_is_not_waited_for_with_a_time_of_zero() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"stdin_wait_seconds": 0}"#);
    let (running, held) = ask_with_pipe(&conclave);
    let output = running.wait().ends_with(0);
    drop(held);
    assert!(output.stderr.starts_with(WITHOUT), "{}", output.stderr);
}

/// Asks with a pipe, writes the first text at once, and the last one after a line on standard
/// error.
fn ask_slowly(first: &str, line: &str, last: &str) -> Conclave {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let mut child = start(&conclave, &["consult", "Shall we?"], Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    input.write_all(first.as_bytes()).unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let running = RunningProcess::of(child);
    let (read, mut stderr) = blocking("a line on standard error", || {
        let mut read = String::new();
        stderr.read_line(&mut read).unwrap();
        (read, stderr)
    });
    assert_eq!(read, line);
    input.write_all(last.as_bytes()).unwrap();
    drop(input);
    std::thread::spawn(move || stderr.read_to_string(&mut String::new()));
    running.wait().ends_with(0);
    conclave
}

#[test]
fn long_wait_for_a_pipe_is_reported_and_its_text_is_read() {
    assert_is_context(&ask_slowly("", WAITING, "late\n"), "late\n");
}

#[test]
fn pause_within_the_text_is_reported_and_waited_for() {
    let line = "Reading standard input to its end…\n";
    assert_is_context(&ask_slowly("one\n", line, "two\n"), "one\ntwo\n");
}

#[test]
fn text_that_comes_during_the_run_yields_a_warning() {
    let server = ProviderServer::start();
    let hold = Hold::new();
    server.on(On::any(), Answer::valid().held_by(&hold));
    let conclave = Conclave::at(&server).variable("CONCLAVE_STDIN_WAIT_SECONDS", "0");
    let (running, mut input) = ask_with_pipe(&conclave);
    server.wait_until("the first calls have arrived", |requests| {
        !requests.is_empty()
    });
    input.write_all(b"late\n").unwrap();
    hold.release();
    let output = running.wait().ends_with(0);
    assert!(output.stderr.ends_with(LATE), "{}", output.stderr);
    assert!(output.stdout.contains("Start small"), "{}", output.stdout);
}

#[test]
fn binary_input_is_refused() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let path = conclave.folder().join("image");
    std::fs::write(&path, b"\x89PNG\r\n\x1a\n\0\0\0").unwrap();
    let output = ask_with(&conclave, File::open(&path).unwrap().into());
    assert_eq!(
        assert_refused(output, &server, &conclave),
        "error: standard input is not text\n  caused by: it is binary: byte 8 is NUL\n\
         hint: send text, or leave it out with `< /dev/null`\n"
    );
}

#[test]
fn input_in_another_encoding_is_refused() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let path = conclave.folder().join("latin-1");
    std::fs::write(&path, b"caf\xe9\n").unwrap();
    let output = ask_with(&conclave, File::open(&path).unwrap().into());
    let stderr = assert_refused(output, &server, &conclave);
    assert!(
        stderr.contains(
            "its encoding is neither UTF-8 nor UTF-16 with a byte order mark: see byte 3"
        ),
        "{stderr}"
    );
}

#[test]
fn endless_input_is_refused() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = ask_with(&conclave, File::open("/dev/zero").unwrap().into());
    let stderr = assert_refused(output, &server, &conclave);
    assert!(stderr.contains("byte 0 is NUL"), "{stderr}");

    let script = "yes | \"$0\" consult --max-context-mb 2 'Shall we?'";
    let output = run_shell(&conclave, script, Stdio::null());
    assert_eq!(
        assert_refused(output, &server, &conclave),
        "error: standard input has more than 2 MB\n\
         hint: send less context, or raise the limit of all sources together with \
         `--max-context-mb`\n"
    );
}

#[test]
fn folder_on_standard_input_is_refused() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = ask_with(&conclave, File::open(conclave.folder()).unwrap().into());
    let stderr = assert_refused(output, &server, &conclave);
    assert!(
        stderr.starts_with("error: cannot read standard input\n"),
        "{stderr}"
    );
}

#[test]
fn question_from_standard_input_uses_it_all() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave
        .run_with(&["consult", "-"], "Is this ok?\nfn main() {}\n")
        .ends_with(0);
    assert_is_no_context(&conclave, &output);
}

#[test]
fn standard_input_is_a_file_by_the_name_of_a_dash() {
    for flag in ["--file", "--context"] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        conclave
            .run_with(&["consult", flag, "-", "Is this ok?"], "text")
            .ends_with(0);
        assert_is_context(&conclave, "text");
    }
}

#[test]
fn standard_input_named_as_a_source_must_have_data() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave.run(&["consult", "-f", "-", "Is this ok?"]);
    assert_eq!(
        assert_refused(output, &server, &conclave),
        "error: standard input, named as `-`, is empty\n"
    );
}

#[test]
fn standard_input_cannot_be_question_and_source() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let output = conclave.run_with(&["consult", "-f", "-", "-"], "text");
    let stderr = assert_refused(output, &server, &conclave);
    assert!(
        stderr.starts_with("error: standard input holds the question and cannot be a context file"),
        "{stderr}"
    );
}

#[test]
fn follow_up_takes_context_from_standard_input() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let earlier = conclave.log("jsonl");
    let logs = earlier.parent().unwrap().to_owned();
    conclave
        .run_with(&["consult", "--follow-up", "And this?"], "new text\n")
        .ends_with(0);
    let has_context = std::fs::read_dir(logs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| *path != earlier && path.extension().is_some_and(|end| end == "jsonl"))
        .any(|path| {
            let journal = std::fs::read_to_string(path).unwrap();
            journal.contains(r#""kind":"stdin","name":"stdin","bytes":9"#)
        });
    assert!(has_context);
}

/// The script of the seed, with a stage that reads the confidence as `jq` does.
const CHAIN: &str = "cat problem.md | \"$0\" consult --format json \"Analyze this\" | \
                     sed -n 's/^  \"confidence\": //p'";

fn with_problem(server: &ProviderServer) -> Conclave {
    let conclave = Conclave::at(server);
    std::fs::write(conclave.folder().join("problem.md"), "# Problem\n").unwrap();
    conclave
}

#[test]
fn chain_of_pipes_works_without_a_terminal() {
    let closed = format!("exec <&-; {CHAIN}");
    let no_session = format!("setsid sh -c '{}' \"$0\"", CHAIN.replace('\'', "'\\''"));
    for script in [CHAIN, &closed, &no_session] {
        let server = ProviderServer::start();
        let conclave = with_problem(&server);
        let output = run_shell(&conclave, script, Stdio::null()).ends_with(0);
        let confidence: Value =
            serde_json::from_str(output.stdout.trim().trim_end_matches(',')).unwrap();
        assert!(confidence.as_f64().is_some(), "{}", output.stdout);
        assert_is_context(&conclave, "# Problem\n");
    }
}

#[test]
fn sources_on_the_wire_have_size_tokens_and_fingerprint() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave
        .run_with(&["consult", "Is this ok?"], "abcd")
        .ends_with(0);
    assert_eq!(
        sources(&conclave),
        json!([{
            "kind": "stdin",
            "name": "stdin",
            "bytes": 4,
            "tokens": 6,
            "sha256": "88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589",
        }])
    );
}
