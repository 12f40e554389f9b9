//! One snapshot of every `--help`, so that changes to the command line are visible.

use crate::support::binary::Conclave;

const COMMANDS: [&[&str]; 49] = [
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
    &["circuit"],
    &["circuit", "status"],
    &["circuit", "record"],
    &["circuit", "reset"],
    &["doctor"],
    &["models"],
    &["model"],
    &["model", "pull"],
    &["model", "list"],
    &["model", "rm"],
    &["model", "path"],
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
    &["completions"],
    &["man"],
    &["version"],
];

/// Returns the names below `Commands:` in a help, without `help` itself.
fn listed_commands(help: &str) -> impl Iterator<Item = &str> {
    let list = help.split_once("Commands:\n").map_or("", |(_, list)| list);
    // The description of a command may continue on a second line.
    let is_first = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines
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
