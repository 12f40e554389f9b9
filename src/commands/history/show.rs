//! `conclave history show`: shows one consultation.

use std::collections::BTreeSet;

use crate::commands::completions::ids;
use crate::commands::face::answer::{self, AnswerSource};
use crate::commands::flags::{AnswerFormat, FormatFlags, PagerFlag};
use crate::domain::ids::AgentId;
use crate::domain::stored_record::{StoredAgent, StoredRecord};
use crate::error::Error;
use crate::terminal::report::{ReportSelection, markdown, page};
use crate::text::clean::one_line;

use super::Archive;

/// Show one consultation
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The consultation: its id, a unique prefix, one of its files, or `last`
    #[arg(add = ids::all(), default_value = "last")]
    id: String,

    /// Show only this round [default: all]
    #[arg(long, value_name = "N")]
    round: Option<u8>,

    /// Show only this agent: its id, its name, or `judge` [default: all]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    #[command(flatten)]
    format: FormatFlags,

    #[command(flatten)]
    pager: PagerFlag,
}

pub(super) fn run(args: &Args, archive: &Archive<'_>) -> Result<(), Error> {
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
    let loaded = archive.load(&found)?;
    let selection = selection(args, &loaded.record)?;
    let source = AnswerSource {
        markdown: &markdown(&loaded.record, &selection),
        summary: None,
        json: &|| Ok(loaded.json.clone()),
        html: &|| page(&loaded.record),
        noun: "Answer",
    };
    let pager = args.pager.pager(environment);
    answer::write(&source, format, None, &pager, archive.printer)
}

/// Returns the rounds and agents to show.
fn selection(args: &Args, record: &StoredRecord) -> Result<ReportSelection, Error> {
    let rounds: BTreeSet<u8> = record
        .rounds()
        .map(|(number, _)| number)
        .chain(record.agent_rounds().map(|(number, _)| number))
        .collect();
    if let Some(round) = args.round.filter(|round| !rounds.contains(round)) {
        let rounds: Vec<String> = rounds.iter().map(ToString::to_string).collect();
        let error = Error::usage(format!("{} has no round {round}", record.id));
        return Err(error.hint(match rounds.join(", ") {
            none if none.is_empty() => "it began no round".to_owned(),
            rounds => format!("its rounds: {rounds}"),
        }));
    }
    let agent = args.agent.as_deref().map(|name| agent(name, record));
    Ok(ReportSelection {
        round: args.round,
        agent: agent.transpose()?,
    })
}

/// Returns the agent with this id or name.
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
    Err(
        Error::usage(format!("{} has no agent `{}`", record.id, one_line(name)))
            .hint(format!("its agents: {}", existing.join(", "))),
    )
}
