//! `conclave completions`: the script that lets a shell ask this program for completions, and the
//! answer to such a shell.
//!
//! The script only passes on the words of the command line, so it never has to change with the
//! commands and their flags.

pub(crate) mod ids;
pub(crate) mod values;

use clap::{Arg, Command};
use clap_complete::{CompleteEnv, Shell, env::Shells};

use crate::error::Error;
use crate::terminal::output::printer::Printer;

/// The variable by which a shell asks for completions.
const VARIABLE: &str = "CONCLAVE_COMPLETE";

/// Write completions for a shell to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example, in a shell's start-up file:
  source <(conclave completions bash)
  source <(conclave completions zsh)
  conclave completions fish | source

Commands, flags, models, personas, panels, settings, their values and the ids of consultations are
completed.")]
pub struct Args {
    /// The shell that reads the script
    shell: Shell,
}

pub(crate) fn run(args: &Args, printer: &Printer) -> Result<(), Error> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    if let Some(shell) = shells.completer(&args.shell.to_string()) {
        shell
            .write_registration(VARIABLE, "conclave", "conclave", "conclave", &mut script)
            .map_err(Error::failed)?;
    }
    let script = String::from_utf8_lossy(&script);
    // In bash, a candidate with a question in it is no pattern of file names.
    let noglob = "    local options=$-; set -f\n    COMPREPLY=(";
    let status = "local status=$?; [[ $options == *f* ]] || set +f; (( status ))";
    let script = script
        .replace("    COMPREPLY=(", noglob)
        .replace("[[ $? != 0 ]]", status);
    Ok(printer.result(&script)?)
}

/// Answers a shell that asks for completions. Returns whether one did.
///
/// # Errors
///
/// When the shell is unknown or asks for no word of its command line.
pub(crate) fn answer_shell(command: fn() -> Command) -> clap::error::Result<bool> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(|| options_last(command()))
        .var(VARIABLE)
        .try_complete(std::env::args_os(), folder.as_deref())
}

/// Returns the command with options that are offered only where nothing else fits, as shells do
/// with files, and with aliases that are understood but not offered in place of their commands.
fn options_last(mut command: Command) -> Command {
    // Only a built command has the options that clap adds.
    command.build();
    hide_options(command)
}

fn hide_options(command: Command) -> Command {
    let aliases: Vec<String> = command.get_all_aliases().map(ToOwned::to_owned).collect();
    let command = command.visible_alias(None).aliases(aliases);
    let hide = |arg: Arg| {
        let is_option = !arg.is_positional();
        arg.hide(is_option)
    };
    command.mut_args(hide).mut_subcommands(hide_options)
}
