//! `conclave completions`: shell completions, generated from the definition of the command line,
//! with the ids of consultations, which only the program knows.

mod ids;

use clap::Command;
use clap_complete::Shell;

use crate::error::Error;
use crate::terminal::output::printer::Printer;

/// Write completions for a shell to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example, in a shell's start-up file:
  source <(conclave completions bash)
  source <(conclave completions zsh)
  conclave completions fish | source

These three shells also complete the ids of consultations.")]
pub struct Args {
    shell: Shell,
}

pub(crate) fn run(args: &Args, command: &Command, printer: &Printer) -> Result<(), Error> {
    let mut command = visible(command);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "conclave", &mut script);
    let script = ids::complete(args.shell, &String::from_utf8_lossy(&script), &command);
    printer.result(&script).map_err(Error::failed)
}

/// Returns the command without hidden subcommands, which only completions call.
fn visible(command: &Command) -> Command {
    let shown = Command::new(command.get_name().to_owned()).args(command.get_arguments().cloned());
    let about = command.get_about().cloned().unwrap_or_default();
    let subcommands = command
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set())
        .map(visible);
    let version = command.get_version().map(ToOwned::to_owned);
    let shown = shown.about(about).subcommands(subcommands);
    match version {
        Some(version) => shown.version(version),
        None => shown.disable_version_flag(true),
    }
}
