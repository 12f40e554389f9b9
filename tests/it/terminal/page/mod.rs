//! The page of a consultation: what it shows, and that it loads nothing.

use conclave::consultation::event::Envelope;
use conclave::consultation::transcript::Transcript;
use conclave::domain::record::stored_record::{StoredRecord, WhySubstituted};
use conclave::terminal::report::page;

use crate::support::html::scan;
use crate::support::sample_events;

mod browser;
mod foreign_text;

use self::foreign_text::{consultation, name};

/// A record of a complete consultation, one with every part, and an empty one.
fn records() -> [StoredRecord; 3] {
    [
        Transcript::fold(&sample_events::complete())
            .unwrap()
            .stored_record(),
        consultation(&name),
        StoredRecord::default(),
    ]
}

#[test]
fn page_loads_and_runs_nothing_and_forbids_both() {
    for record in records() {
        let page = page(&record);
        for word in [
            "url(",
            "src=",
            "href=",
            "@import",
            "<link",
            "<script",
            "<base",
            "<form",
            "<iframe",
            "javascript:",
            " style=",
        ] {
            assert_eq!(page.find(word), None, "{word}");
        }
        let policy = "http-equiv=\"Content-Security-Policy\" \
                      content=\"default-src 'none'; style-src 'unsafe-inline'";
        assert!(page.contains(policy), "{page}");
        scan(&page);
        assert!(
            page.find("Content-Security-Policy") < page.find("<title>"),
            "before anything of anybody's"
        );
    }
}

#[test]
fn headings_go_down_one_level_at_a_time() {
    for record in records() {
        let levels = scan(&page(&record)).levels;
        assert_eq!(levels.first(), Some(&1));
        assert_eq!(
            levels
                .iter()
                .map(|level| usize::from(*level == 1))
                .sum::<usize>(),
            1
        );
        assert!(
            levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{levels:?}"
        );
    }
}

fn text_of(events: &[Envelope]) -> String {
    let record = Transcript::fold(events).unwrap().stored_record();
    scan(&page(&record)).text
}

#[test]
fn title_is_one_short_line() {
    let titled = |question: &str| {
        scan(&page(&StoredRecord {
            question: question.to_owned(),
            ..StoredRecord::default()
        }))
        .title
    };
    assert_eq!(
        titled(" Tabs\n or </title> spaces? "),
        "Tabs or </title> spaces?"
    );
    assert_eq!(titled(""), "Consultation".to_owned());
    assert_eq!(titled(&"é".repeat(81)).chars().count(), 81);
}

#[test]
fn texts_of_the_pages_match_their_snapshots() {
    for (name, events) in [
        ("complete", sample_events::complete()),
        ("menu", sample_events::explored()),
    ] {
        insta::assert_snapshot!(name, text_of(&events));
    }
}

#[test]
fn option_without_objections_has_no_label_for_them() {
    let html = page(
        &Transcript::fold(&sample_events::explored())
            .unwrap()
            .stored_record(),
    );
    assert_eq!(html.matches("<strong>Cons:</strong>").count(), 1);
}

#[test]
fn page_lists_missing_data_first_and_shows_no_zero_for_it() {
    let degraded = text_of(&sample_events::degraded());
    assert!(
        degraded.find("Degraded result:")
            < degraded
                .find("Should I use OAuth or JWT?\n")
                .or(degraded.rfind("Should I use")),
        "{degraded}"
    );
    for events in [sample_events::provisional(), sample_events::aborted()] {
        let text = text_of(&events);
        let mark = "provisional, by the judge after Round 2";
        assert!(text.contains(mark), "{text}");
    }
    let aborted = text_of(&sample_events::aborted());
    assert!(aborted.contains("It is not a verdict."), "{aborted}");
    let empty = scan(&page(&StoredRecord::default())).text;
    assert!(
        empty.contains("no expert has answered") && !empty.contains('0') && !empty.contains('%'),
        "{empty}"
    );
}

#[test]
fn panel_names_the_model_that_was_faster() {
    let events = sample_events::substituted();
    let mut record = Transcript::fold(&events).unwrap().stored_record();
    let agent = record.substitutions[0].agent.clone();
    record.substitutions[0].of.reason = WhySubstituted::Hedge;
    let text = scan(&page(&record)).text;
    let (_, panel) = text.split_once("Panel").unwrap();
    assert!(panel.contains(&format!("{agent} answered by ")), "{panel}");
    assert!(panel.contains("(hedged)"), "{panel}");
}

#[test]
fn bold_code_and_lists_of_models_are_rendered() {
    let said = "Use **both `a*b`** here:\n- one\n* two\n2**3**4 `<b>`, [x](http://y.example)";
    let record = Transcript::fold(&sample_events::complete())
        .unwrap()
        .stored_record();
    let answer = serde_json::to_string(&record.recommendation).unwrap();
    let said = serde_json::to_string(said).unwrap();
    let record = serde_json::to_string(&record)
        .unwrap()
        .replace(&answer, &said);
    let page = page(&serde_json::from_str(&record).unwrap());
    let rendered = "Use <strong>both <code>a*b</code></strong> here:\n• one\n• two\n\
                    2**3**4 <code>&lt;b&gt;</code>, [x](http://y.example)";
    assert!(page.contains(rendered), "{page}");
}
