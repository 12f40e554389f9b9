//! Substitution: whether other models may take over for the agents whose models have failed.

use crate::consultation::event::{Answer, Substitution};
use crate::consultation::machine::SubstitutionOffer;
use crate::domain::ids::ModelRef;
use crate::domain::model::vendors;
use crate::text::clean::{one_line, shortened};

use crate::terminal::prompt::question::{KeyChoice, KeyQuestion, QuestionTrace};

/// Most characters of a provider's message in a question.
const MESSAGE_LENGTH: usize = 200;

/// Each model comes with the name of its vendor.
pub(in crate::terminal) fn question(offers: &[SubstitutionOffer]) -> KeyQuestion<Answer> {
    let model = |model: &ModelRef| {
        let vendor = vendors::name(&model.provider);
        format!("{} ({})", one_line(&model.model), one_line(vendor))
    };
    // Agents of one model share its failure.
    let mut failures: Vec<(&Substitution, Vec<String>)> = Vec::new();
    for SubstitutionOffer { name, offered } in offers {
        let name = one_line(name);
        let is_same = |other: &Substitution| {
            (&other.original, &other.substitute) == (&offered.original, &offered.substitute)
                && other.message == offered.message
        };
        match failures.iter_mut().find(|(other, _)| is_same(other)) {
            Some((_, names)) => names.push(name),
            None => failures.push((offered, vec![name])),
        }
    }
    let failure = |offered: &Substitution, names: &[String]| {
        format!(
            "⚠️ {} is unavailable for {}: {}",
            model(&offered.original),
            names.join(", "),
            shortened(
                &one_line(&offered.reason.in_words(&offered.message)),
                MESSAGE_LENGTH
            ),
        )
    };
    let (lines, question) = if let [(offered, names)] = failures.as_slice() {
        let fallback = model(&offered.substitute);
        (
            vec![failure(offered, names)],
            format!("Use {fallback} instead?"),
        )
    } else {
        let lines = failures.iter().flat_map(|(offered, names)| {
            let fallback = model(&offered.substitute);
            [failure(offered, names), format!("   → {fallback}")]
        });
        (lines.collect(), "Use these models instead?".to_owned())
    };
    KeyQuestion {
        lines,
        question,
        // Another model takes over, the others continue without it, or the run ends.
        choices: vec![
            KeyChoice::plain("yes", Answer::Yes),
            KeyChoice::plain("no", Answer::No),
            KeyChoice::named("fail", "end".to_owned(), Answer::Fail),
        ],
        default: 'y',
        safe: 'y',
        trace: QuestionTrace::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::event::WhySubstituted;
    use crate::domain::ids::AgentId;
    use crate::terminal::output::style::Paint;

    fn offer(name: &str, why: WhySubstituted, message: &str) -> SubstitutionOffer {
        SubstitutionOffer {
            name: name.to_owned(),
            offered: Substitution {
                agent_id: AgentId::from("pragmatic"),
                round_number: 1,
                original: ModelRef::new("google", "gemini-3-pro"),
                substitute: ModelRef::new("xai", "grok-4.7"),
                reason: why,
                message: message.to_owned(),
            },
        }
    }

    fn ask(offers: &[SubstitutionOffer]) -> String {
        question(offers).text(400, Paint::PLAIN)
    }

    #[test]
    fn substitution_names_the_failed_model_the_cause_and_the_fallback() {
        let message = "no answer\n within \u{1b}[31m120 s";
        let timeout = offer("Pragmatist", WhySubstituted::Timeout, message);
        insta::assert_snapshot!(ask(&[timeout]), @r"
        ⚠️ gemini-3-pro (Google) is unavailable for Pragmatist: no answer within [31m120 s
        Use grok-4.7 (xAI) instead? [Y/n/f = end]
        ");
        let long = offer("Pragmatist", WhySubstituted::Failure, &"ü".repeat(500));
        let question = ask(&[long]);
        let words = format!("for Pragmatist: {}…\n", "ü".repeat(200));
        assert!(question.contains(&words), "{question}");
        let circuit = offer("Pragmatist", WhySubstituted::HealthCheck, "");
        assert!(ask(&[circuit]).contains("for Pragmatist: health check\n"));
    }

    #[test]
    fn several_failures_are_one_question() {
        let offers = [
            offer("Architect", WhySubstituted::Failure, "no credit"),
            offer("Pragmatist", WhySubstituted::Timeout, ""),
        ];
        insta::assert_snapshot!(ask(&offers), @r"
        ⚠️ gemini-3-pro (Google) is unavailable for Architect: no credit
           → grok-4.7 (xAI)
        ⚠️ gemini-3-pro (Google) is unavailable for Pragmatist: timeout
           → grok-4.7 (xAI)
        Use these models instead? [Y/n/f = end]
        ");
    }

    #[test]
    fn agents_of_one_model_share_its_failure() {
        let offers = ["Architect", "Pragmatist"]
            .map(|name| offer(name, WhySubstituted::Failure, "no credit"));
        insta::assert_snapshot!(ask(&offers), @r"
        ⚠️ gemini-3-pro (Google) is unavailable for Architect, Pragmatist: no credit
        Use grok-4.7 (xAI) instead? [Y/n/f = end]
        ");
    }
}
