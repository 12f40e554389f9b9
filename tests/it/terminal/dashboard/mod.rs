//! The dashboard for full, empty, small and unpriced statistics, at every width, with and without
//! colour and Unicode.

mod page;
mod sample_statistics;
mod targets;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use conclave::domain::model::vendors;
use conclave::domain::record::statistics::Statistics;
use conclave::terminal::charset::Charset;
use conclave::terminal::output::style::Paint;
use conclave::terminal::tables::dashboard::{Border, Canvas, dashboard};
use console::{measure_text_width, strip_ansi_codes};

use sample_statistics::{aborted_only, all, empty, full, hostile, unpriced};

fn canvas(width: usize, charset: Charset) -> Canvas {
    Canvas {
        width,
        paint: Paint {
            charset,
            ..Paint::PLAIN
        },
        border: Border::Frame,
    }
}

fn draw(statistics: &Statistics, canvas: Canvas) -> String {
    dashboard(statistics, vendors::name, canvas)
}

/// Draws the dashboard at the usual widths, in Unicode and ASCII, and without a terminal.
fn at_every_width(statistics: &Statistics) -> String {
    let mut text = String::new();
    for (width, charset) in [
        (40, Charset::Unicode),
        (80, Charset::Unicode),
        (160, Charset::Unicode),
        (40, Charset::Ascii),
        (80, Charset::Ascii),
    ] {
        writeln!(
            text,
            "=== {width} columns, {charset:?}\n{}",
            draw(statistics, canvas(width, charset))
        )
        .unwrap();
    }
    text + "=== no terminal\n"
        + &draw(
            statistics,
            Canvas {
                border: Border::None,
                ..canvas(80, Charset::Unicode)
            },
        )
}

#[test]
fn the_full_dashboard_matches_its_snapshot() {
    let text = at_every_width(&full());
    insta::assert_snapshot!("full", text);
    for line in include_str!("../seed_dashboard.txt").lines() {
        assert!(text.contains(line), "`{line}` is not in:\n{text}");
    }
}

#[test]
fn saving_with_an_unknown_part_is_marked_as_a_lower_bound() {
    let mut statistics = full();
    statistics.early_termination.saved.lower_bound = true;
    let text = draw(&statistics, canvas(100, Charset::Unicode));
    assert!(text.contains("Saved (estimated): ≥ $0.84"), "{text}");
}

#[test]
fn sparse_statistics_show_only_known_figures() {
    insta::assert_snapshot!("aborted_only", at_every_width(&aborted_only()));
    insta::assert_snapshot!("unpriced", at_every_width(&unpriced()));
    insta::assert_snapshot!("empty", at_every_width(&empty()));
    insta::assert_snapshot!("hostile", at_every_width(&hostile()));
}

#[test]
fn no_line_exceeds_the_terminal_and_the_frame_is_aligned() {
    for (number, statistics) in all().iter().enumerate() {
        // The widths at which the frame, its columns and its marks change, and their neighbours.
        let widths = [
            20, 23, 31, 39, 40, 41, 53, 67, 79, 80, 81, 97, 100, 119, 120, 121, 170,
        ];
        for (charset, width) in widths
            .into_iter()
            .flat_map(|width| [(Charset::Unicode, width), (Charset::Ascii, width)])
        {
            let text = draw(statistics, canvas(width, charset));
            let (frame, below) = text.split_once("\n\n").unwrap();
            let widths: Vec<usize> = frame.lines().map(measure_text_width).collect();
            assert!(
                below
                    .lines()
                    .map(measure_text_width)
                    .all(|line| line <= width),
                "{number} at {width}:\n{text}"
            );
            if width < 40 {
                assert!(
                    widths.iter().all(|line| *line <= width),
                    "{number} at {width}:\n{text}"
                );
            } else {
                assert!(
                    widths.iter().all(|line| *line == widths[0]) && widths[0] <= width,
                    "{number} at {width}:\n{text}"
                );
            }
        }
    }
}

#[test]
fn colour_changes_no_character_and_sets_no_background() {
    for statistics in all() {
        for (width, border) in [
            (40, Border::Frame),
            (80, Border::Frame),
            (160, Border::Frame),
            (80, Border::None),
        ] {
            let plain = Canvas {
                border,
                ..canvas(width, Charset::Unicode)
            };
            let coloured = draw(
                &statistics,
                Canvas {
                    paint: Paint::COLOUR,
                    ..plain
                },
            );
            assert_eq!(strip_ansi_codes(&coloured), draw(&statistics, plain));
            let codes: BTreeSet<&str> = coloured
                .split("\u{1b}[")
                .skip(1)
                .map(|rest| rest.split_once('m').unwrap().0)
                .collect();
            // Bold, dim, red, green, yellow, cyan, and their end: neither black nor white.
            assert!(
                codes.is_subset(&BTreeSet::from(["0", "1", "2", "31", "32", "33", "36"])),
                "{codes:?}"
            );
        }
    }
    for (name, statistics, width) in [
        ("full_in_colour", full(), 100),
        ("aborted_only_in_colour", aborted_only(), 40),
    ] {
        let coloured = Canvas {
            paint: Paint::COLOUR,
            ..canvas(width, Charset::Unicode)
        };
        insta::assert_snapshot!(name, draw(&statistics, coloured));
    }
}

#[test]
fn the_ascii_dashboard_is_ascii_with_the_same_figures() {
    for statistics in all() {
        let text = draw(&statistics, canvas(80, Charset::Ascii));
        // What is not drawn, the name of a model, stays as it is.
        let is_fine = |c: char| c.is_ascii() || c.is_alphanumeric() || c == '🦀';
        assert!(text.chars().all(is_fine), "{text}");
        for wrong in ["NaN", "inf", "None", "(0/0)", "-0"] {
            assert!(
                !text.replace("-0.6b", "").replace("-07", "").contains(wrong),
                "{wrong}: {text}"
            );
        }
    }
}
