//! `conclave history show`: one consultation, as it was answered.

use crate::commands::consult::flags::Format;
use crate::domain::ids::AgentId;
use crate::domain::stored_record::{StoredAgent, StoredRecord};
use crate::error::Error;
use crate::session::write_answer::give;
use crate::terminal::markdown::escape::one_line;
use crate::terminal::report::stored;
use crate::terminal::report::stored::ReportSelection;

use super::{Past, reading};

/// Show one consultation
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The consultation: its id, a beginning of it, one of its files, or `last`
    id: String,

    /// Only this round
    #[arg(long, value_name = "N")]
    round: Option<u8>,

    /// Only this agent: its id or its name, or `judge`
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// What is written to standard output; JSON is the record as it lies
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
}

pub(super) fn run(args: &Args, past: &Past<'_>) -> Result<(), Error> {
    let is_part = args.round.is_some() || args.agent.is_some();
    if is_part && args.format != Format::Markdown {
        let error = Error::usage("a round or an agent is shown as Markdown only");
        return Err(error.hint("take it out of the record: conclave history show ID --format json | jq .responses.round_1"));
    }
    let found = past.find(&args.id)?;
    let told = reading::read(&past.logs, &found)?;
    let selection = selection(args, &told.record)?;
    give(
        &stored::markdown(&told.record, &selection),
        || Ok(told.json.clone()),
        args.format,
        None,
        past.printer,
    )
}

/// What is to be shown, as the consultation has it.
fn selection(args: &Args, record: &StoredRecord) -> Result<ReportSelection, Error> {
    let mut rounds: Vec<u8> = record
        .rounds
        .iter()
        .map(|round| round.number)
        .chain(record.agent_rounds.iter().map(|work| work.round))
        .collect();
    rounds.sort_unstable();
    rounds.dedup();
    if let Some(round) = args.round.filter(|round| !rounds.contains(round)) {
        let there = rounds
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        let error = Error::usage(format!("{} has no round {round}", record.id));
        return Err(error.hint(if there.is_empty() {
            "no round of it had begun".to_owned()
        } else {
            format!("its rounds: {there}")
        }));
    }
    let agent = args
        .agent
        .as_deref()
        .map(|wanted| agent(wanted, record))
        .transpose()?;
    Ok(ReportSelection {
        round: args.round,
        agent,
    })
}

/// The agent of this id or name.
fn agent(wanted: &str, record: &StoredRecord) -> Result<AgentId, Error> {
    if let Some(agent) = record.agent_named(wanted) {
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
    let there: Vec<String> = record
        .experts
        .iter()
        .map(expert)
        .chain(["judge".to_owned()])
        .collect();
    Err(
        Error::usage(format!("{} has no agent `{}`", record.id, one_line(wanted)))
            .hint(format!("its agents: {}", there.join(", "))),
    )
}
