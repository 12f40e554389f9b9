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
        "shopt -s nullglob extglob; source $SCRIPT; COMP_WORDS=(\"$@\"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=()
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
            (&commands, &["consult", "models", "completions", "man"][..]),
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
fn every_known_shell_has_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = Conclave::new().run(&["completions", shell]).ends_with(0);
        assert!(script.stdout.contains("CONCLAVE_COMPLETE"), "{shell}");
    }
}

#[test]
fn manual_page_lists_every_command_option_and_exit_code() {
    let output = Conclave::new().run(&["man"]).ends_with(0);
    assert_eq!(output.stderr, "");
    let page = &output.stdout;
    assert!(page.contains(".TH conclave 1"), "{page}");
    for section in [
        "CONCLAVE CONSULT",
        "CONCLAVE MAN",
        "CONCLAVE HISTORY EXPORT",
        "EXIT STATUS",
        "ENVIRONMENT",
        "FILES",
        "EXAMPLES",
    ] {
        let quoted = page.contains(&format!(".SH \"{section}\"\n"));
        let has_section = quoted || page.contains(&format!(".SH {section}\n"));
        assert!(has_section, "{section}: {page}");
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
fn every_shell_completes_ids_with_age_and_question() {
    for (shell, before, after) in [("bash", "  (", ")"), ("zsh", ":", ""), ("fish", "\t", "")] {
        let conclave = Conclave::new();
        save_two(&conclave);
        let without_index = offered(&conclave, shell, &["history", "show", "01kfa"]);
        conclave.run(&["history"]).ends_with(0);
        let with_index = offered(&conclave, shell, &["history", "show", "01kfa"]);
        let resumable = offered(&conclave, shell, &["resume", "01kfa"]);
        let (Some(without_index), Some(with_index)) = (without_index, with_index) else {
            continue;
        };
        let line = |id: &str, help: &str| format!("{id}{before}{help}{after}");
        assert_eq!(
            with_index,
            [
                line(OTHER, "2026-01-06, Other?"),
                line(ONE, "2026-01-05, One: which?")
            ]
        );
        let only = match shell {
            "bash" => OTHER.to_owned(),
            _ => line(OTHER, "2026-01-06, Other?"),
        };
        assert_eq!(resumable.unwrap(), [only], "{shell}: it is inserted");
        assert_eq!(without_index.len(), 2, "{shell}: {without_index:?}");
    }
}

/// Returns what the program answers to a shell that asks to complete the last of these words.
fn completed(conclave: &Conclave, words: &[&str]) -> Vec<String> {
    let child = conclave
        .command()
        .env("CONCLAVE_COMPLETE", "fish")
        .args(["--", "conclave"])
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = RunningProcess::of(child).wait().ends_with(0);
    assert_eq!(output.stderr, "");
    output.stdout.lines().map(ToOwned::to_owned).collect()
}

#[test]
fn each_word_is_completed_by_its_place() {
    let conclave = Conclave::new();
    save_two(&conclave);
    conclave.run(&["history"]).ends_with(0);
    let prefixed = format!("consult-{OTHER}");
    let config = r#"{"panels": {"fast": "security=grok-4.7"},
        "persona_sets": {"web": ["security"]}}"#;
    let conclave = conclave.config(config);
    let options: [&str; 7] = [
        "--round",
        "--agent",
        "--answer",
        "--format",
        "--json",
        "--no-pager",
        "--help",
    ];
    for (words, expected) in [
        (&["history", "show", ""][..], &["last", OTHER, ONE][..]),
        (&["history", "export", "01kfa1"], &[ONE]),
        (&["history", "rejudge", "consult-01KFA2"], &[&*prefixed]),
        (&["history", "rm", ONE, "01kfa2"], &[OTHER]),
        (&["history", "outcome", "--note", "x", "01kfa1"], &[ONE]),
        (
            &["history", "outcome", ONE, ""],
            &["right", "wrong", "mixed"],
        ),
        // Complete consultations are not resumed.
        (&["resume", ""], &["last", OTHER]),
        (&["history", "show", ONE, ""], &options),
        (&["history", "show", "--format", "j"], &["json"]),
        (&["history", "show", "--ro"], &["--round"]),
        (&["history", "show", "x"], &[]),
        (&["hist"], &["history"]),
        (
            &["consult", "--model", "claude-opus-5-"],
            &["claude-opus-5-5"],
        ),
        (
            &["consult", "--judge", "gpt-6.1-sol,grok-4.7"],
            &["gpt-6.1-sol,grok-4.7"],
        ),
        (&["consult", "--model", "xai:grok-4.7"], &["xai:grok-4.7"]),
        (
            &["consult", "--personas", "security,@w"],
            &["security,@web"],
        ),
        (&["consult", "--panel", ""], &["fast"]),
        (
            &["consult", "--panel", "pragmatic=grok-4.7"],
            &["pragmatic=grok-4.7"],
        ),
        (&["models", "pull", "smol"], &["smollm2-135m-instruct"]),
        (&["personas", "show", "skep"], &["skeptic"]),
        (&["config", "set", "judge_"], &["judge_passes"]),
        (&["config", "set", "judge_passes", ""], &["1", "2"]),
        (
            &["config", "set", "on_failure", "s"],
            &["substitute", "skip"],
        ),
        (&["config", "set", "judge", "grok-4.7"], &["grok-4.7"]),
        (&["config", "set", "panels", ""], &["--help"]),
        (&["ask", "--judge-p"], &["--judge-passes"]),
        (&["stats", "--cal"], &["--calibration"]),
        (&["ls", "--sea"], &["--search"]),
    ] {
        let lines = completed(&conclave, words);
        let offered: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.split('\t').next())
            .collect();
        assert_eq!(offered, expected, "{words:?}");
    }
}

#[test]
fn completion_creates_and_repairs_no_index() {
    let conclave = Conclave::new();
    assert_eq!(
        completed(&conclave, &["history", "show", ""]),
        ["last\tthe newest"]
    );
    assert!(!conclave.home().exists());
    save_two(&conclave);
    let database = conclave.home().join("consult-analytics.db");
    std::fs::write(&database, "no database").unwrap();
    assert_eq!(completed(&conclave, &["history", "show", "01kfa1"]), [ONE]);
    assert_eq!(std::fs::read(&database).unwrap(), b"no database");
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
