//! `conclave completions` and `conclave man`: made from the command line itself, complete, and taken by the shells that are there.

use std::process::{Command, Stdio};

use crate::support::binary::{Conclave, Running};

const OPTIONS: [&str; 6] = ["--format", "--panel", "--judge", "--events", "--no-log", "--yes"];

#[test]
fn completions_know_every_command_and_option() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = Conclave::new().run(&["completions", shell]).ends_with(0);
        assert_eq!(ran.stderr, "");
        for word in ["consult", "model", "completions", "man", "pull"].into_iter().chain(OPTIONS) {
            let word = if shell == "fish" { word.trim_start_matches("--") } else { word };
            assert!(ran.stdout.contains(word), "{shell} does not know `{word}`");
        }
    }
}

#[test]
fn bash_takes_its_completions() {
    let script = Conclave::new().run(&["completions", "bash"]).ends_with(0).stdout;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("conclave.bash");
    std::fs::write(&file, script).unwrap();
    let Ok(child) = Command::new("bash").arg("-n").arg(&file).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() else { return };
    assert_eq!(Running::of(child).wait().ends_with(0).stderr, "");
}

#[test]
fn an_unknown_shell_is_refused_with_the_known_ones() {
    let ran = Conclave::new().run(&["completions", "tcsh"]).ends_with(2);
    assert!(ran.stderr.contains("[possible values: bash, elvish, fish, powershell, zsh]"), "{}", ran.stderr);
}

#[test]
fn the_manual_page_has_every_command_option_and_exit_code() {
    let ran = Conclave::new().run(&["man"]).ends_with(0);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.contains(".TH conclave 1"), "{}", ran.stdout);
    for section in ["CONCLAVE CONSULT", "CONCLAVE MODEL", "CONCLAVE COMPLETIONS", "CONCLAVE MAN"] {
        assert!(ran.stdout.contains(&format!(".SH {section}\n")), "{section}: {}", ran.stdout);
    }
    let plain = ran.stdout.replace('\\', "");
    for option in OPTIONS {
        assert!(plain.contains(option), "{option}");
    }
    assert!(plain.contains("130  interrupted"), "{plain}");
}
