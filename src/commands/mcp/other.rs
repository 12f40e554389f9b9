//! The tools that ask no model: past consultations, the panel, the end of a loop.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::host::{Host, lock};
use super::request::ConsultArguments;
use crate::agent_loop::settings::LoopSettings;
use crate::agent_loop::signals::{self, SignalOptions};
use crate::agent_loop::{checklist, response};
use crate::commands::agent_loop::{UnmaskedTexts, mask, with_flags};
use crate::domain::ids::ConsultationId;
use crate::error::Error;
use crate::records::history::{self, Filter, Search};
use crate::session::{index, load};
use crate::stopping::exit_check::event::ExitPolicy;
use crate::stopping::exit_check::evidence::{SeedTasks, TurnEvidence};
use crate::terminal::output::evaluation_tree::turn_line;
use crate::terminal::output::format::{cost_range, dollars};
use crate::terminal::report::report;
use crate::text::clean::{one_line, shortened};

/// Most characters of an answer in a list.
const MAX_ANSWER: usize = 500;

/// Most loops whose turns are counted.
const MAX_LOOPS: usize = 100;

const DEFAULT_LIMIT: usize = 10;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SearchArguments {
    query: String,
    limit: Option<usize>,
}

/// A past consultation in a list.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Found {
    /// Names it for `consultation` and `follow_up`.
    id: String,
    /// When it began (RFC 3339).
    asked: String,
    /// At most 500 characters.
    question: String,
    /// `complete`, `degraded`, `aborted`, `declined` or `incomplete`.
    status: Option<String>,
    /// The recommendation, at most 500 characters of it.
    answer: Option<String>,
    /// From 0 to 1, as the judge stated it.
    confidence: Option<f64>,
}

/// Past consultations, newest first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct SearchResult {
    consultations: Vec<Found>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PanelArguments {
    personas: Vec<String>,
}

/// The panel that would be asked.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct PanelView {
    seats: Vec<SeatView>,
    judge: Option<String>,
    estimate: String,
    /// In dollars: an estimate from this on is asked about.
    asks_from_usd: f64,
    notices: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SeatView {
    persona: String,
    model: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExitArguments {
    message: String,
    checklist: Option<String>,
    #[serde(default, rename = "loop")]
    name: String,
}

/// The decision on a turn of a loop.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ExitView {
    decision: String,
    may_stop: bool,
    reason: String,
    turn: u64,
}

impl Host {
    pub(super) fn history_search(&self, given: &SearchArguments) -> Result<SearchResult, Error> {
        let limit = given.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, 50);
        let query = Some(given.query.trim()).filter(|query| !query.is_empty());
        let search = query.map(Search::parse).transpose().map_err(Error::usage)?;
        let filter = Filter {
            search,
            calls: Some(true),
            ..Filter::default()
        };
        let rows = index::with(&self.home, &*self.face, |index| {
            history::list(&index.connection, &filter, Some(limit))
        })?;
        let found = rows.into_iter().map(|row| Found {
            id: row.consultation_id.to_string(),
            asked: row.timestamp.to_string(),
            question: shortened(&one_line(&row.question), MAX_ANSWER),
            status: row.status,
            answer: row.recommendation.map(|text| shortened(&text, MAX_ANSWER)),
            confidence: row.confidence,
        });
        Ok(SearchResult {
            consultations: found.collect(),
        })
    }

    /// Returns ids and questions of the newest consultations.
    pub(super) fn newest(&self) -> Result<Vec<(String, String)>, Error> {
        let found = self
            .history_search(&SearchArguments::default())?
            .consultations;
        let pair = |found: Found| (found.id, shortened(&found.question, 100));
        Ok(found.into_iter().map(pair).collect())
    }

    pub(super) fn resource(&self, id: &ConsultationId, is_record: bool) -> Result<String, Error> {
        let record = self.record(id)?;
        if is_record {
            load::json(&self.home.logs_folder(), id, &record)
        } else {
            Ok(report(&record))
        }
    }

    pub(super) fn panel(&self, given: &PanelArguments) -> Result<PanelView, Error> {
        let prepared = self.prepare(ConsultArguments::of_personas(given.personas.clone()), true)?;
        let (plan, estimate) = (&prepared.prepared.plan, &prepared.estimate);
        let seats = plan.panel.seats.iter().map(|seat| SeatView {
            persona: seat.persona.name.clone(),
            model: seat.model.to_string(),
        });
        Ok(PanelView {
            seats: seats.collect(),
            judge: plan.panel.judges.first().map(ToString::to_string),
            estimate: cost_range(estimate.low, estimate.cost, estimate.high, dollars),
            asks_from_usd: plan.control.consent.always_allow_under.usd(),
            notices: plan.notices.clone(),
        })
    }

    pub(super) fn exit_check(&self, given: &ExitArguments) -> Result<ExitView, Error> {
        let response = response::read(given.message.as_bytes(), None).map_err(Error::usage)?;
        let options = SignalOptions {
            prompt: None,
            promise: None,
        };
        let (of_message, errors) = signals::read(&response, &options);
        let plan = given.checklist.as_deref();
        let mut evidence = TurnEvidence {
            checklist: plan.and_then(checklist::read),
            seed_tasks: plan.map(SeedTasks::count),
            ..of_message
        };
        let unmasked = UnmaskedTexts {
            errors,
            ..UnmaskedTexts::default()
        };
        mask(&mut evidence, unmasked, &self.environment)?;
        let file = LoopSettings::find(Path::new(".conclave")).map_err(Error::usage)?;
        let settings = with_flags(&file, ExitPolicy::default(), &[])?;
        let mut loops = lock(&self.loops);
        if loops.len() >= MAX_LOOPS && !loops.contains_key(&given.name) {
            loops.pop_first();
        }
        let state = loops.entry(given.name.clone()).or_default();
        let now = self.clock.now();
        let name = Some(given.name.as_str()).filter(|name| !name.is_empty());
        let event = state.check(state.next_run(name, now), now, evidence, settings);
        state.apply(&event);
        let turn = event
            .turn()
            .ok_or_else(|| Error::failed("the turn was not counted"))?;
        Ok(ExitView {
            decision: turn.evaluation.decision_name(),
            may_stop: turn.evaluation.stops(),
            reason: turn_line(turn),
            turn: turn.turn,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::check;

    #[test]
    fn schemas_are_published() {
        check::<SearchResult>("mcp-history-search", "Past consultations of a tool");
        check::<PanelView>("mcp-models", "Panel of a tool");
        check::<ExitView>("mcp-exit-check", "Decision of a tool on a loop");
    }
}
