//! The changes after a second judgement, as Markdown.

use crate::domain::record::rejudgement::{Changes, Judgement, Rejudgement};

use super::sections::{in_short, labelled_list, question};
use crate::terminal::document::{self, Fact, Line, Part, fact, paragraph, titled};
use crate::terminal::output::format::{amount, model_address, stated};

pub fn markdown(rejudgement: &Rejudgement) -> String {
    let mut parts = vec![Part::Heading(1, Line::of("Judged Again", []))];
    parts.extend(question(&rejudgement.question, head(rejudgement)));
    for (title, side) in [("Before", &rejudgement.before), ("Now", &rejudgement.after)] {
        parts.extend(titled(2, title, recommendation(side)));
    }
    let consensus = changes(&rejudgement.consensus_points);
    parts.extend(titled(2, "Consensus Points", consensus));
    parts.extend(titled(2, "Tensions", changes(&rejudgement.tensions)));
    let cost = rejudgement.cost.map_or("unknown".to_owned(), amount);
    let saved_as = &rejudgement.after.consultation_id;
    let foot = Line::from(cost).and(" | **Saved as:** {}", [saved_as]);
    parts.push(Part::Foot(fact("Cost", foot)));
    document::markdown(&parts)
}

pub(super) fn head(rejudgement: &Rejudgement) -> Vec<Fact> {
    let Rejudgement { before, after, .. } = rejudgement;
    let judge = |side: &Judgement| {
        let judge = side.judge.as_ref().map(model_address);
        judge.unwrap_or_else(|| "not recorded".to_owned())
    };
    let changed = |before: &str, after: &str| Line::of("{} → {}", [before, after]);
    vec![
        fact("Answers of", before.consultation_id.clone()),
        fact("Judge", changed(&judge(before), &judge(after))),
        fact(
            "Confidence",
            changed(&confidence(before), &confidence(after)),
        ),
        fact("Verdict", Line::foreign(held(rejudgement))),
    ]
}

fn confidence(side: &Judgement) -> String {
    match (&side.recommendation, side.options.is_empty()) {
        (None, _) => "no verdict".to_owned(),
        (Some(_), false) => "each option has its own".to_owned(),
        (Some(_), true) => stated(side.confidence),
    }
}

fn held(rejudgement: &Rejudgement) -> String {
    let magnitude = rejudgement.held.magnitude;
    let magnitude = magnitude.map(|magnitude| format!(" ({})", magnitude.in_words()));
    let result = match rejudgement.held.consistent {
        Some(true) => "held",
        Some(false) => "did NOT hold",
        None => "unknown whether it held",
    };
    let because = rejudgement.held.because();
    format!("{result}{}{because}", magnitude.unwrap_or_default())
}

pub(super) fn recommendation(side: &Judgement) -> Vec<Part> {
    let answer = side.recommendation.as_deref().unwrap_or_default();
    let parts = in_short(&side.options, answer);
    if parts.is_empty() {
        return vec![paragraph("_No verdict._", [])];
    }
    parts
}

pub(super) fn changes(changes: &Changes) -> Vec<Part> {
    let parts = [
        ("**New:**", &changes.new),
        ("**Gone:**", &changes.gone),
        ("**In both:**", &changes.kept),
    ];
    let parts = parts.into_iter();
    parts
        .flat_map(|(label, texts)| labelled_list(label, texts))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answer::artifact::Magnitude;
    use crate::domain::answer::confidence::Confidence;
    use crate::domain::answer::second_pass::Held;
    use crate::domain::cost::money::MicroUsd;
    use crate::domain::ids::ModelRef;

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
            schema_version: "1.0",
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
            cost: Some(crate::domain::cost::money::Cost::exactly(MicroUsd(1_200))),
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
