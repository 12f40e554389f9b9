//! `conclave completions`, what it completes in the installed shells, and `conclave man`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::binary::{Conclave, RunningProcess};
use crate::support::sample_events;
use crate::support::saved::{complete_consultation, consultation_with, log_folder};

const OPTIONS: [&str; 6] = [
    "--format", "--panel", "--judge", "--events", "--no-log", "--yes",
];
const ONE: &str = "01kfa1aaaaaaaaaaaaaaaaaaaa";
const OTHER: &str = "01kfa2bbbbbbbbbbbbbbbbbbbb";

/// Each shell with its flag for running without configuration, and a program that prints the
/// completions of the last of its arguments. Stubs take the place of functions that exist only
/// while a person types.
const SHELLS: [(&str, &str, &str); 3] = [
    (
        "bash",
        "--norc",
        "source $SCRIPT; COMP_WORDS=(\"$@\"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=()
        name=$(complete -p conclave); name=${name#*-F }
        ${name%% *} \"$1\" \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"
        (( ${#COMPREPLY[@]} == 0 )) || printf '%s\\n' \"${COMPREPLY[@]}\"",
    ),
    (
        "zsh",
        "-f",
        "compdef() { completer=$1 }; _describe() { print -rl -- ${(P)3} }; source $SCRIPT
        words=(\"$@\"); CURRENT=$#; $completer",
    ),
    (
        "fish",
        "--no-config",
        "source $SCRIPT; complete -C (string join ' ' -- $argv)",
    ),
];

/// Returns what a shell offers for the last of these words, or `None` if it is not installed.
fn offered(conclave: &Conclave, shell: &str, words: &[&str]) -> Option<Vec<String>> {
    let (_, no_config, program) = SHELLS.into_iter().find(|(name, ..)| *name == shell)?;
    let script = conclave.folder().join(shell);
    std::fs::write(&script, conclave.run(&["completions", shell]).stdout).unwrap();
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
        .current_dir(conclave.folder())
        .env("SCRIPT", script)
        .args([no_config, "-c", program]);
    if shell != "fish" {
        // The name of the program, which is no argument.
        command.arg(shell);
    }
    let child = command
        .arg("conclave")
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let output = RunningProcess::of(child).wait().ends_with(0);
    assert_eq!(output.stderr, "", "{shell}");
    Some(output.stdout.lines().map(ToOwned::to_owned).collect())
}

/// Saves a complete consultation, and later an aborted one.
fn save_two(conclave: &Conclave) {
    complete_consultation(ONE, "2026-01-05T10:00:00Z", "One: which?").save(conclave);
    consultation_with(
        sample_events::aborted(),
        OTHER,
        "2026-01-06T10:00:00Z",
        "Other?",
    )
    .save(conclave);
}

#[test]
fn commands_and_options_are_completed_in_every_shell() {
    let conclave = Conclave::new();
    for (shell, ..) in SHELLS {
        let Some(commands) = offered(&conclave, shell, &[""]) else {
            continue;
        };
        let options = offered(&conclave, shell, &["consult", "--"]).unwrap();
        for (list, expected) in [
            (&commands, &["consult", "model", "completions", "man"][..]),
            (&options, &OPTIONS[..]),
        ] {
            for word in expected {
                let offers = |line: &String| line.split(['\t', ':']).next() == Some(word);
                assert!(
                    list.iter().any(offers),
                    "{shell} does not offer `{word}`: {list:?}"
                );
            }
        }
        assert!(
            commands.iter().all(|line| !line.starts_with('-')),
            "{shell} offers options where a command fits: {commands:?}"
        );
    }
}

#[test]
fn shells_accept_their_completion_scripts() {
    for (shell, ..) in SHELLS {
        let output = Conclave::new().run(&["completions", shell]).ends_with(0);
        assert_eq!(output.stderr, "");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        std::fs::write(&file, output.stdout).unwrap();
        let Ok(child) = Command::new(shell)
            .arg("-n")
            .arg(&file)
            .env("LC_ALL", "C")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
        else {
            continue;
        };
        assert_eq!(RunningProcess::of(child).wait().ends_with(0).stderr, "");
    }
}

#[test]
fn every_known_shell_has_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = Conclave::new().run(&["completions", shell]).ends_with(0);
        assert!(script.stdout.contains("CONCLAVE_COMPLETE"), "{shell}");
    }
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
        "CONCLAVE HISTORY EXPORT",
        "EXIT STATUS",
        "ENVIRONMENT",
        "FILES",
        "EXAMPLES",
    ] {
        assert!(
            output.stdout.contains(&format!(".SH {section}\n"))
                || output.stdout.contains(&format!(".SH \"{section}\"\n")),
            "{section}: {}",
            output.stdout
        );
    }
    let plain = output.stdout.replace('\\', "");
    for option in OPTIONS {
        assert!(plain.contains(option), "{option}");
    }
    for (term, explanation) in [
        ("130", "interrupted\n"),
        ("CONCLAVE_HOME", "The folder of settings"),
        ("OPENAI_API_KEY", "An API key"),
        ("config.json", "The settings"),
        ("conclave resume", "Resume the newest"),
    ] {
        let entry = format!(".TP\nfB{term}fR\n{explanation}");
        assert!(plain.contains(&entry), "{entry}");
    }
}

#[test]
fn bash_completes_consultation_ids() {
    let conclave = Conclave::new();
    save_two(&conclave);
    let Some(all) = offered(&conclave, "bash", &["history", "show", ""]) else {
        return;
    };
    assert_eq!(
        all,
        ["last", OTHER, ONE],
        "the folder is read without an index"
    );
    conclave.run(&["history"]).ends_with(0);
    let offered = |words: &[&str]| offered(&conclave, "bash", words).unwrap();
    for command in [
        &["history", "show"],
        &["history", "export"],
        &["history", "rm"],
        &["history", "outcome"],
        &["history", "rejudge"],
    ] {
        assert_eq!(
            offered(&[command, &["01kfa1"] as &[&str]].concat()),
            [ONE],
            "{command:?}"
        );
        assert_eq!(
            offered(&[command, &["consult-01kfa2"] as &[&str]].concat()),
            [format!("consult-{OTHER}")],
            "{command:?}"
        );
    }
    assert_eq!(
        offered(&["resume", ""]),
        ["last", OTHER],
        "complete consultations are not offered"
    );
    assert_eq!(offered(&["history", "rm", ONE, "01kfa2"]), [OTHER]);
    assert_eq!(
        offered(&["history", "outcome", ONE, ""]),
        ["right", "wrong", "mixed"]
    );
    assert_eq!(
        offered(&["history", "outcome", "--note", "x", "01kfa1"]),
        [ONE]
    );
    assert_eq!(
        offered(&["history", "show", ONE, ""]),
        [
            "--round",
            "--agent",
            "--format",
            "--json",
            "--no-pager",
            "--help"
        ]
    );
    assert_eq!(offered(&["history", "show", "--format", "j"]), ["json"]);
    assert_eq!(offered(&["history", "show", "--ro"]), ["--round"]);
    assert_eq!(offered(&["hist"]), ["history"]);
    assert_eq!(offered(&["ask", "--judge-p"]), ["--judge-passes"]);
    assert_eq!(offered(&["stats", "--cal"]), ["--calibration"]);
    assert_eq!(offered(&["ls", "--sea"]), ["--search"]);
}

#[test]
fn zsh_and_fish_complete_ids_with_their_questions() {
    let conclave = Conclave::new();
    save_two(&conclave);
    conclave.run(&["history"]).ends_with(0);
    for (shell, other, one) in [
        (
            "zsh",
            format!("{OTHER}:Other?"),
            format!("{ONE}:One: which?"),
        ),
        (
            "fish",
            format!("{OTHER}\tOther?"),
            format!("{ONE}\tOne: which?"),
        ),
    ] {
        let Some(shown) = offered(&conclave, shell, &["history", "show", "01kfa"]) else {
            continue;
        };
        assert_eq!(shown, [other.clone(), one]);
        let resumable = offered(&conclave, shell, &["resume", "01kfa"]).unwrap();
        assert_eq!(resumable, [other]);
    }
}

#[test]
fn completion_runs_nothing_that_a_record_names() {
    let conclave = Conclave::new();
    let question = "$(touch PWNED) `touch PWNED` '\"; touch PWNED";
    let files = complete_consultation(ONE, "2026-01-05T10:00:00Z", question).save(&conclave);
    let record = std::fs::read_to_string(files.record).unwrap();
    let names = [
        "$(touch PWNED)",
        "`touch PWNED`",
        "'\";touch PWNED",
        "\n$(touch PWNED)",
        "a*",
    ];
    for (number, name) in names.into_iter().enumerate() {
        let id = format!("consult-{name}");
        let mut record: serde_json::Value = serde_json::from_str(&record).unwrap();
        record["consultation_id"] = id.clone().into();
        for stem in [id, format!("consult-01bad{number}")] {
            let file = log_folder(&conclave).join(format!("{stem}.json"));
            std::fs::write(file, record.to_string()).unwrap();
        }
    }
    let assert_safe = |state: &str| {
        for (shell, ..) in SHELLS {
            for typed in ["", "consult-", "$"] {
                let Some(shown) = offered(&conclave, shell, &["history", "show", typed]) else {
                    continue;
                };
                // Its question is shown beside it.
                let is_valid = |line: &String| line.contains("01kfa1");
                assert!(
                    shown
                        .iter()
                        .all(|line| is_valid(line) || !line.contains("touch")),
                    "{shell}, {state}, `{typed}`: {shown:?}"
                );
            }
        }
        let written = conclave.folder().join("PWNED");
        assert!(!written.exists(), "{state}");
    };
    assert_safe("without an index");
    conclave.run(&["history"]).ends_with(0);
    assert_safe("with an index");
    let index = rusqlite::Connection::open(conclave.home().join("consult-analytics.db")).unwrap();
    let changed = index.execute("UPDATE consultations SET id = 'consult-$(touch PWNED)'", []);
    assert_eq!(changed, Ok(1));
    assert_safe("with a changed index");
}

#[test]
fn files_are_completed_where_no_id_begins_like_them() {
    let conclave = Conclave::new();
    save_two(&conclave);
    let file = conclave.folder().join("saved.json");
    std::fs::write(&file, "{}").unwrap();
    let file = file.to_str().unwrap();
    for (shell, ..) in SHELLS {
        let typed = file.strip_suffix(".json").unwrap();
        if let Some(shown) = offered(&conclave, shell, &["history", "show", typed]) {
            assert_eq!(shown, [file], "{shell}");
        }
    }
}
