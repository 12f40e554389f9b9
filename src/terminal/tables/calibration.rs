//! `consult-stats --calibration` as a screen: stated confidence beside actual outcomes.

use crate::domain::statistics::{Range, Span};
use crate::stopping::calibration::{Calibration, Reliability};

use super::columns::{figures_table, hanging};
use super::dashboard::span::within;
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::count;
use crate::terminal::output::style::Paint;

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
    let mut screen = CalibrationScreen {
        text: String::new(),
        width: width.clamp(20, 100),
        paint,
    };
    if calibration.graded() == 0 {
        screen.wrapped(&format!("No answer{} has been graded.", of(range)));
        screen.text.push_str(NOTHING);
    } else {
        screen.show(calibration, range);
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

struct CalibrationScreen {
    text: String,
    width: usize,
    paint: Paint,
}

impl CalibrationScreen {
    fn show(&mut self, calibration: &Calibration, range: &Range) {
        let Calibration {
            right,
            mixed,
            wrong,
            answers,
            experts,
            judges,
            by_agreement,
        } = calibration;
        let graded = usize::try_from(calibration.graded()).unwrap_or(usize::MAX);
        self.text.extend([&self.paint.heading("Calibration"), "\n"]);
        self.wrapped(&format!(
            "{}{} graded: {right} right, {mixed} in part, {wrong} wrong",
            count(graded, "answer"),
            of(range)
        ));
        let all = answers.iter().map(|all| reliability("all answers", all));
        self.table("By verdict", &HEADS, all);
        for (title, models) in [("By judge", judges), ("By expert", experts)] {
            let rows = models
                .iter()
                .map(|(model, of)| reliability(&one_line(&model.to_string()), of));
            self.table(title, &HEADS, rows);
        }
        let bins = answers.iter().flat_map(|all| &all.bins).map(|bin| {
            vec![
                format!("{:.0}-{}", bin.from * 100.0, percent(bin.to)),
                bin.count.to_string(),
                percent(bin.mean_stated),
                percent(bin.mean_right),
            ]
        });
        self.table("By stated confidence", &["graded", "stated", "right"], bins);
        let levels = by_agreement.iter().map(|level| {
            vec![
                percent(level.agreement),
                level.count.to_string(),
                percent(level.mean_right),
            ]
        });
        self.table("By agreement of the panel", &["graded", "right"], levels);
        let legend = hanging("", LEGEND, 0, Some(self.width));
        self.text.extend(["\n", &self.paint.dim(&legend)]);
    }

    /// Writes a table of figures; nothing without rows.
    fn table(&mut self, title: &str, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            let table = figures_table(heads, &rows, self.width, self.paint);
            self.text
                .extend(["\n", &self.paint.cyan(title), "\n", &table]);
        }
    }

    fn wrapped(&mut self, line: &str) {
        self.text.push_str(&hanging("", line, 0, Some(self.width)));
    }
}

/// Returns the row of a name.
fn reliability(name: &str, of: &Reliability) -> Vec<String> {
    vec![
        name.to_owned(),
        of.count.to_string(),
        percent(of.mean_stated),
        percent(of.mean_right),
        format!("{:.3}", of.brier),
        format!("{:.3}", of.expected_calibration_error),
    ]
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ModelRef;
    use crate::stopping::calibration::{GradedConfidence, Level};
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
            right: 2,
            mixed: 1,
            wrong: 1,
            judges: of_model("openai:gpt-6.1-sol"),
            experts: of_model("openrouter:a-vendor/with-a-model-of-a-long-name:free"),
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
