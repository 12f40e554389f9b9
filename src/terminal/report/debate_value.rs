//! The value of the debate as a section of a report. Markdown; pure. Model text goes through
//! `escape`.

use crate::domain::debate_value::{ComparisonStatus, DebateValue};
use crate::domain::ids::SeatId;

use super::sections::{Names, list};
use crate::terminal::markdown::escape::inline;

/// Returns `None` where no expert answered a second time.
pub(in crate::terminal) fn section(value: &DebateValue, name: Names<'_>) -> Option<String> {
    if value.status == ComparisonStatus::NotApplicable {
        return None;
    }
    let mut parts = vec![
        "## 🎯 Debate Value Analysis".to_owned(),
        positions(value, name),
    ];
    if !value.key_insights.is_empty() {
        parts.push(format!("Key Insights:\n\n{}", list(&value.key_insights)));
    }
    parts.extend(
        value
            .worth_of_later_rounds()
            .map(|sentence| format!("{sentence}.")),
    );
    Some(parts.join("\n\n"))
}

/// Lists how far each expert moved, or why that is unknown.
fn positions(value: &DebateValue, name: Names<'_>) -> String {
    let Some(headline) = value.headline() else {
        let reason = inline(value.reason.as_deref().unwrap_or("no reason recorded"));
        return format!("- Whether positions changed is unknown: {reason}");
    };
    let named = |agent: &SeatId| name(agent.as_str());
    let agents = value
        .agents
        .iter()
        .map(|agent| format!("- {}: {}", named(&agent.agent_id), agent.in_words(&named)));
    std::iter::once(format!("- {headline}"))
        .chain(agents)
        .collect::<Vec<_>>()
        .join("\n")
}
