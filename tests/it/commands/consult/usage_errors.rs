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
fn unknown_arguments_are_rejected() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    for (arguments, message) in [
        (
            &["consult", "--frobnicate", "q"][..],
            "unexpected argument '--frobnicate'",
        ),
        (
            &["consult", "--formt", "json", "q"],
            "a similar argument exists: '--format'",
        ),
        (
            &["consult", "--format", "yaml", "q"],
            "[possible values: markdown, json, html, both]",
        ),
        (&["consult", "-q", "--verbose", "q"], "cannot be used with"),
        (&["consul", "q"], "a similar subcommand exists: 'consult'\n"),
        (
            &["Should", "we", "ship"],
            "tip: ask it with 'conclave consult Should we ship'\n",
        ),
        (
            &["consult", "-", "and", "more"],
            "`-` reads the whole question",
        ),
        (
            &["consult", "--json", "--format", "md", "q"],
            "cannot be used with",
        ),
        (&[], "Usage: conclave <COMMAND>"),
    ] {
        let stderr = rejected(&conclave, &server, arguments, "");
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
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
fn unwritable_output_is_rejected_before_any_request() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let nowhere = rejected(
        &conclave,
        &server,
        &["consult", "-o", "nowhere/answer.md", "q"],
        "",
    );
    assert_eq!(
        nowhere,
        "error: the folder of `nowhere/answer.md` does not exist\n"
    );
    let folder = rejected(&conclave, &server, &["consult", "-o", ".", "q"], "");
    assert_eq!(folder, "error: `.` is a folder\nhint: name a file\n");
    let events = rejected(
        &conclave,
        &server,
        &["consult", "--events", "nowhere/events.jsonl", "q"],
        "",
    );
    assert!(
        events.starts_with(
            "error: cannot write `nowhere/events.jsonl`\n  caused by: No such file or directory"
        ),
        "{events}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_folder_is_rejected_before_any_request() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    // Not even root can create a file here.
    let unwritable = rejected(
        &conclave,
        &server,
        &["consult", "-o", "/proc/answer.md", "q"],
        "",
    );
    assert!(
        unwritable.starts_with("error: cannot write `/proc/answer.md`\n  caused by: "),
        "{unwritable}"
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
        "error: there is no model to ask: no key is set, no local server answers, and this build has no local model\n\
             hint: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`\n\
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
fn unknown_word_gets_one_suggestion() {
    let conclave = Conclave::new();
    for (arguments, suggested) in [
        (&["consul"][..], "consult"),
        (&["consul", "q"], "consult"),
        (&["stat"], "stats"),
        (&["history", "lst"], "list"),
        (&["consult", "--jsn", "q"], "--json"),
        (&["consult", "--personnas", "a", "q"], "--personas"),
        (&["ask", "--jugde", "m", "q"], "--judge"),
        (&["consult", "--format", "jsno", "q"], "json"),
        (&["models", "--al"], "--all"),
    ] {
        let stderr = conclave.run(arguments).ends_with(2).stderr;
        assert_eq!(stderr.matches("tip:").count(), 1, "{stderr}");
        let tip = stderr.lines().find(|line| line.contains("tip:")).unwrap();
        assert!(tip.ends_with(&format!(" exists: '{suggested}'")), "{tip}");
    }
}

#[test]
fn word_like_no_other_gets_no_suggestion() {
    let stderr = Conclave::new()
        .run(&["consult", "--frobnicate", "q"])
        .ends_with(2)
        .stderr;
    assert!(!stderr.contains("exists:"), "{stderr}");
}
