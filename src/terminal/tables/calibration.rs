//! `consult-stats --calibration` as a screen: stated confidence beside actual outcomes.

use crate::benchmark::report::words::whole_percent;
use crate::domain::statistics::{Range, Span};
use crate::stopping::calibration::{Calibration, Reliability};

use super::dashboard::span::within;
use super::writer::ScreenText;
use crate::terminal::output::format::count;
use crate::terminal::output::style::Paint;
use crate::text::clean::one_line;

/// Shown when no answer has been graded.
const NOTHING: &str = "
Grade one:
  conclave history outcome last right|wrong|mixed
";

/// The columns after the name.
const HEADS: [&str; 5] = ["graded", "stated", "right", "Brier", "ECE"];

const LEGEND: &str = "A partly right answer counts as half. Brier: mean squared difference between \
    stated confidence and outcome; 0 is best. ECE: mean distance between the two over ten bins. \
    Only experts that supported the answer count.";

/// Returns the screen for a terminal of this width.
pub fn screen(calibration: &Calibration, range: &Range, width: usize, paint: Paint) -> String {
    let mut screen = ScreenText::new(Some(width), paint);
    if calibration.graded.total == 0 {
        screen.wrapped(&format!("No answer{} has been graded.", of(range)));
        screen.text.push_str(NOTHING);
    } else {
        show(&mut screen, calibration, range);
    }
    screen.text
}

/// Names the range in a phrase.
fn of(range: &Range) -> String {
    match range.span {
        Span::AllTime
        | Span::Days {
            since: None,
            until: None,
        } => String::new(),
        Span::Week | Span::Month(_) | Span::Days { .. } => {
            format!(" of a consultation {}", within(range))
        }
    }
}

fn show(screen: &mut ScreenText, calibration: &Calibration, range: &Range) {
    let Calibration {
        graded,
        answers,
        by_judge,
        by_expert,
        by_agreement,
    } = calibration;
    screen.heading("Calibration");
    screen.wrapped(&format!(
        "{}{} graded: {} right, {} in part, {} wrong",
        count(graded.total, "answer"),
        of(range),
        graded.right,
        graded.mixed,
        graded.wrong
    ));
    let all = answers.iter().map(|all| reliability("all answers", all));
    screen.table("By verdict", &HEADS, &all.collect::<Vec<_>>());
    for (title, models) in [("By judge", by_judge), ("By expert", by_expert)] {
        let models = models.iter();
        let rows = models.map(|(model, of)| reliability(&one_line(&model.to_string()), of));
        screen.table(title, &HEADS, &rows.collect::<Vec<_>>());
    }
    let bins = answers.iter().flat_map(|all| &all.bins).map(|bin| {
        vec![
            format!("{:.0}-{}", bin.from * 100.0, whole_percent(bin.to)),
            bin.count.to_string(),
            whole_percent(bin.mean_stated),
            whole_percent(bin.mean_right),
        ]
    });
    let heads = ["graded", "stated", "right"];
    screen.table("By stated confidence", &heads, &bins.collect::<Vec<_>>());
    let levels = by_agreement.iter().map(|level| {
        vec![
            whole_percent(level.agreement),
            level.count.to_string(),
            whole_percent(level.mean_right),
        ]
    });
    let heads = ["graded", "right"];
    screen.table(
        "By agreement of the panel",
        &heads,
        &levels.collect::<Vec<_>>(),
    );
    screen.text.push('\n');
    screen.legend(LEGEND);
}

/// Returns the row of a name: count, mean confidence, share right, Brier score and ECE.
pub(super) fn reliability(name: &str, of: &Reliability) -> Vec<String> {
    vec![
        name.to_owned(),
        of.count.to_string(),
        whole_percent(of.mean_stated),
        whole_percent(of.mean_right),
        format!("{:.3}", of.brier),
        format!("{:.3}", of.expected_calibration_error),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ModelRef;
    use crate::stopping::calibration::{GradedAnswers, GradedConfidence, Level};
    use console::measure_text_width;

    fn range(span: Span) -> Range {
        Range {
            span,
            from: None,
            until: None,
            time_zone: "UTC".to_owned(),
        }
    }

    fn sample() -> Calibration {
        let of = |pairs: &[(f64, f64)]| {
            Reliability::of(
                pairs
                    .iter()
                    .map(|&(stated, right)| GradedConfidence { stated, right }),
            )
        };
        let all = of(&[(0.9, 1.0), (0.9, 0.0), (0.6, 1.0), (0.5, 0.5)]);
        let of_model = |model: &str| {
            let model: ModelRef = model.parse().unwrap();
            all.clone().map(|of| (model, of)).into_iter().collect()
        };
        Calibration {
            graded: GradedAnswers {
                total: 4,
                right: 2,
                mixed: 1,
                wrong: 1,
            },
            by_judge: of_model("openai:gpt-6.1-sol"),
            by_expert: of_model("openrouter:a-vendor/with-a-model-of-a-long-name:free"),
            answers: all,
            by_agreement: vec![
                Level {
                    agreement: 1.0,
                    count: 3,
                    mean_right: 0.5,
                },
                Level {
                    agreement: 2.0 / 3.0,
                    count: 1,
                    mean_right: 1.0,
                },
            ],
        }
    }

    #[test]
    fn stated_confidence_stands_beside_outcomes() {
        insta::assert_snapshot!(screen(&sample(), &range(Span::AllTime), 100, Paint::Plain));
    }

    #[test]
    fn narrow_terminal_gets_names_above_their_figures() {
        let narrow = screen(&sample(), &range(Span::Week), 42, Paint::Plain);
        insta::assert_snapshot!(narrow);
        for line in narrow.lines() {
            assert!(measure_text_width(line) <= 42, "{line}");
        }
    }

    #[test]
    fn screen_without_grades_explains_how_to_give_one() {
        let nothing = |span| screen(&Calibration::default(), &range(span), 80, Paint::Plain);
        assert_eq!(
            nothing(Span::AllTime),
            format!("No answer has been graded.\n{NOTHING}")
        );
        assert!(
            nothing(Span::Week)
                .starts_with("No answer of a consultation in the last 7 days has been graded.\n")
        );
    }
}
