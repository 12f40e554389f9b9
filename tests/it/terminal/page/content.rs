//! What a page shows, and in which order.

use conclave::consultation::transcript::Transcript;
use conclave::domain::stored_record::{StoredRecord, WhySubstituted};
use conclave::terminal::report::page;

use crate::support::html::{ScannedPage, scan};
use crate::support::sample_events;

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
fn complete_consultation_reads_in_order() {
    let ScannedPage { text, .. } = scan(&page(
        &Transcript::fold(&sample_events::complete())
            .unwrap()
            .stored_record(),
    ));
    let mut rest = text.as_str();
    for expected in [
        "Should I use OAuth or JWT?",
        "2026-11-21 08:30 UTC",
        "Answer",
        "85%",
        "67%",
        "Use OAuth 2.0 with JWT access tokens.",
        "Delegation is what OAuth is for",
        "Dissent",
        "Sessions would do for a single application",
        "Open Points",
        "Who runs the authorization server",
        "Positions",
        "Security Expert",
        "Use OAuth 2.0; keep tokens short-lived.",
        "Tensions",
        "Token lifetime",
        "Changes",
        "says it changed its mind",
        "70% → 85%",
        "Challenges",
        "Rebuttals",
        "Panel",
        "anthropic:claude-sonnet-5-5",
        "Cost",
        "consult-",
        "By round",
        "1 independent answers",
        "By agent",
        "Judge",
        "By provider",
        "converge/independent v1.0",
    ] {
        let found = rest.find(expected).and_then(|at| rest.get(at..));
        rest = found.unwrap_or_else(|| panic!("{expected} in {rest}"));
    }
}

#[test]
fn menu_shows_each_option_and_an_answer_by_rule_says_so() {
    let html = page(
        &Transcript::fold(&sample_events::explored())
            .unwrap()
            .stored_record(),
    );
    let menu = scan(&html).text;
    let mut rest = menu.as_str();
    for expected in [
        "Answer",
        "each option has its own",
        "Ask first whether partners will call the interface.",
        "Option 1: ",
        "OAuth with JWT",
        "80%",
        "partners call the interface",
        "Keep sessions for the rest.",
        "Pros",
        "Clients are many",
        "Cons",
        "One more thing to run",
        "Option 2: ",
        "Sessions first",
        "not stated",
        "Summary",
        "Evidence",
    ] {
        rest = rest
            .find(expected)
            .and_then(|at| rest.get(at..))
            .unwrap_or_else(|| panic!("{expected} in {rest}"));
    }
    assert_eq!(
        html.matches("<strong>Cons:</strong>").count(),
        1,
        "an option without any has no label for them"
    );
    let composed = scan(&page(
        &Transcript::fold(&sample_events::composed())
            .unwrap()
            .stored_record(),
    ))
    .text;
    assert!(
        composed.contains(
            "Put together from the judge's synthesis of Round 2; no verdict was asked for."
        ),
        "{composed}"
    );
}

#[test]
fn page_lists_missing_data_first_and_shows_no_zero_for_it() {
    let degraded = scan(&page(
        &Transcript::fold(&sample_events::degraded())
            .unwrap()
            .stored_record(),
    ))
    .text;
    assert!(
        degraded.find("Degraded result:")
            < degraded
                .find("Should I use OAuth or JWT?\n")
                .or(degraded.rfind("Should I use")),
        "{degraded}"
    );
    let aborted = scan(&page(
        &Transcript::fold(&sample_events::aborted())
            .unwrap()
            .stored_record(),
    ))
    .text;
    assert!(
        aborted.contains("It is not a verdict.") && aborted.contains("No verdict was reached"),
        "{aborted}"
    );
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
