//! `conclave completions` and `conclave man`: generated from the command line, complete, and
//! accepted by the installed shells.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::binary::{Conclave, RunningProcess};
use crate::support::sample_events;
use crate::support::saved::{complete_consultation, consultation_with};

const OPTIONS: [&str; 6] = [
    "--format", "--panel", "--judge", "--events", "--no-log", "--yes",
];

#[test]
fn completions_contain_every_command_and_option() {
    for shell in ["bash", "zsh", "fish"] {
        let output = Conclave::new().run(&["completions", shell]).ends_with(0);
        assert_eq!(output.stderr, "");
        for word in ["consult", "model", "completions", "man", "pull"]
            .into_iter()
            .chain(OPTIONS)
        {
            let word = if shell == "fish" {
                word.trim_start_matches("--")
            } else {
                word
            };
            assert!(
                output.stdout.contains(word),
                "{shell} does not know `{word}`"
            );
        }
    }
}

#[test]
fn bash_accepts_its_completion_script() {
    let script = Conclave::new()
        .run(&["completions", "bash"])
        .ends_with(0)
        .stdout;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("conclave.bash");
    std::fs::write(&file, script).unwrap();
    let Ok(child) = Command::new("bash")
        .arg("-n")
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
    else {
        return;
    };
    assert_eq!(RunningProcess::of(child).wait().ends_with(0).stderr, "");
}

#[test]
fn unknown_shells_are_rejected_with_a_list() {
    let output = Conclave::new().run(&["completions", "tcsh"]).ends_with(2);
    assert!(
        output
            .stderr
            .contains("[possible values: bash, elvish, fish, powershell, zsh]"),
        "{}",
        output.stderr
    );
}

#[test]
fn manual_page_lists_every_command_option_and_exit_code() {
    let output = Conclave::new().run(&["man"]).ends_with(0);
    assert_eq!(output.stderr, "");
    assert!(
        output.stdout.contains(".TH conclave 1"),
        "{}",
        output.stdout
    );
    for section in [
        "CONCLAVE CONSULT",
        "CONCLAVE MODEL",
        "CONCLAVE COMPLETIONS",
        "CONCLAVE MAN",
    ] {
        assert!(
            output.stdout.contains(&format!(".SH {section}\n")),
            "{section}: {}",
            output.stdout
        );
    }
    let plain = output.stdout.replace('\\', "");
    for option in OPTIONS {
        assert!(plain.contains(option), "{option}");
    }
    assert!(plain.contains("130  interrupted"), "{plain}");
}

/// Returns bash's completions for the last of these words, or `None` without a bash.
fn bash_completions(conclave: &Conclave, words: &[&str]) -> Option<Vec<String>> {
    let script = conclave.folder().join("conclave.bash");
    std::fs::write(
        &script,
        conclave.run(&["completions", "bash"]).ends_with(0).stdout,
    )
    .unwrap();
    // The arguments that the shell passes: the command, the word to complete and the word before
    // it.
    let program = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=()
        name=$(complete -p conclave); name=${name#*-F }; ${name%% *} \"$1\" \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"
        (( ${#COMPREPLY[@]} == 0 )) || printf '%s\\n' \"${COMPREPLY[@]}\"";
    let binary = conclave.command().get_program().to_owned();
    let mut command = Command::new("bash");
    command
        .env_clear()
        .envs(conclave.variables())
        .args(["--norc", "-c", program, "bash"])
        .arg(&script)
        .arg(binary)
        .args(words);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let output = RunningProcess::of(child).wait().ends_with(0);
    assert_eq!(output.stderr, "");
    Some(output.stdout.lines().map(ToOwned::to_owned).collect())
}

#[test]
fn bash_completes_consultation_ids() {
    let conclave = Conclave::new();
    let (one, other) = ("01kfa1aaaaaaaaaaaaaaaaaaaa", "01kfa2bbbbbbbbbbbbbbbbbbbb");
    complete_consultation(one, "2026-01-05T10:00:00Z", "One?").save(&conclave);
    consultation_with(
        sample_events::aborted(),
        other,
        "2026-01-06T10:00:00Z",
        "Other?",
    )
    .save(&conclave);
    let Some(all) = bash_completions(&conclave, &["history", "show", ""]) else {
        return;
    };
    assert_eq!(
        all,
        ["last", other, one],
        "the folder is read without an index"
    );
    conclave.run(&["history"]).ends_with(0);
    let offered = |words: &[&str]| bash_completions(&conclave, words).unwrap();
    for command in [
        &["history", "show"],
        &["history", "export"],
        &["history", "rm"],
        &["history", "outcome"],
    ] {
        assert_eq!(
            offered(&[command, &["01kfa1"] as &[&str]].concat()),
            [one],
            "{command:?}"
        );
        assert_eq!(
            offered(&[command, &["consult-01kfa2"] as &[&str]].concat()),
            [format!("consult-{other}")],
            "{command:?}"
        );
    }
    assert_eq!(
        offered(&["resume", ""]),
        ["last", other],
        "complete consultations are not offered"
    );
    assert_eq!(offered(&["history", "rm", one, "01kfa2"]), [other]);
    assert_eq!(
        offered(&["history", "outcome", one, ""]),
        ["right", "wrong", "mixed"]
    );
    assert_eq!(
        offered(&["history", "outcome", "--note", "x", "01kfa1"]),
        [one]
    );
    assert_eq!(offered(&["history", "show", one, ""]), [""; 0]);
    assert_eq!(offered(&["history", "show", "--format", "j"]), ["json"]);
    assert_eq!(offered(&["history", "show", "--ro"]), ["--round"]);
    assert_eq!(offered(&["hist"]), ["history"]);
    assert_eq!(
        offered(&["history", "i"]),
        [""; 0],
        "the hidden command is not offered"
    );
}

#[test]
fn zsh_and_fish_accept_their_completion_scripts() {
    for (shell, asks) in [("zsh", 4), ("fish", 5)] {
        let script = Conclave::new()
            .run(&["completions", shell])
            .ends_with(0)
            .stdout;
        let places = script
            .lines()
            .filter(|line| line.contains("history ids") || line.contains(":_conclave_ids'"))
            .count();
        assert!(places >= asks, "{shell}: {places}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        std::fs::write(&file, script).unwrap();
        let Ok(child) = Command::new(shell)
            .arg("-n")
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
        else {
            continue;
        };
        assert_eq!(RunningProcess::of(child).wait().ends_with(0).stderr, "");
    }
}

/// Returns what a shell program prints that can source the completion script and has `conclave` on
/// its path; `None` if the shell is not installed.
fn shell_output(
    conclave: &Conclave,
    shell: &str,
    no_config: &str,
    program: &str,
) -> Option<Vec<String>> {
    let script = conclave.folder().join(shell);
    std::fs::write(
        &script,
        conclave.run(&["completions", shell]).ends_with(0).stdout,
    )
    .unwrap();
    let binaries = Path::new(conclave.command().get_program())
        .parent()
        .unwrap()
        .to_owned();
    let path = std::env::join_paths(
        [binaries]
            .into_iter()
            .chain(std::env::split_paths(&conclave.variables()["PATH"])),
    )
    .unwrap();
    let mut command = Command::new(shell);
    command
        .env_clear()
        .envs(conclave.variables())
        .env("PATH", path)
        .env("SCRIPT", script)
        .args([no_config, "-c", program]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let output = RunningProcess::of(child).wait().ends_with(0);
    assert_eq!(output.stderr, "");
    Some(output.stdout.lines().map(ToOwned::to_owned).collect())
}

#[test]
fn zsh_and_fish_complete_consultation_ids() {
    let conclave = Conclave::new();
    let (one, other) = ("01kfa1aaaaaaaaaaaaaaaaaaaa", "01kfa2bbbbbbbbbbbbbbbbbbbb");
    complete_consultation(one, "2026-01-05T10:00:00Z", "One?").save(&conclave);
    consultation_with(
        sample_events::aborted(),
        other,
        "2026-01-06T10:00:00Z",
        "Other?",
    )
    .save(&conclave);
    conclave.run(&["history"]).ends_with(0);
    // Stubs for functions that exist only in an interactive shell. An action receives arguments of
    // its caller.
    let zsh = "compdef() { }; _describe() { print -rl -- ${(P)3} }; source $SCRIPT
        PREFIX=01kfa; _conclave_ids -J -default-; _conclave_unanswered_ids -J -default-";
    if let Some(offered) = shell_output(&conclave, "zsh", "-f", zsh) {
        assert_eq!(
            offered,
            [
                format!("{other}:Other?"),
                format!("{one}:One?"),
                format!("{other}:Other?")
            ]
        );
    }
    let fish = "source $SCRIPT; complete -C 'conclave history show 01kfa'; complete -C 'conclave resume 01kfa'";
    if let Some(offered) = shell_output(&conclave, "fish", "--no-config", fish) {
        assert_eq!(
            offered,
            [
                format!("{other}\tOther?"),
                format!("{one}\tOne?"),
                format!("{other}\tOther?")
            ]
        );
    }
}
