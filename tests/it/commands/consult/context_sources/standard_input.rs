//! Text on standard input beside a question is context, and no question is asked without what was
//! piped: a pipe that stays silent ends the run, as does an input that is no text or has no end.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::commands::consult::{assert_contains, journal};
use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::provider_server::ProviderServer;

/// Shows what a consultation would send.
const PREVIEW: [&str; 4] = ["consult", "Shall we?", "--dry-run", "--json"];

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

/// Shows what would be sent with this input, of which nothing more is written.
fn preview(conclave: &Conclave, input: impl Into<Stdio>) -> RunOutput {
    RunningProcess::of(start(conclave, &PREVIEW, input.into())).wait()
}

/// Runs a script of the shell, in which `$0` is the binary.
fn run_shell(conclave: &Conclave, script: &str) -> RunOutput {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_conclave")])
        .env_clear()
        .envs(conclave.variables())
        .current_dir(conclave.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    RunningProcess::of(shell.spawn().unwrap()).wait()
}

/// Returns the context's sources in the saved plan.
fn sources(conclave: &Conclave) -> Value {
    journal(conclave)[0]["data"]["plan"]["context"]["sources"].clone()
}

/// Asserts that standard input with this text is the only source of a preview.
fn assert_is_context(output: RunOutput, text: &str) {
    let context = output.ends_with(0).json()["context"].clone();
    let sources = context["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 1, "{context}");
    assert_eq!(sources[0]["kind"], "stdin");
    assert_eq!(sources[0]["bytes"], text.len());
}

/// Asserts that nothing was read, and nothing is said of it.
fn assert_is_no_context(output: RunOutput) {
    let output = output.ends_with(0);
    assert_eq!(output.json()["context"], Value::Null);
    assert_eq!(output.stderr, "");
}

fn refused(output: RunOutput, conclave: &Conclave) -> String {
    let output = output.ends_with(2);
    assert_eq!(output.stdout, "");
    assert!(!conclave.home().join("consult-logs").exists());
    output.stderr
}

fn setup() -> Conclave {
    Conclave::at(&ProviderServer::start())
}

#[test]
fn text_beside_a_question_is_context() {
    let conclave = setup();
    for arguments in [
        &["consult", "Is this ok?"][..],
        &["Is this ok?"],
        &["consult", "Is", "this", "ok"],
        &["consult", "--file", "-", "Is this ok?"],
        &["consult", "--context", "-", "Is this ok?"],
    ] {
        let arguments = [arguments, &["--dry-run", "--json"]].concat();
        let output = conclave.run_with(&arguments, "fn main() {}\n");
        assert_is_context(output, "fn main() {}\n");
    }
    let path = conclave.folder().join("code.rs");
    std::fs::write(&path, "from a file").unwrap();
    assert_is_context(
        preview(&conclave, File::open(&path).unwrap()),
        "from a file",
    );
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.write_all(b"from a socket").unwrap();
    drop(ours);
    let output = preview(&conclave, OwnedFd::from(theirs));
    assert_is_context(output, "from a socket");
}

#[test]
fn text_larger_than_a_pipe_is_read_to_its_end() {
    let text = "A line of a log that goes through a pipe.\n".repeat(5_000);
    assert_is_context(setup().run_with(&PREVIEW, &text), &text);
}

#[test]
fn inputs_without_text_are_no_context() {
    let conclave = setup();
    let empty = conclave.folder().join("empty");
    std::fs::write(&empty, "").unwrap();
    for path in ["/dev/null".as_ref(), empty.as_path()] {
        assert_is_no_context(preview(&conclave, File::open(path).unwrap()));
    }
    let closed = "exec \"$0\" consult 'Shall we?' --dry-run --json <&-";
    assert_is_no_context(run_shell(&conclave, closed));
    let (ours, theirs) = UnixStream::pair().unwrap();
    drop(ours);
    assert_is_no_context(preview(&conclave, OwnedFd::from(theirs)));
    let question = "Is this ok?\nfn main() {}\n";
    let all = conclave.run_with(&["consult", "-", "--dry-run", "--json"], question);
    assert_is_no_context(all);
}

#[test]
fn pipe_that_stays_silent_ends_the_run_before_anything_is_sent() {
    let server = ProviderServer::start();
    for (seconds, shown) in [("0", "0 s"), ("0.1", "0.1 s")] {
        let conclave = Conclave::at(&server).variable("CONCLAVE_STDIN_WAIT_SECONDS", seconds);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        for input in [Stdio::from(reader), OwnedFd::from(theirs).into()] {
            let child = start(&conclave, &["consult", "Shall we?"], input);
            assert_eq!(
                refused(RunningProcess::of(child).wait(), &conclave),
                format!(
                    "error: standard input is open, and no text came in {shown}; nothing was spent\n\
                     hint: if nothing is to be read, run with `< /dev/null`\n\
                     hint: or wait for it, however long it takes, with `--stdin`\n"
                )
            );
        }
        drop((ours, writer));
    }
    assert!(server.requests().is_empty());
}

#[test]
fn named_standard_input_is_waited_for_without_a_limit() {
    let conclave = setup().variable("CONCLAVE_STDIN_WAIT_SECONDS", "0");
    for named in [&["--stdin"][..], &["--file", "-"]] {
        let mut child = start(&conclave, &[&PREVIEW, named].concat(), Stdio::piped());
        let mut input = child.stdin.take().unwrap();
        let running = RunningProcess::of(child);
        input.write_all(b"late\n").unwrap();
        drop(input);
        assert_is_context(running.wait(), "late\n");
    }
}

#[test]
fn input_that_is_no_text_is_refused() {
    let conclave = setup();
    let encoding = "its encoding is neither UTF-8 nor UTF-16 with a byte order mark: see byte 3";
    for (bytes, cause) in [
        (
            &b"\x89PNG\r\n\x1a\n\0\0\0"[..],
            "it is binary: byte 8 is NUL",
        ),
        (b"caf\xe9\n", encoding),
    ] {
        let path = conclave.folder().join("input");
        std::fs::write(&path, bytes).unwrap();
        let output = preview(&conclave, File::open(&path).unwrap());
        assert_eq!(
            refused(output, &conclave),
            format!(
                "error: standard input is not text\n  caused by: {cause}\n\
                 hint: send text, or leave it out with `< /dev/null`\n"
            )
        );
    }
    let folder = preview(&conclave, File::open(conclave.folder()).unwrap());
    let stderr = refused(folder, &conclave);
    assert!(
        stderr.starts_with("error: cannot read standard input\n"),
        "{stderr}"
    );
}

#[test]
fn endless_input_is_refused() {
    let conclave = setup();
    let output = preview(&conclave, File::open("/dev/zero").unwrap());
    assert_contains(&refused(output, &conclave), "byte 0 is NUL");
    let output = run_shell(
        &conclave,
        "yes | \"$0\" consult --max-context-mb 2 'Shall we?'",
    );
    assert_eq!(
        refused(output, &conclave),
        "error: standard input has more than 2 MB\n\
         hint: send less context, or raise the limit of all sources together with \
         `--max-context-mb`\n"
    );
}

#[test]
fn standard_input_named_as_a_source_must_have_data_of_its_own() {
    let conclave = setup();
    for named in [&["-f", "-"][..], &["--stdin"]] {
        let output = conclave.run(&[&["consult", "Is this ok?"], named].concat());
        assert_eq!(
            refused(output, &conclave),
            "error: standard input, named with `-` or `--stdin`, is empty\n"
        );
    }
    let output = conclave.run_with(&["consult", "-f", "-", "-"], "text");
    assert_contains(
        &refused(output, &conclave),
        "error: standard input holds the question and cannot be a context file",
    );
}

#[test]
fn follow_up_takes_context_from_standard_input() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let arguments = ["consult", "--follow-up", "And this?", "--dry-run", "--json"];
    let shown = conclave.run_with(&arguments, "new text\n");
    let context = shown.ends_with(0).json()["context"].clone();
    assert_eq!(context["sources"][0]["bytes"], 9, "{context}");
}

#[test]
fn chain_of_pipes_works_without_a_terminal() {
    // The script of the seed, with a stage that reads the confidence as `jq` does.
    let chain = "cat problem.md | \"$0\" consult --format json \"Analyze this\" | \
                 sed -n 's/^  \"confidence\": //p'";
    let closed = format!("exec <&-; {chain}");
    let no_session = format!("setsid sh -c '{}' \"$0\"", chain.replace('\'', "'\\''"));
    for script in [chain, &closed, &no_session] {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        std::fs::write(conclave.folder().join("problem.md"), "# Problem\n").unwrap();
        let output = run_shell(&conclave, script).ends_with(0);
        let confidence: f64 =
            serde_json::from_str(output.stdout.trim().trim_end_matches(',')).unwrap();
        assert!(confidence > 0.0, "{}", output.stdout);
        assert_eq!(
            sources(&conclave),
            json!([{
                "kind": "stdin",
                "name": "stdin",
                "bytes": 10,
                "tokens": 7,
                "sha256": "f6090a7259d3d86b1e7f25cc1f67221bdcd67da51d20a5e020acabf5679dc4a3",
            }])
        );
    }
}
