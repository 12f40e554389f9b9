//! Applies every rule to every question, and counts.

use super::report::{
    AgreementFigures, CalibrationFigures, LimitFigures, MethodFigures, ModelFigures,
    ReplayAccuracy, ReplayReport, ReplayRule, RuleFigures,
};
use super::report::{AnswerTable, RecordedModel};
use crate::benchmark::statistics::number;
use crate::benchmark::statistics::paired::PairedCounts;
use crate::benchmark::statistics::proportion::Proportion;
use crate::stopping::calibration::{GradedConfidence, Reliability};
use crate::stopping::replay::probability::{PanelKnowledge, VoteProbability};
use crate::stopping::replay::rule::StopRule;
use crate::stopping::replay::vote::{AnswerId, RecordedQuestion, Tally};

/// `None` without questions or models. `file` is shown as the source.
pub fn measure(table: &AnswerTable, file: &str) -> Option<ReplayReport> {
    let questions = table.questions.as_slice();
    let models = models(table)?;
    // Of equals, the last is the greatest.
    let places = models.iter().enumerate().rev();
    let (best, _) = places.max_by_key(|(_, model)| model.accuracy.right)?;
    let mut figures = Vec::new();
    for (rule, stop) in rules(models.len(), best) {
        figures.push(rule_figures(rule, stop, questions)?);
    }
    let counted = questions.len() as u64;
    Some(ReplayReport {
        schema_version: "1.0",
        file: file.to_owned(),
        columns: table.columns.clone(),
        rows: table.rows,
        questions: counted,
        left_out: table.rows.saturating_sub(counted),
        rules: figures,
        agreement: agreement(questions, models.len()),
        limits: limits(questions),
        calibration: calibration(table),
        models,
    })
}

/// Leaves out rules that save nothing in a panel of this size.
fn rules(voters: usize, best: usize) -> impl Iterator<Item = (ReplayRule, StopRule)> {
    let all = [
        (ReplayRule::FullVote, StopRule::FullVote),
        (ReplayRule::VoteLocked, StopRule::VoteLocked),
        (
            ReplayRule::UnanimousThree,
            StopRule::Unanimous { voters: 3 },
        ),
        (ReplayRule::UnanimousTwo, StopRule::Unanimous { voters: 2 }),
        (ReplayRule::Beta95, StopRule::Beta { threshold: 0.95 }),
        (ReplayRule::Beta80, StopRule::Beta { threshold: 0.80 }),
        (ReplayRule::FirstModel, StopRule::Single { voter: 0 }),
        (ReplayRule::BestModel, StopRule::Single { voter: best }),
    ];
    let agreed = vec![Some(AnswerId(0)); voters];
    all.into_iter().filter(move |(rule, stop)| {
        *rule == ReplayRule::FullVote || stop.decide(&agreed).asked < voters
    })
}

fn models(table: &AnswerTable) -> Option<Vec<ModelFigures>> {
    let mut models = Vec::new();
    for (place, RecordedModel { name, not_asked }) in table.models.iter().enumerate() {
        let answer = |question: &RecordedQuestion| question.answers.get(place).copied().flatten();
        let questions = table.questions.iter();
        let unanswered = questions
            .clone()
            .filter(|question| answer(question).is_none());
        let right = questions.map(|question| answer(question) == Some(question.gold));
        models.push(ModelFigures {
            model: name.clone(),
            accuracy: accuracy(Proportion::of(right))?,
            unanswered: unanswered.count() as u64,
            not_asked: *not_asked,
        });
    }
    (!models.is_empty()).then_some(models)
}

fn rule_figures(
    rule: ReplayRule,
    stop: StopRule,
    questions: &[RecordedQuestion],
) -> Option<RuleFigures> {
    let mut pairs = PairedCounts::default();
    let (mut asked, mut all, mut same) = (0, 0, 0);
    for question in questions {
        let decision = stop.decide(&question.answers);
        let full = StopRule::FullVote.decide(&question.answers);
        asked += decision.asked as u64;
        all += question.answers.len() as u64;
        same += u64::from(decision.answer == full.answer);
        pairs.add(
            decision.answer == Some(question.gold),
            full.answer == Some(question.gold),
        );
    }
    let total = pairs.total();
    let (difference, difference_interval) = pairs.difference()?;
    Some(RuleFigures {
        rule,
        accuracy: accuracy(pairs.first())?,
        asked_per_question: number(asked) / number(total),
        saved: 1.0 - Proportion::new(asked, all).share()?,
        same_as_full_vote: Proportion::new(same, total).share()?,
        better: pairs.only_first,
        worse: pairs.only_second,
        p: pairs.mcnemar_p(),
        difference,
        difference_interval,
    })
}

fn agreement(questions: &[RecordedQuestion], voters: usize) -> Vec<AgreementFigures> {
    let mut levels = vec![(0, 0); voters + 1];
    for question in questions {
        let lead = Tally::of(&question.answers).lead();
        if let Some(level) = levels.get_mut(lead.map_or(0, |lead| lead.votes)) {
            level.0 += 1;
            level.1 += u64::from(lead.is_some_and(|lead| lead.answer == question.gold));
        }
    }
    let mut figures = Vec::new();
    for (votes, (all, right)) in levels.into_iter().enumerate().rev() {
        if let Some(accuracy) = accuracy(Proportion::new(right, all)) {
            figures.push(AgreementFigures {
                votes: votes as u64,
                questions: all,
                share: number(all) / number(questions.len() as u64),
                accuracy,
            });
        }
    }
    figures
}

fn limits(questions: &[RecordedQuestion]) -> LimitFigures {
    let is_unanimous_and_wrong = |question: &&RecordedQuestion| {
        Tally::of(&question.answers).lead().is_some_and(|lead| {
            lead.votes == question.answers.len() && lead.answer != question.gold
        })
    };
    let any_is_right =
        |question: &&RecordedQuestion| question.answers.contains(&Some(question.gold));
    LimitFigures {
        unanimous_and_wrong: questions.iter().filter(is_unanimous_and_wrong).count() as u64,
        any_right: questions.iter().filter(any_is_right).count() as u64,
    }
}

/// Compares the probabilities of each method with how often the vote is right. Each half of the
/// questions (every other one, since files are often sorted by subject) is scored with what was
/// learned from the other half.
fn calibration(table: &AnswerTable) -> CalibrationFigures {
    let voters = table.models.len();
    let half = |parity| table.questions.iter().skip(parity).step_by(2);
    let [even, odd] = [0, 1].map(|parity| PanelKnowledge::learn(voters, half(parity)));
    let mut methods = Vec::new();
    for method in VoteProbability::ALL {
        let graded = |question, panel| graded(table, question, panel, method);
        let scored = half(0).filter_map(|question| graded(question, &odd));
        let scored = scored.chain(half(1).filter_map(|question| graded(question, &even)));
        if let Some(reliability) = Reliability::of(scored) {
            methods.push(MethodFigures {
                method,
                reliability,
            });
        }
    }
    let is_known = table.columns.options.is_some();
    CalibrationFigures {
        options: (!is_known).then_some(table.different_answers as u64),
        methods,
    }
}

fn graded(
    table: &AnswerTable,
    question: &RecordedQuestion,
    panel: &PanelKnowledge,
    method: VoteProbability,
) -> Option<GradedConfidence> {
    let lead = Tally::of(&question.answers).lead()?;
    let options = question.options.unwrap_or(table.different_answers);
    Some(GradedConfidence {
        stated: panel.probability(method, &question.answers, options)?,
        right: f64::from(u8::from(lead.answer == question.gold)),
    })
}

fn accuracy(right: Proportion) -> Option<ReplayAccuracy> {
    Some(ReplayAccuracy {
        right: right.part,
        accuracy: right.share()?,
        interval: right.interval()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::replay::report::AnswerColumns;

    /// Returns a table of rows like `A ABB`: the right answer, then those of the voters, `-` for
    /// none.
    fn table(rows: &[&str]) -> AnswerTable {
        let key = |c: char| (c != '-').then_some(AnswerId(u32::from(c)));
        let mut questions = Vec::new();
        for row in rows {
            let (gold, answers) = row.split_once(' ').unwrap();
            questions.push(RecordedQuestion {
                gold: key(gold.chars().next().unwrap()).unwrap(),
                answers: answers.chars().map(key).collect(),
                options: None,
            });
        }
        let voters = questions
            .first()
            .map_or(0, |question| question.answers.len());
        let model = |at| RecordedModel {
            name: format!("m{at}"),
            not_asked: 0,
        };
        AnswerTable {
            columns: AnswerColumns {
                gold: "gold".to_owned(),
                id: None,
                options: None,
            },
            models: (1..=voters).map(model).collect(),
            rows: questions.len() as u64,
            questions,
            different_answers: 3,
        }
    }

    fn report(rows: &[&str]) -> ReplayReport {
        measure(&table(rows), "answers.csv").unwrap()
    }

    /// Right by the vote: rows 1, 2, 4. The second voter is right in 1, 2, 4, 5; the first in 1, 3.
    const ROWS: [&str; 5] = ["A AAAA", "B ABBC", "A ABBB", "C BCC-", "A BAB-"];

    fn figures(rule: ReplayRule) -> RuleFigures {
        let mut rules = report(&ROWS).rules.into_iter();
        rules.find(|figures| figures.rule == rule).unwrap()
    }

    #[test]
    fn full_vote_is_counted_by_hand() {
        let figures = figures(ReplayRule::FullVote);
        assert_eq!(figures.accuracy.right, 3);
        assert!((figures.asked_per_question - 4.0).abs() < 1e-12);
        assert!(figures.saved.abs() < 1e-12);
        assert!((figures.p - 1.0).abs() < 1e-12);
    }

    #[test]
    fn locked_vote_saves_answers_and_changes_none() {
        // Asked: AAAA 2 (B B only draws level), ABBC 4 (A could draw level and was first), ABBB 4,
        // BCC- 4, BAB- 3.
        let figures = figures(ReplayRule::VoteLocked);
        assert_eq!(figures.accuracy.right, 3);
        assert!((figures.asked_per_question - 17.0 / 5.0).abs() < 1e-12);
        assert!((figures.same_as_full_vote - 1.0).abs() < 1e-12);
    }

    #[test]
    fn single_models_win_and_lose_against_the_vote() {
        let first = figures(ReplayRule::FirstModel);
        assert_eq!(first.accuracy.right, 2);
        assert_eq!(first.better, 1);
        assert_eq!(first.worse, 2);
        let best = figures(ReplayRule::BestModel);
        assert_eq!(best.accuracy.right, 4);
        assert_eq!(best.better, 1);
        assert_eq!(best.worse, 0);
        assert!((best.saved - 0.75).abs() < 1e-12);
    }

    #[test]
    fn agreement_counts_questions_by_votes_for_the_answer() {
        let levels = report(&ROWS).agreement;
        let counts: Vec<_> = levels
            .iter()
            .map(|level| [level.votes, level.questions, level.accuracy.right])
            .collect();
        assert_eq!(counts, [[4, 1, 1], [3, 1, 0], [2, 3, 2]]);
    }

    #[test]
    fn limits_count_what_no_rule_sees() {
        let limits = report(&["A BBB", "A BBA", "B BBB", "A --B"]).limits;
        assert_eq!(limits.unanimous_and_wrong, 1);
        assert_eq!(limits.any_right, 2);
    }

    #[test]
    fn rules_that_would_always_ask_all_are_left_out() {
        let has = |voters, rule| rules(voters, 0).any(|(other, _)| other == rule);
        assert!(!has(2, ReplayRule::UnanimousTwo));
        assert!(has(3, ReplayRule::UnanimousTwo));
        assert!(!has(3, ReplayRule::UnanimousThree));
        assert!(has(4, ReplayRule::UnanimousThree));
        assert!(!has(4, ReplayRule::Beta95));
        assert!(has(5, ReplayRule::Beta95));
    }

    #[test]
    fn nothing_is_measured_without_questions() {
        assert_eq!(measure(&table(&[]), "answers.csv"), None);
    }

    /// Each half must be scored by what the other half shows: a voter that is right on even rows
    /// only is trusted on odd rows, where it is wrong.
    #[test]
    fn probabilities_are_not_learned_from_the_questions_they_score() {
        let rows: Vec<&str> = (0..200)
            .map(|at| if at % 2 == 0 { "A AA" } else { "A BB" })
            .collect();
        let methods = report(&rows).calibration.methods;
        let shrunk = methods
            .iter()
            .find(|method| method.method == VoteProbability::Shrunk);
        assert!(shrunk.unwrap().reliability.brier > 0.5, "{methods:?}");
    }

    #[test]
    fn questions_without_any_vote_have_no_probability() {
        let methods = report(&["A AA", "A --", "B AB"]).calibration.methods;
        assert_eq!(methods[0].method, VoteProbability::RawShare);
        assert_eq!(methods[0].reliability.count, 2);
    }
}
