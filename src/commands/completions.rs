//! `conclave completions`: shell completions, made from the command line's own definition.

use clap_complete::Shell;

use crate::error::Error;
use crate::terminal::printer::Printer;

/// Write completions for a shell to standard output
#[derive(Debug, clap::Args)]
pub struct Args {
    shell: Shell,
}

pub(crate) fn run(args: &Args, command: &mut clap::Command, printer: &Printer) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "conclave", &mut script);
    printer.result(&String::from_utf8_lossy(&script)).map_err(Error::failed)
}
