//! Completion of ids: additions to the generated scripts that ask the program for them (`conclave
//! history ids`).
//!
//! The definition of the command line shows which commands take an id: those with an argument `id`
//! or `ids`.

use std::fmt::Write;

use clap::{Arg, Command};
use clap_complete::Shell;

/// Returns the script with completion of ids; unchanged for other shells.
pub(super) fn complete(shell: Shell, script: &str, command: &Command) -> String {
    let mut commands = Vec::new();
    find(command, &[], &mut commands);
    match shell {
        Shell::Bash => bash(script, &commands),
        Shell::Zsh => zsh(script, &commands),
        Shell::Fish => fish(script, &commands),
        // `Shell` is an open list; for the others there is no completion of ids.
        _ => script.to_owned(),
    }
}

/// A command that takes an id.
struct IdCommand {
    /// Its words after the program's name.
    path: Vec<String>,
    /// It takes several.
    many: bool,
    /// The values of the argument after the id.
    then: Vec<String>,
    /// Its options with a value: the word after one is no id.
    valued: Vec<String>,
}

fn find(command: &Command, above: &[String], commands: &mut Vec<IdCommand>) {
    let positionals: Vec<&Arg> = command.get_positionals().collect();
    if let Some((id, rest)) = positionals.split_first()
        && matches!(id.get_id().as_str(), "id" | "ids")
    {
        let behind = rest
            .iter()
            .flat_map(|arg| arg.get_possible_values())
            .map(|value| value.get_name().to_owned());
        let valued = command.get_opts().flat_map(|option| {
            let long = option.get_long().map(|name| format!("--{name}"));
            let short = option.get_short().map(|name| format!("-{name}"));
            long.into_iter().chain(short)
        });
        commands.push(IdCommand {
            path: above.to_vec(),
            many: id.get_id() == "ids",
            then: behind.collect(),
            valued: valued.collect(),
        });
    }
    for subcommand in command.get_subcommands() {
        find(
            subcommand,
            &[above, &[subcommand.get_name().to_owned()]].concat(),
            commands,
        );
    }
}

impl IdCommand {
    /// Returns the command that lists the ids. `resume` takes only consultations without an answer.
    fn request(&self) -> &'static str {
        if self.path == ["resume"] {
            "history ids --unanswered"
        } else {
            "history ids"
        }
    }
}

/// Adds a function that completes ids and calls the generated one for everything else.
fn bash(script: &str, commands: &[IdCommand]) -> String {
    let case = |command: &IdCommand| {
        let IdCommand {
            path,
            many,
            then,
            valued,
        } = command;
        let (words, at, many) = (
            path.join(" "),
            path.len() + 1,
            if *many { "yes" } else { "" },
        );
        let (valued, then, request) = (valued.join(" "), then.join(" "), command.request());
        format!(
            "        \"{words} \"*) at={at} many=\"{many}\" valued=\" {valued} \" then=\"{then}\" \
             request=\"{request}\" ;;\n"
        )
    };
    let cases: String = commands.iter().map(case).collect();
    let overlay = include_str!("ids.bash").replace("        # CASES\n", &cases);
    format!(
        "{}\n{overlay}",
        script.replace("complete -F _conclave ", "complete -F _conclave_with_ids ")
    )
}

/// Replaces the default action of id arguments with a function of their own.
fn zsh(script: &str, commands: &[IdCommand]) -> String {
    let starts = |line: &str| {
        ["'::id -- ", "':id -- ", "'*::ids -- ", "'*:ids -- "]
            .iter()
            .any(|start| line.trim_start().starts_with(start))
    };
    let mut within_resume = false;
    let lines = script.lines().map(|line| {
        // Only the outermost cases have names in brackets, and `resume` is one of them.
        if line.starts_with('(') && line.ends_with(')') {
            within_resume = line == "(resume)";
        }
        let action = if within_resume {
            ":_conclave_unanswered_ids'"
        } else {
            ":_conclave_ids'"
        };
        if !commands.is_empty() && starts(line) {
            line.replace(":_default'", action)
        } else {
            line.to_owned()
        }
    });
    let script = lines.collect::<Vec<_>>().join("\n");
    // The first line names the command to the shell.
    match script.split_once('\n') {
        Some((first, rest)) => format!("{first}\n\n{}{rest}\n", include_str!("ids.zsh")),
        None => script,
    }
}

fn fish(script: &str, commands: &[IdCommand]) -> String {
    let mut script = script.to_owned();
    for command in commands {
        let condition = match command.path.as_slice() {
            [only] => format!("__fish_conclave_using_subcommand {only}"),
            [above @ .., last] => format!(
                "__fish_conclave_using_subcommand {}; and __fish_seen_subcommand_from {last}",
                above.join(" ")
            ),
            [] => continue,
        };
        let request = command.request();
        let asked = format!("(conclave {request} (commandline -ct) 2>/dev/null)");
        let _ = writeln!(
            script,
            "complete -c conclave -n \"{condition}\" -f -k -a '{asked}'"
        );
        if !command.then.is_empty() {
            let _ = writeln!(
                script,
                "complete -c conclave -n \"{condition}\" -f -a '{}'",
                command.then.join(" ")
            );
        }
    }
    script
}
