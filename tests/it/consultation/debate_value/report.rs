//! The debate value in the report, the record and the page.

use conclave::consultation::event::{AgentError, AgentEvent, AgentFailure};
use conclave::domain::answer::artifact::{Comparison, Content};
use conclave::terminal::report::{page, report};

use super::{content, contents};
use crate::consultation::prelude::*;
use crate::support::comparison::debate_events;

/// Returns the text between two parts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap();
    rest.split_once(to).unwrap().0
}

#[test]
fn report_record_and_page_agree() {
    let transcript = Transcript::fold(&debate_events()).unwrap();
    let stored = transcript.stored_record();
    let report = report(&stored);
    let section = between(&report, "## Changes", "\n\n## ");
    insta::assert_snapshot!("report", section);
    let analysis =
        serde_json::to_string_pretty(&record_json(&transcript)["debate_value_analysis"]).unwrap();
    insta::assert_snapshot!("record", analysis);
    let page = page(&stored);
    let section = between(&page, "<h2>Changes</h2>", "</section>");
    insta::assert_snapshot!("page", section.replace("><", ">\n<"));
}

#[test]
fn model_text_cannot_inject_markup_or_escape_sequences() {
    let mut log = debate_events();
    let hostile = "x\n\n# Heading <script>alert(1)</script> \u{1b}[31m**bold";
    for content in contents(&mut log) {
        if let Content::Comparison(Comparison {
            comparisons,
            key_insights,
        }) = content
        {
            *key_insights = vec![hostile.to_owned()];
            for compared in comparisons {
                hostile.clone_into(&mut compared.reasoning);
            }
        }
    }
    let transcript = Transcript::fold(&log).unwrap();
    let text = report(&transcript.stored_record());
    assert!(
        !text.contains("\n# Heading") && !text.contains('\u{1b}'),
        "{text}"
    );
    let page = page(&transcript.stored_record());
    assert!(!page.contains("<script") && page.contains("&lt;script"));
}

#[test]
fn failure_with_markup_does_not_break_the_report() {
    let mut log = debate_events();
    log.retain(|envelope| content(envelope).is_none_or(|content| content.comparison().is_none()));
    for envelope in &mut log {
        if let Event::Agent(AgentEvent::Completed {
            agent_id,
            name,
            round_number,
            answer,
            ..
        }) = &envelope.event
            && *agent_id == AgentId::Helper
        {
            let error = AgentError {
                class: None,
                message: "no\n\n# Heading".to_owned(),
            };
            envelope.event = Event::Agent(AgentEvent::Failed(AgentFailure {
                agent_id: agent_id.clone(),
                name: name.clone(),
                round_number: *round_number,
                answer: *answer,
                model: conclave::domain::ids::ModelRef::new("mistral", "tiny"),
                error,
            }));
        }
    }
    let text = report(&Transcript::fold(&log).unwrap().stored_record());
    let expected = "; positions were not compared: no # Heading.\n";
    assert!(text.contains(expected), "{text}");
}
