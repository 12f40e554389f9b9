//! `conclave history list`: past consultations, newest first.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::commands::flags::JsonFlags;
use crate::domain::ids::ConsultationId;
use crate::domain::record::history::{History, HistoryRow};
use crate::domain::record::stored_record::Completion;
use crate::error::Error;
use crate::records::files::ConsultationFiles;
use crate::records::history::{self, Filter, Search};
use crate::records::index::{Index, QueryResult};
use crate::records::journal::ends::{self, JournalEnding, JournalOpening};
use crate::records::journal::is_being_written;
use crate::session::index;
use crate::terminal::tables::history::{below, screen};

use super::{Archive, SCHEMA_VERSION};

/// Most consultations that are listed by default.
const DEFAULT_LIMIT: usize = 20;

const PREFIX: &str = "consult-";

/// Least characters of an id after `consult-`: ids of different seconds then differ.
const SHORTEST_ID: usize = 8;

/// List past consultations, newest first
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("json", |arg| arg.help("Write JSON; its schema is schemas/history.schema.json")))]
#[group(skip)]
pub(crate) struct Args {
    /// List only consultations with this state
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        hide_possible_values = true,
        value_name = "completed|aborted|declined|unfinished|running"
    )]
    state: Option<StateArg>,

    /// List only consultations of this mode
    #[arg(long)]
    mode: Option<String>,

    /// List only consultations with these words in the question or the recommendation; quote a
    /// phrase
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,

    /// List at most this many, newest first
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value_t = DEFAULT_LIMIT as u64,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    limit: u64,

    /// List all, those that made no call too
    #[arg(long, conflicts_with = "limit")]
    all: bool,

    #[command(flatten)]
    json: JsonFlags,
}

/// The values of `--state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum StateArg {
    #[value(alias = "complete")]
    Completed,
    Aborted,
    Declined,
    Unfinished,
    Running,
}

impl StateArg {
    /// Running consultations are unfinished there: the journals distinguish them.
    pub(super) fn filter(self) -> Completion {
        match self {
            Self::Completed => Completion::Completed,
            Self::Aborted => Completion::Aborted,
            Self::Declined => Completion::Declined,
            Self::Unfinished | Self::Running => Completion::Unfinished,
        }
    }
}

pub(super) fn run(args: &Args, archive: &Archive<'_>) -> Result<(), Error> {
    let search = args.search.as_deref().map(Search::parse).transpose();
    let search = search.map_err(|error| {
        Error::usage(error).hint("for example: `conclave history --search \"session cookies\"`")
    })?;
    let filter = Filter {
        state: args.state.map(StateArg::filter),
        mode: args.mode.clone(),
        search,
        calls: (args.state.is_none() && !args.all).then_some(true),
        ..Filter::default()
    };
    let limit = (!args.all).then(|| usize::try_from(args.limit).unwrap_or(usize::MAX));
    let history = collect(archive, args, &filter, limit)?;
    let (printer, is_json) = (archive.app.printer, args.json.is_json());
    if history.consultations.is_empty() && !is_json {
        printer.lines(nothing(&history, &filter));
        return Ok(());
    }
    let (now, zone) = (archive.app.clock.now(), (archive.app.zone)());
    archive.app.print(is_json, &history, |width, paint| {
        screen(&history, now, &zone, width, paint)
    })?;
    if printer.out_traits().is_terminal && !is_json {
        for line in below(&history, printer.err_traits().width) {
            printer.note(&line);
        }
    }
    Ok(())
}

fn collect(
    archive: &Archive<'_>,
    args: &Args,
    filter: &Filter,
    limit: Option<usize>,
) -> Result<History, Error> {
    let only_running = args.state == Some(StateArg::Running);
    // Unfinished consultations are few, and only their journals show which are running.
    let query_limit = if only_running { None } else { limit };
    let query = |index: &mut Index| {
        let listed = history::list(&index.connection, filter, query_limit)?;
        let mut begun = Vec::new();
        if matches!(
            args.state,
            None | Some(StateArg::Unfinished | StateArg::Running)
        ) {
            let ids: BTreeSet<_> = listed.iter().map(|row| &row.consultation_id).collect();
            begun = self::begun(archive, index, filter)?;
            begun.retain(|entry| !ids.contains(&entry.consultation_id));
        }
        let count = |calls| {
            let filter = filter.clone();
            history::count(&index.connection, &Filter { calls, ..filter })
        };
        let left_out = match filter.calls {
            Some(_) => count(Some(false))?,
            None => 0,
        };
        let mut total = count(None)?.saturating_sub(left_out) + begun.len() as u64;
        let mut entries = begun;
        entries.extend(listed.into_iter().map(|listed| entry(archive, listed)));
        if only_running {
            entries.retain(|entry| entry.run_status == Completion::Running);
            total = entries.len() as u64;
        }
        entries.sort_by_key(|entry| Reverse((entry.timestamp, entry.consultation_id.clone())));
        entries.truncate(limit.unwrap_or(usize::MAX));
        for entry in &mut entries {
            entry.short_id = short(index, entry.consultation_id.as_str())?;
        }
        Ok(History {
            schema_version: SCHEMA_VERSION,
            total,
            left_out,
            consultations: entries,
        })
    };
    index::with(&archive.home, archive.app.printer, query)
}

/// Returns the shortest form of an id that commands take.
pub(super) fn short(index: &Index, id: &str) -> QueryResult<String> {
    let short = history::unique_prefix(&index.connection, id, PREFIX.len() + SHORTEST_ID)?;
    Ok(short.strip_prefix(PREFIX).unwrap_or(short).to_owned())
}

fn begun(archive: &Archive<'_>, index: &Index, filter: &Filter) -> QueryResult<Vec<HistoryRow>> {
    let row = |id: ConsultationId| {
        let files = ConsultationFiles::in_folder(&archive.logs, &id);
        let opening = ends::opening(&files.journal)?;
        let has_context = has_context(&files, &opening);
        let JournalOpening {
            at, question, mode, ..
        } = opening;
        let has_mode = filter.mode.is_none() || filter.mode == mode;
        let search = filter.search.as_ref();
        if !has_mode || search.is_some_and(|search| !search.matches(&question)) {
            return None;
        }
        let run_status = if is_being_written(&files.journal) {
            Completion::Running
        } else {
            Completion::Unfinished
        };
        let mut row = HistoryRow::started(id, at, question, mode, run_status);
        row.resumable &= has_context;
        Some(row)
    };
    let open = history::open_consultations(&index.connection)?;
    Ok(open.into_iter().filter_map(row).collect())
}

fn entry(archive: &Archive<'_>, row: HistoryRow) -> HistoryRow {
    let files = ConsultationFiles::in_folder(&archive.logs, &row.consultation_id);
    let has_failed = matches!(row.run_status, Completion::Aborted | Completion::Unfinished);
    if has_failed && is_being_written(&files.journal) {
        return HistoryRow {
            run_status: Completion::Running,
            ..row
        };
    }
    let resumable = has_failed
        && ends::ending(&files.journal).is_ok_and(JournalEnding::is_resumable)
        && ends::opening(&files.journal).is_none_or(|opening| has_context(&files, &opening));
    HistoryRow { resumable, ..row }
}

fn has_context(files: &ConsultationFiles, opening: &JournalOpening) -> bool {
    opening.context_bytes == 0 || files.context.is_file()
}

fn nothing(history: &History, filter: &Filter) -> &'static str {
    let Filter {
        state,
        mode,
        search,
        ..
    } = filter;
    if state.is_some() || mode.is_some() || search.is_some() || history.left_out > 0 {
        return "No consultations match; list all with `conclave history list --all`";
    }
    "No consultations found.\n\nRun your first consultation:\n  conclave consult \"Your question here\""
}
