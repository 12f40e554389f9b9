//! What is laid over the generated scripts, so that a shell asks the program for ids (`conclave
//! history ids`) where a command takes one.
//!
//! Which commands do is found in the command line's definition: those with an argument called `id`
//! or `ids`.

use std::fmt::Write;

use clap::{Arg, Command};
use clap_complete::Shell;

/// The script of a shell with ids; of a shell for which there is nothing, as it is.
pub(super) fn complete(shell: Shell, script: &str, command: &Command) -> String {
    let mut takers = Vec::new();
    find(command, &[], &mut takers);
    match shell {
        Shell::Bash => bash(script, &takers),
        Shell::Zsh => zsh(script, &takers),
        Shell::Fish => fish(script, &takers),
        // Theirs is an open list; there is none yet in which ids are completed.
        _ => script.to_owned(),
    }
}

/// A command that takes an id.
struct Taker {
    /// Its words behind the program's name.
    path: Vec<String>,
    /// It takes several.
    many: bool,
    /// What can be said behind the id.
    then: Vec<String>,
    /// Its options with a value: the word behind one is no id.
    valued: Vec<String>,
}

fn find(command: &Command, above: &[String], takers: &mut Vec<Taker>) {
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
        takers.push(Taker {
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
            takers,
        );
    }
}

impl Taker {
    /// What is asked for: who goes on with a consultation wants one without an answer.
    fn request(&self) -> &'static str {
        if self.path == ["resume"] {
            "history ids --unanswered"
        } else {
            "history ids"
        }
    }
}

/// The generated function does the rest: this one calls it, and stands in its place.
fn bash(script: &str, takers: &[Taker]) -> String {
    let case = |taker: &Taker| {
        let Taker {
            path,
            many,
            then,
            valued,
        } = taker;
        let (words, at, many) = (
            path.join(" "),
            path.len() + 1,
            if *many { "yes" } else { "" },
        );
        let (valued, then, request) = (valued.join(" "), then.join(" "), taker.request());
        format!(
            "        \"{words} \"*) at={at} many=\"{many}\" valued=\" {valued} \" then=\"{then}\" request=\"{request}\" ;;\n"
        )
    };
    let cases: String = takers.iter().map(case).collect();
    let overlay = include_str!("ids.bash").replace("        # CASES\n", &cases);
    format!(
        "{}\n{overlay}",
        script.replace("complete -F _conclave ", "complete -F _conclave_with_ids ")
    )
}

/// Arguments for which nothing is known get a function of their own.
fn zsh(script: &str, takers: &[Taker]) -> String {
    let starts = |line: &str| {
        ["'::id -- ", "':id -- ", "'*::ids -- ", "'*:ids -- "]
            .iter()
            .any(|start| line.trim_start().starts_with(start))
    };
    let mut within_resume = false;
    let lines = script.lines().map(|line| {
        // Only the outermost cases have names in brackets; `resume` is among these.
        if line.starts_with('(') && line.ends_with(')') {
            within_resume = line == "(resume)";
        }
        let action = if within_resume {
            ":_conclave_unanswered_ids'"
        } else {
            ":_conclave_ids'"
        };
        if !takers.is_empty() && starts(line) {
            line.replace(":_default'", action)
        } else {
            line.to_owned()
        }
    });
    let script = lines.collect::<Vec<_>>().join("\n");
    // Behind the first line, which names the command to the shell.
    match script.split_once('\n') {
        Some((first, rest)) => format!("{first}\n\n{}{rest}\n", include_str!("ids.zsh")),
        None => script,
    }
}

fn fish(script: &str, takers: &[Taker]) -> String {
    let mut script = script.to_owned();
    for taker in takers {
        let condition = match taker.path.as_slice() {
            [only] => format!("__fish_conclave_using_subcommand {only}"),
            [above @ .., last] => format!(
                "__fish_conclave_using_subcommand {}; and __fish_seen_subcommand_from {last}",
                above.join(" ")
            ),
            [] => continue,
        };
        let request = taker.request();
        let asked = format!("(conclave {request} (commandline -ct) 2>/dev/null)");
        let _ = writeln!(
            script,
            "complete -c conclave -n \"{condition}\" -f -k -a '{asked}'"
        );
        if !taker.then.is_empty() {
            let _ = writeln!(
                script,
                "complete -c conclave -n \"{condition}\" -f -a '{}'",
                taker.then.join(" ")
            );
        }
    }
    script
}
