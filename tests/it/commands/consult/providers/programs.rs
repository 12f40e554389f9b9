//! Programs that answer in a seat: where they are found, and who has to agree to them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::pty::{Output, Terminal};

/// Logged in, and refused at the first call.
const CLAUDE: &str = r#"#!/bin/sh
case "$*" in
--version) echo "2.1.330 (Claude Code)" ;;
"auth status") echo '{"loggedIn":true,"authMethod":"claude.ai","subscriptionType":"max","planTier":"max_5x"}' ;;
*) echo '{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}'; exit 1 ;;
esac
"#;

const CODEX: &str = r#"#!/bin/sh
case "$*" in
--version) echo "codex-cli 0.169.0" ;;
"login status") echo "Logged in using ChatGPT" >&2 ;;
*) echo '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}'; exit 1 ;;
esac
"#;

fn place(folder: &Path, name: &str, script: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), script).unwrap();
    fs::set_permissions(folder.join(name), Permissions::from_mode(0o700)).unwrap();
}

fn programs(conclave: &Conclave) -> PathBuf {
    conclave.folder().join("programs")
}

/// With both programs, and nothing else that a panel could be of.
fn with_programs() -> Conclave {
    let conclave = Conclave::new();
    let folder = programs(&conclave);
    place(&folder, "claude", CLAUDE);
    place(&folder, "codex", CODEX);
    conclave.variable("PATH", folder)
}

const ALLOWED: &str =
    r#"{"programs": {"claude-code": {"allowed": true}, "codex": {"allowed": true}}}"#;

const ONE_CLAUDE: [&str; 6] = [
    "consult",
    "q",
    "--panel",
    "security=claude-code:sonnet",
    "--rounds",
    "1",
];

fn dry_run(conclave: &Conclave, flags: &[&str]) -> RunOutput {
    let ran = conclave.run(&[&["consult", "q", "--dry-run"], flags].concat());
    ran.ends_with(0)
}

#[test]
fn without_a_terminal_consent_must_be_given_before() {
    let conclave = with_programs();
    let refused = conclave.run(&ONE_CLAUDE).ends_with(3);
    assert_eq!(refused.stdout, "");
    let expected = "error: Claude Code may be asked only with your consent, and there is no \
                    terminal to ask for it\n\
                    hint: agree for this run with `--yes`\n\
                    hint: allow Claude Code with `conclave config set \
                    programs.claude-code.allowed true`\n";
    assert!(refused.stderr.ends_with(expected), "{}", refused.stderr);
    let set = ["config", "set", "programs.claude-code.allowed", "true"];
    conclave.run(&set).ends_with(0);
    let asked = conclave.run(&ONE_CLAUDE).ends_with(1);
    assert!(
        asked.stderr.contains("All agents failed"),
        "{}",
        asked.stderr
    );
}

#[test]
fn consent_in_advance_is_for_one_run() {
    let conclave = with_programs();
    let flags = [&ONE_CLAUDE[..], &["--yes"]].concat();
    conclave.run(&flags).ends_with(1);
    conclave.run(&ONE_CLAUDE).ends_with(3);
    // A resumed consultation asks as its beginning did.
    let resumed = conclave.run(&["resume"]);
    if resumed.code == Some(3) {
        resumed.assert_stderr_contains("Claude Code may be asked only with your consent");
    }
}

#[test]
fn person_is_asked_once() {
    let conclave = with_programs();
    let mut terminal = Terminal::start(&conclave, 100, Output::Terminal, &ONE_CLAUDE);
    terminal.wait_for("Ask Claude Code? [Y/n]", 1);
    terminal.type_in("n");
    assert_eq!(terminal.end().0.code, Some(3));
    assert!(!conclave.home().join("config.json").exists());
    let mut terminal = Terminal::start(&conclave, 100, Output::Terminal, &ONE_CLAUDE);
    terminal.wait_for("Ask Claude Code? [Y/n]", 1);
    terminal.type_in("y");
    let (ended, transcript) = terminal.end();
    assert_eq!(ended.code, Some(1), "{}", transcript.text());
    let shown = conclave.run(&["config", "get", "programs.claude-code.allowed"]);
    assert_eq!(shown.ends_with(0).stdout, "true\n");
    let terminal = Terminal::start(&conclave, 100, Output::Terminal, &ONE_CLAUDE);
    let (ended, transcript) = terminal.end();
    assert_eq!(ended.code, Some(1));
    assert!(!transcript.text().contains("Ask Claude Code?"));
}

#[test]
fn dry_run_asks_nothing_and_names_the_program() {
    let conclave = with_programs();
    let panel = [
        "--panel",
        "security=claude-code:opus,architect=codex:gpt-5.5",
    ];
    let preview = dry_run(&conclave, &[&panel[..], &["--json"]].concat()).json();
    let claude = &preview["by_model"][0];
    assert_eq!(claude["name"], "claude-code:opus");
    let file = programs(&conclave).join("claude");
    assert_eq!(claude["address"], json!(file));
    let text = dry_run(&conclave, &panel).stdout;
    let place = format!("the program {}", file.display());
    assert!(text.contains(&place), "{text}");
}

#[test]
fn without_a_key_programs_that_are_allowed_fill_the_panel() {
    let conclave = with_programs().config(ALLOWED);
    let preview = dry_run(&conclave, &["--json"]);
    let models = preview.json()["by_model"].clone();
    let models = models
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].clone());
    let expected = ["claude-code:opus", "claude-code:sonnet", "codex:gpt-5.5"];
    assert_eq!(models.collect::<Vec<_>>(), expected);
    let text = dry_run(&conclave, &[]).stdout;
    assert!(
        text.contains("Using Claude Code and Codex: no API key is set"),
        "{text}"
    );
}

#[test]
fn programs_of_the_working_folder_are_not_started() {
    for path in [".", ""] {
        let conclave = Conclave::new().variable("PATH", path);
        place(conclave.folder(), "claude", CLAUDE);
        let refused = conclave.run_process(&ONE_CLAUDE).ends_with(2);
        refused.assert_stderr_contains("`claude` is not installed: no folder of `PATH` has it");
    }
    let conclave = Conclave::new();
    place(conclave.folder(), "claude", CLAUDE);
    let folder = conclave.folder().to_owned();
    let conclave = conclave.variable("PATH", folder);
    let refused = conclave.run_process(&ONE_CLAUDE).ends_with(2);
    refused.assert_stderr_contains("`claude` is not installed");
}

#[test]
fn repository_starts_no_program_that_its_user_does_not_ask() {
    let conclave = with_programs();
    fs::create_dir(conclave.folder().join(".git")).unwrap();
    let file = conclave.folder().join(".conclave.toml");
    let set = |text: &str| fs::write(&file, text).unwrap();
    // Allowed, but not on the user's own panel.
    let conclave = conclave.config(
        r#"{"panel": "security=claude-code:opus", "judge": "claude-code:opus",
            "programs": {"own": {"argv": ["/bin/sh"], "allowed": true}}}"#,
    );
    for model in ["codex:gpt-5.5", "command:own"] {
        set(&format!(
            "panel = [\"security={model}\"]\njudge = \"{model}\"\n"
        ));
        let refused = conclave.run(&["consult", "q", "--yes"]).ends_with(2);
        let error = format!(
            "error: .conclave.toml names `{model}`, and your own settings do not ask that provider"
        );
        refused.assert_stderr_contains(&error);
    }
    set("[programs.claude-code]\nallowed = true\n");
    let refused = conclave.run(&["consult", "q"]).ends_with(2);
    refused.assert_stderr_contains("`programs`");
    // What the user asks anyway may be named.
    let conclave = conclave.config(
        r#"{"panel": "security=claude-code:opus", "programs": {"claude-code": {"allowed": true}}}"#,
    );
    set("panel = [\"security=claude-code:sonnet\"]\n");
    dry_run(&conclave, &[]);
    set("panel = [\"security=codex:gpt-5.5\"]\n");
    conclave.run(&["consult", "q"]).ends_with(2);
}

#[test]
fn names_of_programs_are_no_names_of_endpoints() {
    for name in ["codex", "claude-code", "command"] {
        let setting = format!("endpoints.{name}.base_url");
        let refused = Conclave::new().run(&["config", "set", &setting, "http://h"]);
        let refused = refused.ends_with(2);
        refused.assert_stderr_contains("it is reserved for a program");
    }
}

#[test]
fn models_and_doctor_list_the_programs() {
    let conclave = with_programs();
    fs::remove_file(programs(&conclave).join("codex")).unwrap();
    let models = conclave.run(&["models", "--json"]).ends_with(0).json();
    let listed = &models["programs"];
    assert_eq!(
        listed[0]["models"],
        json!([
            "claude-code:sonnet",
            "claude-code:opus",
            "claude-code:haiku"
        ])
    );
    let file = programs(&conclave).join("claude");
    assert_eq!(listed[0]["executable"], json!(file));
    assert_eq!(listed[1]["executable"], json!(null));
    let screen = conclave.run(&["models", "codex"]).ends_with(0).stdout;
    assert!(
        screen.contains("Codex  program, not installed\n"),
        "{screen}"
    );
    let doctor = conclave.run(&["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let check = |id: &str| checks.iter().find(|check| check["id"] == id).unwrap();
    assert_eq!(check("program.claude-code")["subject"], "claude-code");
    assert_eq!(check("programs")["message"], "not installed: codex");
}

#[test]
fn doctor_says_that_a_login_in_a_keyring_keeps_the_home_of_codex() {
    let conclave = with_programs();
    let home = conclave.folder().join("codex");
    fs::create_dir_all(&home).unwrap();
    // With the shell that leads the group of a program.
    let path = format!("{}:/usr/bin:/bin", programs(&conclave).display());
    let conclave = conclave.variable("PATH", path);
    let conclave = conclave.variable("CODEX_HOME", &home);
    let message = || {
        let doctor = conclave.run(&["doctor", "--json"]).json();
        let checks = doctor["checks"].as_array().unwrap();
        let mut checks = checks.iter();
        let check = checks.find(|check| check["id"] == "program.codex").unwrap();
        check["message"].as_str().unwrap().to_owned()
    };
    let in_file = "0.169.0 · logged in (ChatGPT)";
    let in_keyring = " · login in a keyring: runs in your own CODEX_HOME";
    assert_eq!(message(), format!("{in_file}{in_keyring}"));
    fs::write(home.join("auth.json"), "{}").unwrap();
    assert_eq!(message(), in_file);
}
