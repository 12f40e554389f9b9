//! `conclave scrub`: its text, its report, the user's own rules, and the input that it refuses.

use std::fs::{self, File};
use std::process::Stdio;

use crate::commands::succeed;
use crate::support::binary::{Conclave, RunningProcess};
use crate::support::pty::{Output, Terminal};

/// A token that no service has issued.
fn github_token(digit: char) -> String {
    format!("ghp_{}{digit}", "16C7e42F292c6912E7710c838347Ae178B4")
}

fn write(conclave: &Conclave, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(conclave.folder().join(name), bytes).unwrap();
}

fn with_rules(text: &str) -> Conclave {
    let conclave = Conclave::new();
    fs::create_dir_all(conclave.home()).unwrap();
    fs::write(conclave.home().join("scrub.toml"), text).unwrap();
    conclave
}

#[test]
fn text_is_printed_to_the_byte_but_for_the_secrets() {
    let token = github_token('a');
    let text = format!("\u{feff}# \u{1b}[1mNotes\r\n\tuse {token} for é\r\nno end");
    let output = Conclave::new().run_with(&["scrub"], &text).ends_with(0);
    assert_eq!(
        output.stdout,
        text.replace(&token, "[REDACTED_GITHUB_TOKEN]")
    );
    assert_eq!(
        output.stderr,
        "🔒 Security: 1 sensitive value detected and masked in context:\n- 1 GitHub token\n"
    );
}

#[test]
fn quiet_runs_and_texts_without_secrets_have_no_report() {
    let token = github_token('a');
    let code = "const token: string = await getToken();\n";
    for (arguments, text, printed) in [
        (&["scrub"][..], code, code),
        (&["scrub", "-q"], &*token, "[REDACTED_GITHUB_TOKEN]"),
    ] {
        let output = Conclave::new().run_with(arguments, text).ends_with(0);
        assert_eq!(output.stdout, printed);
        assert_eq!(output.stderr, "");
    }
}

#[test]
fn files_and_input_are_printed_in_order_and_masks_are_numbered_over_all() {
    let conclave = Conclave::new();
    let (one, other) = (github_token('a'), github_token('b'));
    write(&conclave, "one.txt", format!("1 {one}\n"));
    write(&conclave, "two.txt", format!("2 {other}\n3 {one}\n"));
    let output = conclave
        .run_with(&["scrub", "-v", "two.txt", "-", "one.txt"], "input\n")
        .ends_with(0);
    assert_eq!(
        output.stdout,
        "2 [REDACTED_GITHUB_TOKEN_1]\n3 [REDACTED_GITHUB_TOKEN_2]\ninput\n\
         1 [REDACTED_GITHUB_TOKEN_2]\n"
    );
    for line in [
        "- 3 GitHub tokens\n",
        " in two.txt:1\n",
        " in two.txt:2\n",
        " in one.txt:1\n",
    ] {
        let times = output.stderr.matches(line).count();
        assert_eq!(times, 1, "{line}: {}", output.stderr);
    }
    for token in [one, other] {
        assert!(!output.stderr.contains(&token), "{}", output.stderr);
    }
}

#[test]
fn keys_in_the_environment_are_masked_whatever_they_look_like() {
    let conclave = Conclave::new()
        .config(r#"{"endpoints": {"work": {"base_url": "http://h", "api_key_env": "WORK_KEY"}}}"#)
        .variable("GOOGLE_API_KEY", "correct horse battery staple")
        .variable("WORK_KEY", "plain-words-only");
    let text = "say correct horse battery staple, then plain-words-only\n";
    let output = conclave.run_with(&["scrub"], text).ends_with(0);
    assert_eq!(
        output.stdout,
        "say [REDACTED_API_KEY_1], then [REDACTED_API_KEY_2]\n"
    );
}

#[test]
fn rules_and_exceptions_of_the_user_count() {
    let allowed = github_token('f');
    let conclave = with_rules(&format!(
        "[[rule]]\nid = \"acme-token\"\nkind = \"acme_token\"\nkeywords = [\"acme_\"]\n\
         regex = 'acme_[0-9a-f]{{8}}'\n\n[allow]\nvalues = [\"{allowed}\"]\n"
    ));
    let text = format!("acme_0123abcd {allowed} {}\n", github_token('a'));
    let output = conclave.run_with(&["scrub", "-v"], &text).ends_with(0);
    assert_eq!(
        output.stdout,
        format!("[REDACTED_ACME_TOKEN] {allowed} [REDACTED_GITHUB_TOKEN]\n")
    );
    output.assert_stderr_contains("- 1 acme token\n- 1 GitHub token\n");
    output.assert_stderr_contains("acme-token in stdin:1");
}

#[test]
fn broken_rules_name_line_and_field_and_stop_everything_that_sends() {
    let conclave =
        with_rules("[[rule]]\nid = \"a\"\nkind = \"a\"\nkeyword = [\"a\"]\nregex = 'a'\n");
    let file = conclave.home().join("scrub.toml");
    let file = file.display();
    let expected = format!(
        "error: {file}:4: unknown field `keyword`, expected one of `id`, `kind`, `description`, \
         `keywords`, `regex`, `needs`, `before`, `after`, `ignore_case`, `entropy`, `block`, \
         `names`, `allow`\n\
         hint: fix or remove {file}\n"
    );
    for command in [&["scrub"][..], &["consult", "--dry-run", "Which?"]] {
        let output = conclave.run(command).ends_with(2);
        assert_eq!(output.stdout, "");
        assert_eq!(output.stderr, expected, "{command:?}");
    }
    let doctor = conclave.run(&["doctor"]).ends_with(1);
    assert!(
        doctor.stdout.contains("unknown field `keyword`"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn an_unreadable_file_is_named_and_nothing_is_printed() {
    let conclave = Conclave::new();
    write(&conclave, "good.txt", "fine\n");
    write(&conclave, "latin.txt", b"caf\xe9");
    let output = conclave
        .run(&["scrub", "good.txt", "gone.txt", "latin.txt", "."])
        .ends_with(2);
    assert_eq!(output.stdout, "");
    assert_eq!(
        output.stderr,
        "error: cannot read gone.txt: No such file or directory (os error 2); nothing was printed\n"
    );
}

#[test]
fn input_without_an_end_is_refused_at_the_limit() {
    let conclave = Conclave::new();
    let mut command = conclave.command();
    command
        .arg("scrub")
        .stdin(File::open("/dev/zero").unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = RunningProcess::of(command.spawn().unwrap()).wait();
    let output = output.ends_with(2);
    assert_eq!(output.stdout, "");
    assert_eq!(
        output.stderr,
        "error: the text is larger than 16 MB\nhint: allow more with `--max-context-mb 64`\n"
    );
}

#[test]
fn limit_counts_all_texts_together() {
    let conclave = Conclave::new();
    let text = "a line of text\n".repeat(40_000);
    write(&conclave, "one.txt", &text);
    write(&conclave, "two.txt", &text);
    succeed(&conclave, &["scrub", "--max-context-mb", "1", "one.txt"]);
    conclave
        .run(&["scrub", "--max-context-mb", "1", "one.txt", "two.txt"])
        .ends_with(2);
}

#[test]
fn terminal_without_a_file_gets_an_explanation() {
    let terminal = Terminal::start(&Conclave::new(), 80, Output::Pipe, &["scrub"]);
    let (output, transcript) = terminal.end();
    assert_eq!(output.code, Some(2));
    let text = transcript.text();
    assert!(
        text.contains("error: nothing to scrub: no file and no input"),
        "{text}"
    );
    assert!(text.contains("hint: name files, as in"), "{text}");
}
