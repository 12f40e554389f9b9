//! `consult-stats --calibration` as a screen: stated confidence beside actual outcomes.

use std::fmt::Write;

use console::measure_text_width;

use crate::domain::statistics::{Range, Span};
use crate::stopping::calibration::{Calibration, Reliability};

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
const WIDTH_OF_FIGURE: usize = 8;

const LEGEND: &str = "A partly right answer counts as half. Brier: mean squared difference between \
    stated confidence \
    and outcome; 0 is best. ECE: mean distance between the two over ten bins. Only experts that \
    supported the answer count.";

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

/// A name and its figures.
type FigureRow = (String, Vec<String>);

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
        self.line(&self.paint.heading("Calibration"));
        self.wrapped(&format!(
            "{}{} graded: {right} right, {mixed} in part, {wrong} wrong",
            count(graded, "answer"),
            of(range)
        ));
        self.table(
            "By verdict",
            &HEADS,
            &answers
                .iter()
                .map(|all| reliability("all answers", all))
                .collect::<Vec<_>>(),
        );
        for (title, models) in [("By judge", judges), ("By expert", experts)] {
            let rows: Vec<FigureRow> = models
                .iter()
                .map(|(model, of)| reliability(&one_line(&model.to_string()), of))
                .collect();
            self.table(title, &HEADS, &rows);
        }
        let bins = answers.iter().flat_map(|all| &all.bins).map(|bin| {
            let name = format!("{:.0}-{}", bin.from * 100.0, percent(bin.to));
            (
                name,
                vec![
                    bin.count.to_string(),
                    percent(bin.mean_stated),
                    percent(bin.mean_right),
                ],
            )
        });
        self.table(
            "By stated confidence",
            &["graded", "stated", "right"],
            &bins.collect::<Vec<_>>(),
        );
        let levels = by_agreement.iter().map(|level| {
            (
                percent(level.agreement),
                vec![level.count.to_string(), percent(level.mean_right)],
            )
        });
        self.table(
            "By agreement of the panel",
            &["graded", "right"],
            &levels.collect::<Vec<_>>(),
        );
        self.line("");
        let legend = textwrap::fill(LEGEND, self.width);
        self.line(&self.paint.dim(&legend));
    }

    /// Writes names beside their figures, or above them where both do not fit on a line. Without
    /// rows there is no table.
    fn table(&mut self, title: &str, heads: &[&str], rows: &[FigureRow]) {
        let Some(widest) = rows.iter().map(|(name, _)| measure_text_width(name)).max() else {
            return;
        };
        self.line("");
        self.line(&self.paint.cyan(title));
        let beside = widest + WIDTH_OF_FIGURE * heads.len() <= self.width;
        let indent = if beside { widest } else { 0 };
        let head = format!("{}{}", " ".repeat(indent), figures(heads));
        self.line(&self.paint.dim(&head));
        for (name, values) in rows {
            if beside {
                self.line(&format!(
                    "{name}{}{}",
                    " ".repeat(indent - measure_text_width(name)),
                    figures(values)
                ));
            } else {
                self.wrapped(name);
                self.line(&figures(values));
            }
        }
    }

    fn wrapped(&mut self, line: &str) {
        let filled = textwrap::fill(
            line,
            textwrap::Options::new(self.width).word_splitter(textwrap::WordSplitter::NoHyphenation),
        );
        self.line(&filled);
    }

    fn line(&mut self, line: &str) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.text, "{}", line.trim_end());
    }
}

fn reliability(name: &str, of: &Reliability) -> FigureRow {
    let scores = [of.brier, of.expected_calibration_error].map(|score| format!("{score:.3}"));
    let shares = [of.mean_stated, of.mean_right].map(percent);
    (
        name.to_owned(),
        [of.count.to_string()]
            .into_iter()
            .chain(shares)
            .chain(scores)
            .collect(),
    )
}

fn figures(values: &[impl AsRef<str>]) -> String {
    values.iter().fold(String::new(), |mut line, value| {
        // Writing to a `String` cannot fail.
        let _ = write!(line, "{:>WIDTH_OF_FIGURE$}", value.as_ref());
        line
    })
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ModelRef;
    use crate::stopping::calibration::{GradedConfidence, Level};

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
        Calibration {
            right: 2,
            mixed: 1,
            wrong: 1,
            judges: all
                .clone()
                .map(|of| (ModelRef::new("openai", "gpt-6.1-sol"), of))
                .into_iter()
                .collect(),
            experts: all
                .clone()
                .map(|of| {
                    (
                        ModelRef::new("openrouter", "a-vendor/with-a-model-of-a-long-name:free"),
                        of,
                    )
                })
                .into_iter()
                .collect(),
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
