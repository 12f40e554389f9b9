//! What holds of every answer.

use proptest::prelude::*;

use super::{batch, read_answer};
use crate::refinement::finding::PanelFinding;
use crate::refinement::reading::read_extraction;

/// Returns texts of the parts that labels, tables, quotes and JSON are made of.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("Q1 ANSWERED: "),
        Just("Q2 OPEN"),
        Just("q3 deferred: "),
        Just("C2 CONTRADICTED: "),
        Just("NEW BLOCKER: "),
        Just("NEW: "),
        Just("OPEN: "),
        Just("|"),
        Just("|---|"),
        Just("\n"),
        Just("\\n"),
        Just("```"),
        Just("> "),
        Just("- "),
        Just("**"),
        Just("{\"Q1\":"),
        Just("\""),
        Just("}"),
        Just("“é…"),
        Just("问题1："),
        Just("word "),
        Just("Ｑ１"),
    ];
    proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn each_question_is_found_or_unread_once(text in texts()) {
        let batch = batch();
        let (findings, unread) = read_answer(&text, &batch);
        let found = findings.iter().filter_map(|finding| match finding {
            PanelFinding::Answered { question, .. }
            | PanelFinding::StillOpen { question, .. }
            | PanelFinding::Deferred { question, .. } => Some(question),
            PanelFinding::Contradicted { .. } | PanelFinding::NewQuestion { .. } => None,
        });
        let mut all: Vec<_> = found.chain(&unread).cloned().collect();
        all.sort();
        let mut asked = batch.keys();
        asked.sort();
        prop_assert_eq!(all, asked);
    }

    #[test]
    fn texts_of_findings_are_one_line_of_the_answer(text in "\\PC{0,200}") {
        let (findings, _) = read_answer(&format!("Q1 ANSWERED: {text}"), &batch());
        for finding in findings {
            if let PanelFinding::Answered { answer, .. } = finding {
                prop_assert!(!answer.contains('\n'));
                prop_assert!(!answer.trim().is_empty());
            }
        }
    }

    #[test]
    fn an_extraction_never_fails_to_end(text in texts()) {
        let _ = read_extraction(&text);
    }
}
