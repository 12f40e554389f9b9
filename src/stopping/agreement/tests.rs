//! The probability by size and agreement, and how it stands the recorded answers.

use std::collections::BTreeSet;
use std::fs;

use super::*;
use crate::stopping::calibration::{GradedConfidence, Reliability};

#[test]
fn each_size_and_agreement_has_its_probability() {
    for (supporters, answered, expected) in [
        (3, 3, "0.851"),
        (2, 3, "0.553"),
        (1, 3, "0.211"),
        (5, 5, "0.889"),
        (7, 7, "0.909"),
        (4, 7, "0.582"),
        (1, 7, "0.163"),
        // As seven of seven: nothing larger was fitted.
        (20, 20, "0.909"),
    ] {
        let found = probability(supporters, answered).unwrap();
        assert_eq!(
            format!("{found:.3}"),
            expected,
            "{supporters} of {answered}"
        );
    }
}

#[test]
fn few_answers_and_no_support_have_no_probability() {
    for (supporters, answered) in [(0, 0), (1, 1), (2, 2), (0, 3), (4, 3)] {
        assert_eq!(probability(supporters, answered), None);
    }
}

#[test]
fn supporters_never_lower_it_and_opponents_never_raise_it() {
    for answered in FEWEST..40 {
        for supporters in 1..answered {
            let before = probability(supporters, answered);
            assert!(probability(supporters + 1, answered) > before);
            assert!(probability(supporters + 1, answered + 1) > before);
            assert!(probability(supporters, answered + 1) < before);
        }
    }
}

const RECORDED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../shared/data/mmlupro_answers.csv"
);

/// Those with an accuracy above 40 %, the strongest first.
const MODELS: [&str; 14] = [
    "gemini-1.5-pro-002",
    "gemini-1.5-flash-002",
    "DeepSeek-Coder-V2",
    "Meta-Llama-3_1-70B-Instruct",
    "Meta-Llama-3_1-70B",
    "Meta-Llama-3-70B",
    "jamba-1.5-large",
    "Qwen1.5-110B",
    "Qwen1.5-72B-Chat",
    "Meta-Llama-3_1-8B-Instruct",
    "Yi-34B",
    "mathstral-7B",
    "Mixtral-8x7B-Instruct-v0.1",
    "Phi-3-mini-4k-instruct",
];

/// A question that the fit has not seen: the right answer, then those of the models, with a blank
/// for none and `-` for a model that was not asked.
fn other_questions() -> Option<Vec<(char, [char; 14])>> {
    let table = fs::read_to_string(RECORDED).ok()?;
    let mut rows = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next()?;
    let column = |name| names.iter().position(|other| *other == name).unwrap();
    let (gold, columns) = (column("gold"), MODELS.map(column));
    let answer = |row: &Vec<&str>, at: usize| row[at].chars().next().unwrap_or(' ');
    let question = |row| (answer(&row, gold), columns.map(|at| answer(&row, at)));
    Some(rows.skip(1).step_by(2).map(question).collect())
}

/// Grades a panel, as the bits of its models' places, on the questions that all were asked. Of
/// answers that lead together, each counts in part.
fn graded(panel: u32, questions: &[(char, [char; 14])]) -> Vec<GradedConfidence> {
    let graded = |(gold, answers): &(char, [char; 14])| {
        let seats = (0..14).filter(|at| panel >> at & 1 == 1);
        let given: Vec<char> = seats
            .map(|at| answers[at])
            .filter(|it| *it != ' ')
            .collect();
        let votes = |answer: &char| given.iter().filter(|given| *given == answer).count();
        let most = given
            .iter()
            .map(votes)
            .max()
            .filter(|_| !given.contains(&'-'))?;
        let leading: BTreeSet<&char> = given.iter().filter(|it| votes(it) == most).collect();
        Some(GradedConfidence {
            stated: probability(most, given.len())?,
            right: f64::from(u8::from(leading.contains(gold))) / number(leading.len()),
        })
    };
    questions.iter().filter_map(graded).collect()
}

fn error(graded: Vec<GradedConfidence>) -> f64 {
    Reliability::of(graded).unwrap().expected_calibration_error
}

/// Without the recorded answers there is nothing to measure.
#[test]
fn panels_are_right_as_often_as_it_says_on_questions_it_was_not_fitted_on() {
    let Some(questions) = other_questions() else {
        return;
    };
    for size in 3..=7 {
        let strongest = error(graded((1 << size) - 1, &questions));
        let sized = (0..1_u32 << 14).filter(|panel| panel.count_ones() == size);
        // Some twenty panels of each size.
        let some = sized.clone().step_by(sized.count() / 20);
        let panels: Vec<_> = some.map(|panel| graded(panel, &questions)).collect();
        let mean = panels.iter().cloned().map(error).sum::<f64>() / number(panels.len());
        let together = error(panels.concat());
        assert!(
            [strongest, mean, together]
                .iter()
                .all(|error| *error <= 0.06),
            "{size}: {strongest} {mean} {together}"
        );
    }
}
