//! What an agent reads of a consultation: small, and whole in the structured result, because
//! clients drop the text beside it.

use serde::Serialize;

use crate::domain::answer::confidence::Confidence;
use crate::domain::record::stored_record::{Completion, OpenPoint, StoredRecord};
use crate::terminal::report::{confidence, report};
use crate::text::clean::shortened_unmasked;

/// The most characters of a report: agents pay for what they read.
const MAX_REPORT: usize = 20_000;

/// A consultation as a tool returns it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ConsultationView {
    /// `running`, `complete`, `degraded` (less than the panel promised), `aborted`, `declined` or
    /// `incomplete`.
    pub(super) status: String,
    /// Names the consultation for `consultation` and `follow_up`.
    pub(super) id: String,
    /// The phase of a running consultation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) progress: Option<String>,
    /// The answer. Without a verdict, the provisional answer of the judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    recommendation: Option<String>,
    /// The options of a consultation that explores, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<OptionView>,
    /// From 0 to 1, as the judge states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// What the confidence rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence_rests_on: Option<String>,
    /// Objections to the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dissent: Vec<ObjectionView>,
    /// What the debate left open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_points: Vec<String>,
    /// How the result falls short, and why it ended early.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
    /// What was spent, in dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    /// The same for people: `≥` stands before it where a part is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<String>,
    /// The report as Markdown, at most 20,000 characters of it; the resource
    /// `conclave://consultation/ID` has all.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OptionView {
    option: String,
    best_when: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ObjectionView {
    /// The name of the expert.
    expert: String,
    concern: String,
    /// `low`, `medium` or `high`.
    severity: String,
}

impl ConsultationView {
    pub(super) fn running(id: &str, progress: &str) -> Self {
        Self {
            status: "running".to_owned(),
            id: id.to_owned(),
            progress: Some(progress.to_owned()),
            next: Some(format!(
                "The panel goes on. Call `consultation` with the id `{id}` to wait for its answer."
            )),
            ..Self::default()
        }
    }

    pub(super) fn of(record: &StoredRecord) -> Self {
        let is_menu = !record.recommendations.is_empty();
        let options = record.recommendations.iter().map(|choice| OptionView {
            option: choice.option.clone(),
            best_when: choice.best_when.clone(),
        });
        let dissent = record.dissent.iter().map(|dissent| ObjectionView {
            expert: record.name_of(&dissent.agent).to_owned(),
            concern: dissent.concern.clone(),
            severity: dissent.severity.name().to_owned(),
        });
        let aborted = record.abort_message.iter().cloned();
        let cost = record.total_cost();
        let is_answered = record.recommendation.is_some();
        let can_resume = record.resume_token.is_some();
        Self {
            status: record.status.clone().unwrap_or_default(),
            id: record.id.clone(),
            progress: None,
            recommendation: record.recommendation.clone(),
            options: options.collect(),
            confidence: record
                .confidence
                .filter(|_| !is_menu)
                .map(Confidence::value),
            confidence_rests_on: is_answered.then(|| confidence(record)),
            dissent: dissent.collect(),
            open_points: record.open_points.iter().map(open_point).collect(),
            problems: record.degradations.iter().cloned().chain(aborted).collect(),
            cost_usd: cost.map(|cost| cost.known.usd()),
            cost: record.total_cost_in_words(),
            report: Some(shortened_unmasked(&report(record), MAX_REPORT)),
            next: (record.completion() != Completion::Completed && can_resume).then(|| {
                let id = &record.id;
                format!("A person can continue it with `conclave resume {id}`.")
            }),
        }
    }
}

fn open_point(point: &OpenPoint) -> String {
    let views = point.views.iter();
    let views: Vec<String> = views
        .map(|it| format!("{}: {}", it.agent, it.view))
        .collect();
    match views.as_slice() {
        [] => point.topic.clone(),
        _ => format!("{} ({})", point.topic, views.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<ConsultationView>("mcp-consultation", "Consultation of a tool");
    }
}
