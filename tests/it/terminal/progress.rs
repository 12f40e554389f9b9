//! What a pipe or a log gets while a consultation runs.

use conclave::consultation::event::Envelope;
use conclave::engine::ports::Subscriber;
use conclave::terminal::printer::Verbosity;
use conclave::terminal::progress::Progress;

use super::printing::Captured;
use crate::support::sample;

fn lines(events: &[Envelope], verbosity: Verbosity, width: Option<u16>) -> String {
    let captured = Captured::new(verbosity, width);
    let mut progress = Progress::plain(captured.printer.clone());
    for event in events {
        progress.event(event).unwrap();
    }
    assert_eq!(captured.out(), "", "progress never goes to standard output");
    captured.err()
}

#[test]
fn a_pipe_gets_the_panel_before_anything_is_spent_and_then_one_line_an_event() {
    insta::assert_snapshot!(lines(&sample::complete(), Verbosity::Normal, None));
}

#[test]
fn one_family_and_local_models_are_called_what_they_are() {
    let text = lines(&sample::degraded(), Verbosity::Normal, None);
    assert!(text.contains("agreement within one family is weak evidence"));
    assert!(text.contains("local model, demonstration quality"));
    insta::assert_snapshot!(text);
}

#[test]
fn verbose_adds_the_estimate_and_what_was_wrong_with_answers() {
    insta::assert_snapshot!(lines(&sample::troubled(), Verbosity::Verbose, None));
}

#[test]
fn quiet_says_nothing() {
    assert_eq!(lines(&sample::degraded(), Verbosity::Quiet, None), "");
}

#[test]
fn no_line_is_wider_than_a_narrow_terminal() {
    for width in [20, 40, 60] {
        for line in lines(&sample::degraded(), Verbosity::Verbose, Some(width)).lines() {
            assert!(console::measure_text_width(line) <= usize::from(width), "{width}: {line}");
        }
    }
}
