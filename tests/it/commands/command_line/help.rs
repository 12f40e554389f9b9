//! One snapshot of every `--help`, so that changes to the command line are visible.

use crate::support::binary::Conclave;

const COMMANDS: [&[&str]; 54] = [
    &[],
    &["consult"],
    &["resume"],
    &["consult-stats"],
    &["history"],
    &["history", "list"],
    &["history", "show"],
    &["history", "export"],
    &["history", "rm"],
    &["history", "outcome"],
    &["history", "rejudge"],
    &["ls"],
    &["view"],
    &["refine"],
    &["refine", "check"],
    &["benchmark"],
    &["benchmark", "resume"],
    &["benchmark", "report"],
    &["benchmark", "list"],
    &["benchmark", "merge"],
    &["benchmark", "replay"],
    &["exit-check"],
    &["exit-check", "state"],
    &["exit-check", "history"],
    &["exit-check", "reset"],
    &["mcp"],
    &["circuit"],
    &["circuit", "status"],
    &["circuit", "record"],
    &["circuit", "reset"],
    &["doctor"],
    &["models"],
    &["models", "pull"],
    &["models", "list"],
    &["models", "rm"],
    &["models", "path"],
    &["personas"],
    &["personas", "show"],
    &["scrub"],
    &["config"],
    &["config", "path"],
    &["config", "show"],
    &["config", "get"],
    &["config", "set"],
    &["config", "edit"],
    &["config", "unset"],
    &["setup"],
    &["login"],
    &["login", "chatgpt"],
    &["login", "status"],
    &["logout"],
    &["completions"],
    &["man"],
    &["version"],
];

/// Returns the names below `Commands:` in a help, or below the groups of the whole, without `help`
/// itself.
fn listed_commands(help: &str) -> impl Iterator<Item = &str> {
    let list = help.split_once("Commands:\n").or(help.split_once("Ask:\n"));
    let (_, list) = list.unwrap_or_default();
    let (list, _) = list.split_once("\nOptions:\n").unwrap_or((list, ""));
    let (list, _) = list.split_once("\nArguments:\n").unwrap_or((list, ""));
    // The description of a command may continue on a second line.
    let is_first = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = list
        .lines()
        .filter(is_first)
        .filter_map(|line| line.split_whitespace().next());
    names
        .map(|name| name.trim_end_matches(','))
        .filter(|name| *name != "help")
}

#[test]
fn every_help_matches_the_snapshot() {
    let conclave = Conclave::new();
    let mut all = String::new();
    for command in COMMANDS {
        let output = conclave.run(&[command, &["--help"]].concat()).ends_with(0);
        assert_eq!(output.stderr, "", "{command:?}");
        for name in listed_commands(&output.stdout) {
            let path = [command, &[name]].concat();
            assert!(COMMANDS.contains(&path.as_slice()), "{path:?}");
        }
        let command_line = [&["conclave"], command, &["--help"]].concat().join(" ");
        all.extend(["$ ", &command_line, "\n", &output.stdout, "\n"]);
    }
    insta::assert_snapshot!(all);
}

#[test]
fn help_on_help_is_the_help() {
    let conclave = Conclave::new();
    let help = conclave.run(&["--help"]).ends_with(0).stdout;
    for arguments in [&["help", "--help"], &["help", "-h"]] {
        assert_eq!(conclave.run(arguments).ends_with(0).stdout, help);
    }
    let of_history = conclave.run(&["history", "--help"]).ends_with(0).stdout;
    for arguments in [
        &["help", "history", "--help"],
        &["history", "help", "--help"],
    ] {
        assert_eq!(conclave.run(arguments).ends_with(0).stdout, of_history);
    }
}

#[test]
fn version_is_the_package_version() {
    for flag in ["-V", "--version", "version"] {
        let output = Conclave::new().run(&[flag]).ends_with(0);
        assert_eq!(
            output.stdout,
            concat!("conclave ", env!("CARGO_PKG_VERSION"), "\n")
        );
    }
}

#[test]
fn short_help_of_paid_commands_has_a_dozen_options() {
    let conclave = Conclave::new();
    for command in ["consult", "benchmark", "refine"] {
        let options = |flag: &str| {
            let help = conclave.run(&[command, flag]).ends_with(0).stdout;
            let lines = help.lines().map(str::trim_start);
            lines.filter(|line| line.starts_with('-')).count()
        };
        assert_eq!(options("-h"), 13, "{command}: and the help itself");
        assert!(options("--help") > 30, "{command}");
    }
}

#[test]
fn help_lists_the_commands_in_groups_with_three_examples() {
    let help = Conclave::new().run(&["--help"]).ends_with(0).stdout;
    let titles = help
        .lines()
        .filter(|line| line.ends_with(':') && !line.starts_with(' '));
    let titles: Vec<&str> = titles
        .filter(|title| !title.contains(' ') || title.len() < 20)
        .collect();
    let groups = [
        "Ask:",
        "Look back:",
        "Measure:",
        "Work with agents:",
        "Set up:",
        "Options:",
        "Examples:",
    ];
    assert_eq!(titles, groups, "{help}");
    assert_eq!(help.matches("\n  conclave ").count(), 3, "{help}");
    assert!(!help.contains("130"), "{help}");
}
