//! What a server says: questions about the cost, results, errors, and its tools.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, ElicitationAction, Resource, Tool};
use serde_json::json;

use super::request::PreparedConsultation;
use super::view::ConsultationView;
use crate::commands::face::consent::remedy;
use crate::config::env::Environment;
use crate::consultation::policy::consent::Gate;
use crate::domain::ids::short_id;
use crate::error::{Error, whole};
use crate::setup::context::scrubber;
use crate::terminal::output::format::{cost_range, dollars};
use crate::terminal::prompt::run_question;

pub(super) const RESOURCE: &str = "conclave://consultation/";

/// As on a terminal.
pub(super) fn question(asked: &PreparedConsultation) -> String {
    let why = match &asked.gate {
        Gate::Ask(why) | Gate::Refuse(why) => why.as_slice(),
        Gate::Pass(_) | Gate::AboveCeiling => &[],
    };
    let control = &asked.prepared.plan.control;
    let rule = Some(&control.consent);
    let (mut lines, question) = run_question(&asked.estimate, why, rule, control.max_cost);
    lines.push(question);
    lines.join("\n")
}

pub(super) fn check_consent(
    action: &ElicitationAction,
    asked: &PreparedConsultation,
) -> Result<(), Error> {
    match action {
        ElicitationAction::Accept => Ok(()),
        // Some programs decline by themselves where no person is.
        ElicitationAction::Decline => Err(needs_consent(asked, "it was declined")),
        _ => Err(needs_consent(asked, "the person gave no answer")),
    }
}

/// Names what lets the consultation begin.
pub(super) fn needs_consent(asked: &PreparedConsultation, why: &str) -> Error {
    let estimate = &asked.estimate;
    let cost = cost_range(estimate.low, estimate.cost, estimate.high, dollars);
    let ceiling = estimate.high.known.up_to_cents();
    let consent = match remedy(estimate, &asked.prepared.plan.control.consent) {
        Some(remedy) => format!("no `max_cost` is consent to it: ask the person to {remedy}"),
        None => format!(
            "ask the person, then call again with `max_cost` {:.2} or more, which is consent to it",
            ceiling.usd()
        ),
    };
    Error::declined(format!(
        "the estimate is {cost}, which needs consent, and {why}"
    ))
    .hint(format!(
        "{consent}; or call with `quick`, which costs about half"
    ))
}

/// An error as the model reads it, with secrets masked.
pub(super) fn refusal(error: &Error, environment: &Environment) -> CallToolResult {
    let mut text = whole(error.source());
    for hint in &error.hints {
        text = format!("{text}\nhint: {hint}");
    }
    if let Ok(scrubber) = scrubber::load(environment) {
        scrubber.mask(vec![&mut text]);
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}

pub(super) fn complete(view: &ConsultationView) -> CallToolResult {
    let value = serde_json::to_value(view).unwrap_or_default();
    let mut result = CallToolResult::structured(value);
    let name = format!("Consultation {}", short_id(&view.id));
    result
        .content
        .push(ContentBlock::resource_link(link(&view.id, name)));
    result
}

pub(super) fn link(id: &str, name: String) -> Resource {
    Resource::new(format!("{RESOURCE}{id}"), name).with_mime_type("text/markdown")
}

/// The tools, with what their descriptions name.
pub(super) fn tools(personas: &str, folders: &str) -> Result<Vec<Tool>, Error> {
    let text = include_str!("tools.json");
    let mut tools: Vec<Tool> = serde_json::from_str(text).map_err(Error::failed)?;
    for tool in &mut tools {
        let named = json!(*tool.input_schema).to_string();
        let named = named
            .replace("{personas}", personas)
            .replace("{folders}", folders);
        tool.input_schema = Arc::new(serde_json::from_str(&named).map_err(Error::failed)?);
        let schema = match tool.name.as_ref() {
            "history_search" => include_str!("../../../schemas/mcp-history-search.schema.json"),
            "models" => include_str!("../../../schemas/mcp-models.schema.json"),
            "exit_check" => include_str!("../../../schemas/mcp-exit-check.schema.json"),
            _ => include_str!("../../../schemas/mcp-consultation.schema.json"),
        };
        let schema = serde_json::from_str(schema).map_err(Error::failed)?;
        tool.output_schema = Some(Arc::new(schema));
    }
    Ok(tools)
}
