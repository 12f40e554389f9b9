//! The report as Markdown and on the screen.

use conclave::consultation::event::{CallEvent, CallStarted, Envelope, Event};
use conclave::consultation::transcript::Transcript;
use conclave::domain::answer::artifact::Content;
use conclave::terminal::markdown::render::render;
use conclave::terminal::output::style::Paint;
use conclave::terminal::report::report;

use crate::consultation::debate_value::contents;
use crate::support::sample_events;

fn markdown(events: &[Envelope]) -> String {
    report(&Transcript::fold(events).unwrap().stored_record())
}

#[test]
fn a_complete_report_matches_its_snapshot() {
    insta::assert_snapshot!(markdown(&sample_events::complete()));
}

#[test]
fn a_menu_shows_each_option_without_a_joint_confidence() {
    let text = markdown(&sample_events::explored());
    assert!(
        text.contains("**Confidence:** each option has its own  \n") && !text.contains("## Answer"),
        "{text}"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn hostile_options_stay_within_their_section() {
    let shape = |events: &[Envelope]| -> Vec<String> {
        markdown(events)
            .lines()
            .filter_map(|line| {
                Some(line.split_once("# ")?.0.to_owned())
                    .filter(|marks| marks.chars().all(|c| c == '#') && marks.len() < 4)
            })
            .collect()
    };
    assert_eq!(
        shape(&sample_events::explored_hostile()),
        shape(&sample_events::explored())
    );
    let text = markdown(&sample_events::explored_hostile());
    assert!(
        !text.contains('\u{1b}') && !text.replace("\\<", "").contains("<script>"),
        "{text}"
    );
}

#[test]
fn an_answer_without_a_verdict_is_marked_as_provisional() {
    let text = markdown(&sample_events::provisional());
    let answer = "## Answer\n\n_provisional, by the judge after Round 2_\n\nDelegate access with tokens, for now.\n\n### They agree on\n\n- OAuth 2.0 for delegation";
    assert!(text.contains(answer), "{text}");
    let change = "**Would change it:** A second client next year";
    assert!(text.contains(change), "{text}");
    assert!(!markdown(&sample_events::complete()).contains("provisional, by"));
}

#[test]
fn without_any_answer_the_agreements_and_differences_stand_in_its_place() {
    let mut events = sample_events::provisional();
    for content in contents(&mut events) {
        if let Content::Synthesis(synthesis) = content {
            synthesis.provisional_answer = None;
        }
    }
    let record = Transcript::fold(&events).unwrap().stored_record();
    assert_eq!(record.recommendation, None);
    let text = report(&record);
    assert!(!text.contains("# Answer"), "{text}");
    insta::assert_snapshot!("no_answer", text);
}

#[test]
fn a_degraded_result_is_marked_first_and_names_local_models() {
    let text = markdown(&sample_events::degraded());
    assert!(text.starts_with("> ⚠️ **Degraded result:**"), "{text}");
    assert!(text.contains("### Architect (qwen3-0.6b, local model, demonstration quality)"));
    insta::assert_snapshot!(text);
}

#[test]
fn an_aborted_consultation_shows_its_answers_and_no_verdict() {
    insta::assert_snapshot!("aborted", markdown(&sample_events::aborted()));
    insta::assert_snapshot!("all_failed", markdown(&sample_events::all_failed()));
}

#[test]
fn a_fallback_model_is_named_in_panel_and_answer() {
    let text = markdown(&sample_events::substituted());
    assert!(
        text.contains("\n> - xai:grok-4.7 took over from google:gemini-3-pro as Pragmatist in Round 1 and later: no answer within 120 s\n"),
        "{text}"
    );
    assert!(
        text.contains("Pragmatist (xai:grok-4.7)") && text.contains("### Pragmatist (grok-4.7)\n")
    );
}

#[test]
fn one_round_shows_positions_and_no_verdict() {
    insta::assert_snapshot!(markdown(&sample_events::troubled()));
}

#[test]
fn hostile_answers_stay_within_their_section() {
    let text = markdown(&sample_events::hostile());
    let headings: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("## ") || line.starts_with("# "))
        .collect();
    let own = [
        "# Consultation",
        "## Answer",
        "## Dissent",
        "## Open Points",
        "## Positions",
        "## Changes",
        "## Challenges",
        "## Cost",
    ];
    assert_eq!(headings, own);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    insta::assert_snapshot!(text);
}

#[test]
fn the_report_shows_filtering_savings_beside_the_tokens() {
    let mut events = sample_events::complete();
    assert!(!markdown(&events).contains("saved"));
    for envelope in &mut events {
        if let Event::Call(CallEvent::Started(CallStarted {
            round_number: 4,
            tokens_saved,
            ..
        })) = &mut envelope.event
        {
            *tokens_saved = 1_204;
        }
    }
    assert!(
        markdown(&events)
            .contains("| **Tokens:** 10,836 (about 1,204 more, 10%, saved by filtering) | "),
        "{}",
        markdown(&events)
    );
}

#[test]
fn a_screen_shows_the_document_without_markup() {
    insta::assert_snapshot!(render(
        &markdown(&sample_events::complete()),
        80,
        Paint::PLAIN
    ));
}

#[test]
fn no_rendered_line_is_wider_than_the_screen() {
    for events in [
        sample_events::complete(),
        sample_events::degraded(),
        sample_events::hostile(),
    ] {
        let text = markdown(&events);
        for width in [20, 40, 60, 120] {
            for paint in [Paint::PLAIN, Paint::COLOUR] {
                for line in render(&text, width, paint).lines() {
                    assert!(
                        console::measure_text_width(line) <= width,
                        "{width}: {line}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_kind_of_markdown_is_rendered() {
    let text = "# Title\n\ntext **bold** *italic* `code` [link](https://example.com)\n\n> quote of\n> two lines\n\n1. one\n2. two\n   - inner\n\n```rust\nlet x = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | two |\n\n---\n\nend";
    insta::assert_snapshot!("every_kind", render(text, 60, Paint::PLAIN));
    insta::assert_snapshot!(
        "every_kind_in_colour",
        render(text, 60, Paint::COLOUR).replace('\u{1b}', "␛")
    );
    insta::assert_snapshot!(
        "table_too_wide",
        render(
            "| name | reason |\n|---|---|\n| one | a reason that is long |\n| two | b |",
            20,
            Paint::PLAIN
        )
    );
}
