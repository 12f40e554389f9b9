//! `conclave history show` and `conclave history export`: one consultation, on the terminal or as a
//! file.

use std::collections::BTreeSet;
use std::path::{self, Path, PathBuf};

use serde_json::Value;

use super::Archive;
use crate::commands::App;
use crate::commands::completions::ids;
use crate::commands::face::answer::{self, AnswerText, check_output};
use crate::commands::flags::{AnswerFormat, FormatFlags, PagerFlag, formats};
use crate::domain::ids::AgentId;
use crate::domain::ids::short_id;
use crate::domain::record::stored_record::{StoredAgent, StoredRecord};
use crate::error::Error;
use crate::files::write::{Access, write_atomically};
use crate::records::files::ConsultationFiles;
use crate::session::load;
use crate::session::traces::TraceWriter;
use crate::terminal::browser::open_page;
use crate::terminal::markdown::render::{WIDEST, render};
use crate::terminal::report::{ReportSelection, markdown, page, page_beside, report};
use crate::text::clean::one_line;

/// Show one consultation
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The consultation: its id, a unique prefix, one of its files, or `last`
    #[arg(add = ids::all(), default_value = "last")]
    id: String,

    /// Show only this round [default: all]
    #[arg(long, value_name = "N")]
    round: Option<u8>,

    /// Show only this agent: its id, its name, or `judge` [default: all]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// Print the answer alone, as plain text
    #[arg(long, conflicts_with_all = ["round", "agent", "format", "json"])]
    answer: bool,

    #[command(flatten)]
    format: FormatFlags,

    #[command(flatten)]
    pager: PagerFlag,
}

pub(super) fn show(args: &ShowArgs, archive: &Archive<'_>) -> Result<(), Error> {
    let environment = archive.app.environment;
    let is_part = args.round.is_some() || args.agent.is_some();
    let format = args.format.for_output(None);
    if is_part && format != AnswerFormat::Markdown {
        let error = Error::usage("a single round or agent is shown as Markdown only");
        return Err(error.hint(
            "extract it from the record with `conclave history show ID --json | jq \
             .responses.round_1`",
        ));
    }
    let found = archive.find(&args.id)?;
    let record = archive.load(&found)?;
    if args.answer {
        return print_answer(&record, archive.app);
    }
    let selection = selection(args, &record)?;
    let source = AnswerText {
        markdown: &markdown(&record, &selection),
        summary: None,
        json: &|| load::json(&archive.logs, &found, &record),
        html: &|| page(&record),
        noun: "Answer",
    };
    let pager = args.pager.pager(environment);
    answer::write(&source, format, None, &pager, archive.app.printer)
}

fn print_answer(record: &StoredRecord, app: App<'_>) -> Result<(), Error> {
    let options = record.recommendations.iter();
    let options = options.map(|option| format!("- {}", option.option));
    let answer: Vec<String> = options.chain(record.recommendation.clone()).collect();
    if answer.is_empty() {
        return Err(Error::failed(format!(
            "{} has no answer",
            short_id(&record.id)
        )));
    }
    let answer = answer.join("\n\n");
    app.show(|width, paint| render(&answer, width.unwrap_or(WIDEST), paint))
}

fn selection(args: &ShowArgs, record: &StoredRecord) -> Result<ReportSelection, Error> {
    let rounds: BTreeSet<u8> = record.rounds().map(|(number, _)| number).collect();
    if let Some(round) = args.round.filter(|round| !rounds.contains(round)) {
        let rounds: Vec<String> = rounds.iter().map(ToString::to_string).collect();
        let error = Error::usage(format!("{} has no round {round}", short_id(&record.id)));
        return Err(match rounds.join(", ") {
            none if none.is_empty() => error,
            rounds => error.hint(format!("one of: {rounds}")),
        });
    }
    let agent = args.agent.as_deref().map(|name| agent(name, record));
    Ok(ReportSelection {
        round: args.round,
        agent: agent.transpose()?,
    })
}

fn agent(name: &str, record: &StoredRecord) -> Result<AgentId, Error> {
    if let Some(agent) = record.agent_named(name) {
        return Ok(agent);
    }
    let expert = |expert: &StoredAgent| {
        let (id, name) = (expert.id.as_str(), one_line(&expert.name));
        if name.eq_ignore_ascii_case(id) {
            id.to_owned()
        } else {
            format!("{id} ({name})")
        }
    };
    let existing: Vec<String> = record
        .agents
        .iter()
        .map(expert)
        .chain(["judge".to_owned()])
        .collect();
    let (id, name) = (short_id(&record.id), one_line(name));
    let error = Error::usage(format!("{id} has no agent `{name}`"));
    Err(error.hint(format!("one of: {}", existing.join(", "))))
}

/// Write one consultation as Markdown, JSON, a self-contained HTML page or a trace
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("format", |format| format.value_parser(formats(&[]))))]
#[command(after_help = "Of a context, the sources are named; their text stays in its own file.")]
pub(super) struct ExportArgs {
    /// The consultation: its id, a unique prefix, one of its files, or `last`
    #[arg(add = ids::all(), default_value = "last")]
    id: String,

    #[command(flatten)]
    format: FormatFlags,

    /// Write to a file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Open the HTML page with the command in BROWSER or the system's opener; without --output, the
    /// page lies beside the record
    #[arg(long)]
    open: bool,
}

pub(super) fn export(args: &ExportArgs, archive: &Archive<'_>) -> Result<(), Error> {
    let environment = archive.app.environment;
    check_output(args.output.as_deref())?;
    let found = archive.find(&args.id)?;
    let record = archive.load(&found)?;
    let beside_record = ConsultationFiles::in_folder(&archive.logs, &found).page;
    let (output, access) = match &args.output {
        Some(output) => (Some(output.as_path()), Access::Normal),
        None => (args.open.then_some(beside_record.as_path()), Access::Own),
    };
    let format = args.format.for_output(output);
    if args.open && format != AnswerFormat::Html {
        return Err(Error::usage("only the HTML page can be opened")
            .hint("leave out `--format`, or export without `--open`"));
    }
    let folder = output.and_then(Path::parent);
    let source = AnswerText {
        markdown: &report(&record),
        summary: None,
        json: &|| load::json(&archive.logs, &found, &record),
        html: &|| page_beside(&record, &pages_beside(&record, folder)),
        noun: "Answer",
    };
    let bytes = match format {
        AnswerFormat::Otlp => {
            TraceWriter::open(&archive.home, environment)?.write(&found, Value::Null)?
        }
        format => source.text(format)?.into_bytes(),
    };
    let Some(output) = output else {
        let printer = archive.app.printer;
        let written = match format {
            AnswerFormat::Otlp if printer.out_traits().is_terminal => {
                return Err(Error::usage("a trace is no text for a terminal")
                    .hint("name a file with `--output FILE`, or pipe it to another program"));
            }
            AnswerFormat::Otlp => printer.write_result(&bytes),
            _ => printer.result(&String::from_utf8_lossy(&bytes)),
        };
        return written.map_err(Error::failed);
    };
    write_atomically(output, &bytes, access).map_err(Error::failed)?;
    archive
        .app
        .printer
        .note(&format!("{} written to {}", found, output.display()));
    let page = path::absolute(output).map_err(Error::failed)?;
    let browser = environment.text("BROWSER").unwrap_or_default();
    if args.open && !open_page(&page, browser) {
        archive
            .app
            .printer
            .warning("no browser could be started: open the page yourself, or set BROWSER");
    }
    Ok(())
}

fn pages_beside(record: &StoredRecord, folder: Option<&Path>) -> BTreeSet<String> {
    let linked = record.follow_ups.iter().chain(&record.follow_up_of);
    let has_page =
        |id: &&String| folder.is_some_and(|folder| folder.join(format!("{id}.html")).is_file());
    linked.filter(has_page).cloned().collect()
}
