//! `consult-stats --calibration` as a screen: stated confidence beside actual outcomes.

use super::dashboard::span::within;
use crate::benchmark::report::words::whole_percent;
use crate::domain::record::statistics::Range;
use crate::stopping::calibration::Calibration;
use crate::terminal::document::{self, Line, Part, Table, paragraph, titled};
use crate::terminal::output::format::count;
use crate::terminal::output::style::{Paint, Tone};
use crate::terminal::report::benchmark::{bins, diagram, reliability_row};

const HEADS: [&str; 6] = ["", "graded", "stated", "right", "Brier", "ECE"];

const LEGEND: &str = "A partly right answer counts as half. Brier: mean squared difference between \
    stated confidence and outcome; 0 is best. ECE: mean distance between the two over ten bins. \
    Only experts that supported the answer count.";

pub fn screen(calibration: &Calibration, range: &Range, width: usize, paint: Paint) -> String {
    let bins = calibration.answers.as_ref().and_then(bins);
    document::screen(&parts(calibration, range, bins), Some(width), paint)
}

/// On a page, below its own title and with the diagram.
pub fn page_parts(calibration: &Calibration, range: &Range) -> Vec<Part> {
    let all = calibration.answers.as_ref();
    let diagram = all.map(|all| diagram("panel", "Confidence and outcome".to_owned(), all));
    let diagram = diagram.map(|diagram| Part::Articles(vec![diagram]));
    // The diagram has the table of the bins.
    let parts = parts(calibration, range, None);
    let parts = parts.into_iter().filter_map(|part| match part {
        Part::Heading(1, _) => None,
        Part::Heading(_, title) => Some(Part::Heading(3, title)),
        part => Some(part),
    });
    diagram.into_iter().chain(parts).collect()
}

fn of(range: &Range) -> String {
    let of = |range| format!("of a consultation {range}");
    within(range).map(of).unwrap_or_default()
}

fn parts(calibration: &Calibration, range: &Range, bins: Option<Part>) -> Vec<Part> {
    let Calibration {
        graded,
        answers,
        by_judge,
        by_expert,
        by_agreement,
    } = calibration;
    if graded.total == 0 {
        let command = "conclave history outcome last right|wrong|mixed".to_owned();
        return vec![
            Part::Paragraph(
                Line::of("No answer", [])
                    .with(" {}", &of(range))
                    .and(" has been graded.", []),
            ),
            Part::Next(vec![(command, "Grade one".to_owned())]),
        ];
    }
    let numbers = [graded.right, graded.mixed, graded.wrong].map(|number| number.to_string());
    let [right, mixed, wrong] = numbers.each_ref().map(String::as_str);
    let all = [count(graded.total, "answer"), of(range)].join(" ");
    let words = [&all, right, mixed, wrong];
    let mut parts = vec![
        Part::Heading(1, "Calibration".into()),
        paragraph("{} graded: {} right, {} in part, {} wrong", words),
    ];
    let all = answers
        .iter()
        .map(|all| reliability_row("all answers".to_owned(), all));
    parts.extend(titled(2, "By verdict", Table::of(1, &HEADS, all)));
    for (title, models) in [("By judge", by_judge), ("By expert", by_expert)] {
        let models = models.iter();
        let rows = models.map(|(model, of)| reliability_row(model.to_string(), of));
        parts.extend(titled(2, title, Table::of(1, &HEADS, rows)));
    }
    parts.extend(titled(2, "By stated confidence", bins));
    let levels = by_agreement.iter().map(|level| {
        vec![
            whole_percent(level.agreement),
            level.count.to_string(),
            whole_percent(level.mean_right),
        ]
    });
    let levels = Table::of(1, &["", "graded", "right"], levels);
    parts.extend(titled(2, "By agreement of the panel", levels));
    parts.push(Part::Paragraph(Line::toned(Tone::Quiet, LEGEND)));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ModelRef;
    use crate::domain::record::statistics::Span;
    use crate::stopping::calibration::{GradedAnswers, GradedConfidence, Level, Reliability};
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
        insta::assert_snapshot!(screen(&sample(), &range(Span::AllTime), 100, Paint::PLAIN));
    }

    #[test]
    fn narrow_terminal_gets_names_above_their_figures() {
        let narrow = screen(&sample(), &range(Span::Week), 42, Paint::PLAIN);
        insta::assert_snapshot!(narrow);
        for line in narrow.lines() {
            assert!(measure_text_width(line) <= 42, "{line}");
        }
    }

    #[test]
    fn screen_without_grades_explains_how_to_give_one() {
        let nothing = |span| screen(&Calibration::default(), &range(span), 80, Paint::PLAIN);
        assert_eq!(
            nothing(Span::AllTime),
            "No answer has been graded.\n\nGrade one:\n  conclave history outcome last \
             right|wrong|mixed\n"
        );
        assert!(
            nothing(Span::Week)
                .starts_with("No answer of a consultation in the last 7 days has been graded.\n")
        );
    }
}
