//! Usage errors: exit code 2 and a message, without output, requests or saved files.

use std::process::Stdio;

use crate::support::binary::{Conclave, RunningProcess};
use crate::support::provider_server::ProviderServer;

/// Runs a command that must be rejected before any request, and returns standard error.
fn rejected(
    conclave: &Conclave,
    server: &ProviderServer,
    arguments: &[&str],
    input: &str,
) -> String {
    let output = conclave.run_with(arguments, input).ends_with(2);
    assert_eq!(output.stdout, "", "standard output is for the answer");
    assert!(server.requests().is_empty());
    assert!(!conclave.home().join("consult-logs").exists());
    output.stderr
}

#[test]
fn missing_question_yields_a_hint() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let expected = "error: Question is required. Usage: conclave consult <question>\n\
                    hint: read the question from standard input with `conclave consult -`\n";
    for arguments in [&["consult"][..], &["consult", ""], &["consult", " \n\t "]] {
        assert_eq!(
            rejected(&conclave, &server, arguments, ""),
            expected,
            "{arguments:?}"
        );
    }
    for input in ["", " \n "] {
        assert_eq!(
            rejected(&conclave, &server, &["consult", "-"], input),
            "error: standard input holds no question\nhint: for example: `echo 'Should we?' | conclave consult -`\n"
        );
    }
}

#[test]
fn question_on_standard_input_must_be_utf8() {
    use std::io::Write;
    let conclave = Conclave::new();
    let mut command = conclave.command();
    command
        .args(["consult", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"caf\xe9?").unwrap();
    let output = RunningProcess::of(child).wait().ends_with(2);
    assert_eq!(
        output.stderr,
        "error: the question on standard input is not UTF-8 text\n"
    );
}

#[test]
fn unusable_settings_are_named_with_their_file() {
    let server = ProviderServer::start();
    for (config, message) in [
        (
            r#"{"always_alow_under": 1}"#,
            "error: unknown setting `always_alow_under` in `CONFIG`; did you mean `always_allow_under`?\n\
             hint: remove it with `conclave config unset 'always_alow_under'`\n",
        ),
        (
            r#"{"always_allow_under": "a lot"}"#,
            "error: `always_allow_under` in `CONFIG` is `\"a lot\"`, but must be an amount in dollars, such as 0.50\n\
             hint: change it with `conclave config set always_allow_under VALUE`, or remove it with `conclave config unset always_allow_under`\n",
        ),
        (
            "{",
            "error: `CONFIG` is not JSON\n  caused by: EOF while parsing an object at line 1 column 1\nhint: fix or remove it\n",
        ),
        (
            "[]",
            "error: `CONFIG` is not a JSON object\nhint: fix or remove it\n",
        ),
    ] {
        let conclave = Conclave::at(&server).config(config);
        let path = conclave.home().join("config.json");
        assert_eq!(
            rejected(&conclave, &server, &["consult", "q"], "")
                .replace(path.to_str().unwrap(), "CONFIG"),
            message
        );
    }
    let conclave = Conclave::at(&server).variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "much");
    assert_eq!(
        rejected(&conclave, &server, &["consult", "q"], ""),
        "error: `always_allow_under` in `CONCLAVE_ALWAYS_ALLOW_UNDER` is `much`, but must be an amount in dollars, such as 0.50\n\
         hint: change or unset CONCLAVE_ALWAYS_ALLOW_UNDER\n"
    );
}

#[test]
fn run_without_any_model_yields_hints() {
    if cfg!(feature = "local") {
        return;
    }
    let conclave = Conclave::new();
    let output = conclave.run(&["consult", "q"]).ends_with(2);
    assert_eq!(output.stdout, "");
    assert_eq!(
        output.stderr,
        "error: there is no model to ask: no key is set, no program is logged in, no local server answers, and this build has no local model\n\
             hint: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`\n\
             hint: or log in to Claude Code or Codex, and name its model: `--model claude-code:sonnet`, `--model codex:gpt-5.5`\n\
             hint: or start a local server, such as Ollama\n\
             hint: or build in the local model with `cargo build --release --features local`\n"
    );
    assert!(!conclave.home().exists());
}

#[test]
fn arguments_must_be_unicode() {
    use std::os::unix::ffi::OsStrExt;
    let conclave = Conclave::new();
    let mut command = conclave.command();
    command.args(["consult".as_ref(), std::ffi::OsStr::from_bytes(b"caf\xe9?")]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = RunningProcess::of(command.spawn().unwrap())
        .wait()
        .ends_with(2);
    assert!(
        output.stderr.starts_with("error: invalid UTF-8"),
        "{}",
        output.stderr
    );
}

#[test]
fn unknown_arguments_are_rejected_with_at_most_one_suggestion() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for (arguments, message) in [
        (
            &["consult", "--frobnicate", "q"][..],
            "unexpected argument '--frobnicate'",
        ),
        (
            &["consult", "--format", "yaml", "q"],
            "[possible values: markdown, json, html, both]",
        ),
        (
            &["consult", "--hedge-after", "soon", "q"],
            "must be a number of seconds up to 1000000, or `off`",
        ),
        (&["consult", "-q", "--verbose", "q"], "cannot be used with"),
        (
            &["consult", "--json", "--format", "md", "q"],
            "cannot be used with",
        ),
        (
            &["consult", "-", "and", "more"],
            "`-` reads the whole question",
        ),
        (
            &["Should", "we", "ship"],
            "\nhint: ask it with 'conclave consult Should we ship'\n",
        ),
        (
            &["export", "last"],
            "hint: it is 'conclave history export last'\n",
        ),
        (&["pull"], "hint: it is 'conclave models pull'\n"),
        (&[], "Usage: conclave <COMMAND>"),
        (&["consul", "q"], " exists: 'consult'\n"),
        (&["stat"], " exists: 'stats'\n"),
        (&["history", "lst"], " exists: 'list'\n"),
        (&["consult", "--jsn", "q"], " exists: '--json'\n"),
        (&["ask", "--jugde", "m", "q"], " exists: '--judge'\n"),
        (&["consult", "--format", "jsno", "q"], " exists: 'json'\n"),
        (&["models", "--al"], " exists: '--all'\n"),
    ] {
        let stderr = rejected(&conclave, &server, arguments, "");
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
        let tips = usize::from(message.contains("hint: ask it") || message.contains(" exists: "));
        assert_eq!(
            stderr.matches("hint: ask it").count() + stderr.matches(" exists: ").count(),
            tips,
            "{arguments:?}: {stderr}"
        );
    }
}

#[test]
fn unwritable_output_is_rejected_before_any_request() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for (flag, path, message) in [
        (
            "-o",
            "nowhere/answer.md",
            "error: the folder of `nowhere/answer.md` does not exist\n",
        ),
        ("-o", ".", "error: `.` is a folder\nhint: name a file\n"),
        (
            "--events",
            "nowhere/events.jsonl",
            "error: cannot write `nowhere/events.jsonl`\n  caused by: No such file or directory",
        ),
        #[cfg(target_os = "linux")]
        (
            // Not even root can create a file here.
            "-o",
            "/proc/answer.md",
            "error: cannot write `/proc/answer.md`\n  caused by: ",
        ),
    ] {
        let stderr = rejected(&conclave, &server, &["consult", flag, path, "q"], "");
        assert!(stderr.starts_with(message), "{path}: {stderr}");
    }
}
