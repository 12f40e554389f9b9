//! `conclave history`: past consultations. What is listed comes from the index; what is shown,
//! exported and deleted from the files.

mod export;
mod ids;
mod list;
mod outcome;
mod reading;
mod rejudge;
mod rm;
mod show;

use std::path::PathBuf;

use clap::Subcommand;

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::error::Error;
use crate::records::files::ConsultationRef;
use crate::records::index::Index;
use crate::session::finish;
use crate::session::{find, index};
use crate::terminal::output::printer::{Printer, Verbosity};

/// The version of the JSON.
pub(crate) const SCHEMA_VERSION: &str = "1.0";

/// List, show, export, delete, grade and rejudge past consultations
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
An ID is an id of the list, the beginning of one, one of its files, or `last`.

Examples:
  conclave history
  conclave history --search \"session cookies\"
  conclave history show last
  conclave history export 01m7zh45 --format html -o answer.html
  conclave history outcome 01m7zh45 wrong --note \"the library was abandoned\"
  conclave history rejudge 01m7zh45 --judge claude-opus-5-5"
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: list::Args,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(list::Args),
    Show(show::Args),
    Export(export::Args),
    Rm(rm::Args),
    Outcome(outcome::Args),
    Rejudge(Box<rejudge::Args>),
    #[command(hide = true)]
    Ids(ids::Args),
}

impl Args {
    pub(crate) fn verbosity(&self) -> Verbosity {
        match &self.action {
            Some(Action::Rejudge(args)) => args.verbosity(),
            None
            | Some(
                Action::List(_)
                | Action::Show(_)
                | Action::Export(_)
                | Action::Rm(_)
                | Action::Outcome(_)
                | Action::Ids(_),
            ) => Verbosity::Normal,
        }
    }
}

pub(crate) fn run(args: &Args, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let home = Home::find(environment).map_err(Error::usage)?;
    let logs = finish::logs(&home);
    let past = Past {
        home,
        logs,
        printer,
    };
    match &args.action {
        None => list::run(&args.list, &past),
        Some(Action::List(args)) => list::run(args, &past),
        Some(Action::Show(args)) => show::run(args, &past),
        Some(Action::Export(args)) => export::run(args, &past),
        Some(Action::Rm(args)) => rm::run(args, &past),
        Some(Action::Outcome(args)) => outcome::run(args, &past),
        Some(Action::Rejudge(args)) => rejudge::run(args, environment, &past),
        Some(Action::Ids(args)) => {
            ids::run(args, &past);
            Ok(())
        }
    }
}

/// Where past consultations are, and to whom they are told.
#[derive(Debug)]
struct Past<'a> {
    home: Home,
    logs: PathBuf,
    printer: &'a Printer,
}

impl Past<'_> {
    /// The index, brought up to date.
    fn index(&self) -> Result<Index, Error> {
        index::open(&self.home, self.printer)
    }

    /// The index for names alone, which the folder knows as well: one that cannot be used as it is
    /// is none.
    fn names(&self) -> Option<Index> {
        Index::open(&index::path(&self.home)).ok()
    }

    /// The consultation that is called so.
    fn find(&self, name: &str) -> Result<ConsultationRef, Error> {
        find::find(self.names().as_ref(), &self.logs, name)
    }
}
