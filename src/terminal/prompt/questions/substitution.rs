//! Substitution: whether another model may take over for an agent.

use crate::consultation::event::Substitution;
use crate::domain::ids::{ModelRef, ProviderId};

use crate::terminal::markdown::escape::one_line;
use crate::terminal::prompt::choices::PromptChoices;

/// Most characters of a provider's message in a question.
const MESSAGE_LENGTH: usize = 200;

/// Asks whether another model may take over. Each model comes with the name of its vendor.
pub(in crate::terminal) fn question(
    name: &str,
    offered: &Substitution,
    vendor_name: impl Fn(&ProviderId) -> String,
) -> String {
    let model = |model: &ModelRef| {
        let vendor = vendor_name(&model.provider);
        format!("{} ({})", one_line(&vendor), one_line(&model.model))
    };
    let message = shortened(&one_line(&offered.message));
    let message = if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    };
    format!(
        "⚠️ {} is unavailable ({}).\n   {}{message}\nSwitch to {} for this agent? {} ",
        model(&offered.original),
        one_line(&offered.reason.in_words("")),
        one_line(name),
        model(&offered.substitute),
        PromptChoices::YES_NO_FAIL.prompt(),
    )
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MESSAGE_LENGTH) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::event::{SubstitutionReason, WhySubstituted};
    use crate::domain::ids::AgentId;

    #[test]
    fn substitution_names_the_failed_model_the_cause_and_the_fallback() {
        let ask = |why, message: &str| {
            let offered = Substitution {
                agent_id: AgentId::from("pragmatic"),
                round_number: 1,
                original: ModelRef::new("google", "gemini-3-pro"),
                substitute: ModelRef::new("xai", "grok-4.7"),
                reason: SubstitutionReason::Known(why),
                message: message.to_owned(),
            };
            question("Pragmatist", &offered, |provider| match provider.as_str() {
                "google" => "Google".to_owned(),
                _ => "xAI".to_owned(),
            })
        };
        insta::assert_snapshot!(ask(WhySubstituted::Timeout, "no \
            answer\n within \u{1b}[31m120 s"), @r"
        ⚠️ Google (gemini-3-pro) is unavailable (timeout).
           Pragmatist: no answer within [31m120 s
        Switch to xAI (grok-4.7) for this agent? [Y/n/Fail]
        ");
        let long = ask(WhySubstituted::Failure, &"ü".repeat(500));
        assert!(
            long.contains(&format!("   Pragmatist: {}…\n", "ü".repeat(200))),
            "{long}"
        );
        assert!(
            ask(WhySubstituted::HealthCheck, "").contains("(health check).\n   Pragmatist\nSwitch")
        );
    }
}
