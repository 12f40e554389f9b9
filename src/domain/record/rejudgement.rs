//! The changes between a consultation's verdict and that of a rejudgement of its answers.

use std::collections::BTreeSet;

use serde::Serialize;

use super::stored_record::StoredRecord;
use crate::domain::answer::confidence::Confidence;
use crate::domain::answer::second_pass::Held;
use crate::domain::cost::money::{Cost, CostInDollars};
use crate::domain::ids::{ModelRef, SeatId};

/// Two judgements of the same answers: that of a consultation, and one that rejudged them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rejudgement {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    pub question: String,
    /// The consultation with the answers.
    pub before: Judgement,
    /// The consultation that rejudged them.
    pub after: Judgement,
    /// Whether the earlier verdict held.
    pub held: Held,
    pub consensus_points: Changes,
    pub tensions: Changes,
    /// The cost of the second judgement.
    #[serde(serialize_with = "CostInDollars::write")]
    #[cfg_attr(test, schemars(with = "Option<CostInDollars>"))]
    pub cost: Option<Cost>,
}

/// One judge's view of the answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judgement {
    pub consultation_id: String,
    /// `None` if the record does not state it.
    pub judge: Option<ModelRef>,
    pub confidence: Option<Confidence>,
    /// `None` without a verdict; for a menu, how to choose.
    pub recommendation: Option<String>,
    /// The options of a menu, the most widely useful first.
    pub options: Vec<String>,
    /// The experts in the order of their labels `Expert A`, `Expert B`, …; empty if they were shown
    /// by name.
    pub expert_order: Vec<SeatId>,
}

/// Texts in both judgements, only in the later one and only in the earlier one; compared without
/// case, spaces and punctuation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Changes {
    pub new: Vec<String>,
    pub gone: Vec<String>,
    pub kept: Vec<String>,
}

impl Rejudgement {
    pub fn of(before: &StoredRecord, after: &StoredRecord) -> Self {
        let points = |record: &StoredRecord| -> Vec<String> {
            let points = record
                .synthesis()
                .map(|found| found.consensus_points.iter());
            let points = points.into_iter().flatten();
            points.map(|point| point.point.clone()).collect()
        };
        let topics = |record: &StoredRecord| -> Vec<String> {
            let tensions = record.synthesis().map(|found| found.tensions.iter());
            let tensions = tensions.into_iter().flatten();
            tensions.map(|tension| tension.topic.clone()).collect()
        };
        Self {
            schema_version: "1.0",
            question: before.question.clone(),
            before: Judgement::of(before),
            after: Judgement::of(after),
            held: after
                .held()
                .filter(|held| **held != Held::default())
                .cloned()
                .unwrap_or_else(|| Held::unknown("there was no verdict")),
            consensus_points: Changes::between(points(before), points(after)),
            tensions: Changes::between(topics(before), topics(after)),
            cost: after.total_cost(),
        }
    }
}

impl Judgement {
    fn of(record: &StoredRecord) -> Self {
        let options = record
            .verdict()
            .into_iter()
            .flat_map(|verdict| &verdict.recommendations);
        Self {
            consultation_id: record.id.clone(),
            judge: record.judge(),
            confidence: record.confidence,
            recommendation: record.recommendation.clone(),
            options: options.map(|choice| choice.option.clone()).collect(),
            expert_order: record.expert_order.clone(),
        }
    }
}

impl Changes {
    fn between(before: Vec<String>, after: Vec<String>) -> Self {
        let [had, has] = [&before, &after].map(|texts| {
            texts
                .iter()
                .map(|text| plain(text))
                .collect::<BTreeSet<String>>()
        });
        let (kept, new) = after
            .into_iter()
            .partition(|text| had.contains(&plain(text)));
        let gone = before
            .into_iter()
            .filter(|text| !has.contains(&plain(text)))
            .collect();
        Self { new, gone, kept }
    }
}

fn plain(text: &str) -> String {
    let word = |word: &str| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    };
    text.split_whitespace()
        .map(word)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<Rejudgement>("rejudge", "Rejudge");
    }

    #[test]
    fn texts_are_compared_by_words_and_quoted_from_the_later_judgement() {
        let texts = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        let changes = Changes::between(
            texts(&["Use short-lived tokens.", "Log out."]),
            texts(&["use short-lived  **tokens**", "Rotate keys."]),
        );
        assert_eq!(changes.kept, ["use short-lived  **tokens**"]);
        assert_eq!(
            (changes.new, changes.gone),
            (texts(&["Rotate keys."]), texts(&["Log out."]))
        );
    }

    #[test]
    fn a_verdict_cannot_hold_without_an_earlier_one() {
        let rejudgement = Rejudgement::of(&StoredRecord::default(), &StoredRecord::default());
        assert_eq!(rejudgement.held, Held::unknown("there was no verdict"));
    }
}
