//! The words of the command line before clap reads them, and the suggestions in its errors: a
//! question may stand without its command, and a wrong word gets the nearest right one.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use super::Cli;
use super::help::in_groups;
use crate::domain::names::likely;
use crate::terminal::output::printer::Verbosity;

/// Flags of the program itself; all others belong to commands.
const OWN_FLAGS: [&str; 4] = ["-h", "--help", "-V", "--version"];

/// The program's name comes first.
pub(super) fn parse(
    words: impl IntoIterator<Item = OsString>,
) -> clap::error::Result<(Cli, Verbosity)> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let mut command = Cli::command();
    let may_ask_help = |word: &OsString| word == "-h" || word == "--help" || word == "help";
    if words.get(1).is_none_or(may_ask_help) {
        command = in_groups(command);
    }
    if is_question_alone(&command, &words) {
        words.insert(1, "consult".into());
    }
    words = words
        .into_iter()
        .flat_map(|word| parted(&command, word))
        .collect();
    // One command for all: to build it takes as long as to parse the words.
    let mut parsed = command.try_get_matches_from_mut(&words);
    if parsed.as_ref().is_err_and(asks_for_help_on_help) {
        words.retain(|word| word != "--help" && word != "-h");
        parsed = command.try_get_matches_from_mut(&words);
    }
    let cli = parsed.and_then(|mut matches| {
        let verbosity = verbosity(&matches);
        Ok((Cli::from_arg_matches_mut(&mut matches)?, verbosity))
    });
    cli.map_err(|error| with_suggestion(error, command, &words))
}

fn verbosity(matches: &ArgMatches) -> Verbosity {
    let is_set = |flag| {
        matches
            .try_get_one(flag)
            .is_ok_and(|set| set == Some(&true))
    };
    match matches.subcommand() {
        _ if is_set("quiet") => Verbosity::Quiet,
        _ if is_set("verbose") => Verbosity::Verbose,
        Some((_, matches)) => verbosity(matches),
        None => Verbosity::Normal,
    }
}

/// Returns whether the words are a question without the command `consult`: the first has white
/// space or a question mark and names no command, or is a flag of `consult` and such a question
/// follows.
fn is_question_alone(command: &Command, words: &[OsString]) -> bool {
    let is_command = |word: &str| word == "help" || command.find_subcommand(word).is_some();
    let mut words = words.iter().skip(1).map_while(|word| word.to_str());
    match words.next() {
        Some(flag) if flag.starts_with('-') => {
            let rest: Vec<&str> = words.collect();
            !OWN_FLAGS.contains(&flag)
                && rest.iter().any(|word| is_question(word))
                && !rest.iter().any(|word| is_command(word))
        }
        Some(word) => is_question(word) && !is_command(word),
        None => false,
    }
}

fn is_question(word: &str) -> bool {
    word.contains(|c: char| c.is_whitespace() || c == '?')
}

/// Parts `--resume=RUN`, where the flag is a command: clap would drop the value.
fn parted(command: &Command, word: OsString) -> Vec<OsString> {
    let parts = word.to_str().and_then(|word| {
        let (flag, value) = word.strip_prefix("--")?.split_once('=')?;
        let commands = command.get_subcommands().flat_map(Command::get_subcommands);
        let mut flags = commands.filter_map(Command::get_long_flag);
        let parts = vec![format!("--{flag}").into(), value.into()];
        flags.any(|known| known == flag).then_some(parts)
    });
    parts.unwrap_or_else(|| vec![word])
}

/// Returns whether the help command was asked for its own help, which clap takes for a command.
fn asks_for_help_on_help(error: &clap::Error) -> bool {
    let wrong = error.get(ContextKind::InvalidSubcommand);
    let wrong = wrong.map(ToString::to_string);
    matches!(wrong.as_deref(), Some("--help" | "-h"))
}

/// Words that begin with no command may be a question.
fn with_suggestion(
    mut error: clap::Error,
    mut command: Command,
    words: &[OsString],
) -> clap::Error {
    let (wrong, suggestion) = match error.kind() {
        ErrorKind::InvalidSubcommand => (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        _ => return error,
    };
    let Some(wrong) = error.get(wrong).map(ToString::to_string) else {
        return error;
    };
    command.build();
    let mut addressed = addressed(&command, words);
    error.remove(suggestion);
    error.insert(
        ContextKind::Usage,
        ContextValue::StyledStr(addressed.render_usage()),
    );
    let near = if suggestion == ContextKind::SuggestedArg {
        nearest_flag(&addressed, &wrong).map(ContextValue::String)
    } else {
        nearest_command(&addressed, &wrong).map(|near| ContextValue::Strings(vec![near]))
    };
    let is_top_level = suggestion == ContextKind::SuggestedSubcommand
        && addressed.get_name() == command.get_name();
    let has_it = |parent: &&Command| is_top_level && parent.find_subcommand(&wrong).is_some();
    let said = words.iter().skip(1).map(|word| word.to_string_lossy());
    let said = said.collect::<Vec<_>>().join(" ");
    let tip = match command.get_subcommands().find(has_it) {
        Some(parent) => Some(format!("it is 'conclave {} {said}'", parent.get_name())),
        None if !is_top_level || near.is_some() && words.len() < 4 => None,
        None => Some(format!("ask it with 'conclave consult {said}'")),
    };
    match (near, tip) {
        (_, Some(tip)) => {
            let tips = vec![StyledStr::from(tip)];
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
        (Some(near), None) => {
            error.remove(ContextKind::Suggested);
            error.insert(suggestion, near);
        }
        (None, None) => {}
    }
    error
}

fn addressed(command: &Command, words: &[OsString]) -> Command {
    let mut addressed = command;
    for word in words.iter().skip(1) {
        let flag = word.to_str().and_then(|word| word.strip_prefix("--"));
        let is_called = |command: &&Command| flag.is_some() && command.get_long_flag() == flag;
        let by_flag = addressed.get_subcommands().find(is_called);
        match addressed.find_subcommand(word).or(by_flag) {
            Some(found) => addressed = found,
            None if word.to_string_lossy().starts_with('-') => {}
            None => break,
        }
    }
    addressed.clone()
}

fn nearest_command(command: &Command, wrong: &str) -> Option<String> {
    let visible = command
        .get_subcommands()
        .filter(|found| !found.is_hide_set());
    let names = visible.flat_map(Command::get_name_and_visible_aliases);
    likely(wrong, names).map(ToOwned::to_owned)
}

fn nearest_flag(command: &Command, wrong: &str) -> Option<String> {
    let wrong = wrong.strip_prefix("--")?;
    let visible = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let names = visible.filter_map(clap::Arg::get_long);
    likely(wrong, names).map(|near| format!("--{near}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_question(words: &[&str]) -> bool {
        let words: Vec<OsString> = ["conclave"]
            .iter()
            .chain(words)
            .map(OsString::from)
            .collect();
        is_question_alone(&Cli::command(), &words)
    }

    #[test]
    fn question_without_a_command_has_white_space_or_a_question_mark() {
        assert!(is_question(&["Should we?"]));
        assert!(is_question(&["Why?", "--json"]));
        assert!(is_question(&["two\nlines"]));
        assert!(!is_question(&["Why"]));
        assert!(!is_question(&["history"]));
        assert!(!is_question(&["Should", "we?"]));
        assert!(!is_question(&[]));
    }

    #[test]
    fn value_beside_a_flag_that_is_a_command_stays() {
        let parts = |word: &str| parted(&Cli::command(), word.into());
        assert_eq!(parts("--resume=last"), ["--resume", "last"]);
        assert_eq!(parts("--max-cost=5"), ["--max-cost=5"]);
        assert_eq!(parts("--resume"), ["--resume"]);
    }

    #[test]
    fn flags_of_consult_may_precede_a_question_without_a_command() {
        assert!(is_question(&["--json", "Should we?"]));
        assert!(is_question(&["-m", "claude-opus-5-5", "Should we?"]));
        assert!(!is_question(&["--json"]));
        assert!(!is_question(&["--help", "Should we?"]));
        assert!(!is_question(&["--json", "history", "Should we?"]));
    }
}
