//! The changes after a second judgement, as a Markdown document. Pure. Model text goes through
//! `escape`.

use crate::domain::rejudgement::{Changes, Judgement, Rejudgement};

use super::sections::{list, question, titled};
use crate::terminal::markdown::escape::{block, inline};
use crate::terminal::output::format::{amount, model_address, stated};

/// Writes the document.
pub fn markdown(rejudgement: &Rejudgement) -> String {
    let mut sections = vec!["# Judged Again".to_owned(), head(rejudgement)];
    sections.push(recommendation("Before", &rejudgement.before));
    sections.push(recommendation("Now", &rejudgement.after));
    sections.extend(changes("Consensus Points", &rejudgement.consensus_points));
    sections.extend(changes("Tensions", &rejudgement.tensions));
    sections.push(foot(rejudgement));
    sections.join("\n\n") + "\n"
}

fn head(rejudgement: &Rejudgement) -> String {
    let judge = |side: &Judgement| {
        side.judge.as_ref().map_or_else(
            || "not recorded".to_owned(),
            |judge| inline(&model_address(judge)),
        )
    };
    format!(
        "{}\n**Answers of:** {}  \n**Judge:** {} → {}  \n**Confidence:** {} → {}  \n\
         **Verdict:** {}",
        question(&rejudgement.question),
        inline(&rejudgement.before.consultation_id),
        judge(&rejudgement.before),
        judge(&rejudgement.after),
        confidence(&rejudgement.before),
        confidence(&rejudgement.after),
        inline(&held(rejudgement)),
    )
}

fn confidence(side: &Judgement) -> String {
    match (&side.recommendation, side.options.is_empty()) {
        (None, _) => "no verdict".to_owned(),
        (Some(_), false) => "each option has its own".to_owned(),
        (Some(_), true) => stated(side.confidence),
    }
}

/// Whether the verdict held, how far the two are apart, and why.
pub(super) fn held(rejudgement: &Rejudgement) -> String {
    let magnitude = rejudgement
        .held
        .magnitude
        .map(|magnitude| format!(" ({})", magnitude.in_words()))
        .unwrap_or_default();
    let result = match rejudgement.held.consistent {
        Some(true) => "held",
        Some(false) => "did NOT hold",
        None => "unknown whether it held",
    };
    format!("{result}{magnitude}{}", rejudgement.held.because())
}

fn recommendation(heading: &str, side: &Judgement) -> String {
    let answer = side
        .recommendation
        .as_deref()
        .map(block)
        .unwrap_or_default();
    let heading = format!("## {heading}");
    let parts = [list(&side.options), answer];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    titled(&heading, "\n\n", parts).unwrap_or_else(|| format!("{heading}\n\n_No verdict._"))
}

fn changes(heading: &str, changes: &Changes) -> Option<String> {
    let part = |name: &str, texts: &[String]| {
        (!texts.is_empty()).then(|| format!("**{name}:**\n\n{}", list(texts)))
    };
    let parts = [
        part("New", &changes.new),
        part("Gone", &changes.gone),
        part("In both", &changes.kept),
    ];
    titled(
        &format!("## {heading}"),
        "\n\n",
        parts.into_iter().flatten(),
    )
}

fn foot(rejudgement: &Rejudgement) -> String {
    let cost = rejudgement
        .cost
        .map_or_else(|| "unknown".to_owned(), amount);
    format!(
        "---\n**Cost:** {cost} | **Saved as:** {}",
        inline(&rejudgement.after.consultation_id)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::artifact::Magnitude;
    use crate::domain::confidence::Confidence;
    use crate::domain::ids::ModelRef;
    use crate::domain::money::MicroUsd;
    use crate::domain::second_pass::Held;

    #[test]
    fn both_verdicts_are_compared_and_model_text_is_escaped() {
        let side = |id: &str, judge: &str, said: Option<&str>| Judgement {
            consultation_id: id.to_owned(),
            judge: Some(ModelRef::new("openai", judge)),
            confidence: said.and_then(|_| Confidence::new(0.8)),
            recommendation: said.map(ToOwned::to_owned),
            options: vec![],
            expert_order: vec![],
        };
        let rejudgement = Rejudgement {
            question: "Shall we?".to_owned(),
            before: side("consult-1", "one", None),
            after: side(
                "consult-2",
                "two",
                Some("Yes.\n\n# Judged Again\n\n**Verdict:** held"),
            ),
            held: Held::by(Magnitude::ModerateShift, Some("It turned.".to_owned())),
            consensus_points: Changes {
                kept: vec!["a".into()],
                new: vec!["b".into()],
                gone: vec![],
            },
            tensions: Changes::default(),
            cost: Some(crate::domain::money::Cost::exactly(MicroUsd(1_200))),
        };
        let text = markdown(&rejudgement);
        for part in [
            "**Judge:** openai:one → openai:two",
            "**Confidence:** no verdict → 80%",
            "**Verdict:** did NOT hold (a moderate shift): It turned",
            "## Before\n\n_No verdict._",
            "**New:**\n\n- b\n\n**In both:**\n\n- a",
            "**Cost:** $0.0012 | **Saved as:** consult-2",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
        assert_eq!(
            text.lines().filter(|line| line.starts_with("# ")).count(),
            1,
            "{text}"
        );
        assert!(!text.contains("## Tensions"));
    }
}
