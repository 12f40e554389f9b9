//! `conclave history`: past consultations. Lists come from the index; everything else from the
//! files.

pub(crate) mod consult_stats;
mod list;
mod outcome;
mod rejudge;
mod rm;
mod show;

use std::path::PathBuf;

use clap::Subcommand;

use crate::commands::App;
use crate::config::paths::Home;
use crate::domain::ids::ConsultationId;
use crate::domain::record::stored_record::StoredRecord;
use crate::error::Error;
use crate::records::history::follow_ups;
use crate::records::index::Index;
use crate::session::load;
use crate::session::{index, lookup};

pub(crate) use self::list::Args as ListArgs;

pub(crate) const SCHEMA_VERSION: &str = "1.0";

/// List, show, export, delete, grade and rejudge past consultations
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
An ID is an id from the list, a unique prefix of one, a file of the consultation, or `last`.

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
    action: Option<HistoryAction>,

    #[command(flatten)]
    list: list::Args,
}

#[derive(Debug, Subcommand)]
enum HistoryAction {
    #[command(visible_alias = "ls")]
    List(list::Args),
    Show(show::ShowArgs),
    Export(show::ExportArgs),
    Rm(rm::Args),
    Outcome(outcome::Args),
    Rejudge(Box<rejudge::Args>),
}

/// `conclave ls`.
pub(crate) fn list(args: &ListArgs, app: App<'_>) -> Result<(), Error> {
    list::run(args, &Archive::open(app)?)
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let archive = Archive::open(app)?;
    match &args.action {
        None => list::run(&args.list, &archive),
        Some(HistoryAction::List(args)) => list::run(args, &archive),
        Some(HistoryAction::Show(args)) => show::show(args, &archive),
        Some(HistoryAction::Export(args)) => show::export(args, &archive),
        Some(HistoryAction::Rm(args)) => rm::run(args, &archive),
        Some(HistoryAction::Outcome(args)) => outcome::run(args, &archive),
        Some(HistoryAction::Rejudge(args)) => rejudge::run(args, &archive),
    }
}

/// The past consultations of a home.
#[derive(Debug)]
struct Archive<'a> {
    home: Home,
    logs: PathBuf,
    app: App<'a>,
}

impl<'a> Archive<'a> {
    fn open(app: App<'a>) -> Result<Self, Error> {
        let home = app.home()?;
        Ok(Self {
            logs: home.logs_folder(),
            home,
            app,
        })
    }

    fn index(&self) -> Result<Index, Error> {
        index::open(&self.home, self.app.printer)
    }

    /// `None` if it cannot be used. The folder of logs knows the names as well.
    fn name_index(&self) -> Option<Index> {
        Index::open(&self.home.index_file()).ok()
    }

    fn load(&self, found: &ConsultationId) -> Result<StoredRecord, Error> {
        let mut record = load::load(&self.logs, found)?;
        if let Some(index) = self.name_index() {
            // What an index cannot say is left out.
            let ids = follow_ups(&index.connection, &record.id);
            record.follow_ups = ids.unwrap_or_default();
        }
        Ok(record)
    }

    fn find(&self, name: &str) -> Result<ConsultationId, Error> {
        lookup::find(self.name_index().as_ref(), &self.logs, name)
    }
}
