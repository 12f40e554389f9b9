//! What is read from an extraction.

use serde_json::json;

use super::findings;
use super::records::{artifact, record};
use crate::consultation::transcript::no_answer::NoAnswer;
use crate::refinement::reading::extraction::MAX_ITEMS;
use crate::refinement::reading::{ExtractedItems, extracted_items};

fn extracted(lines: &str) -> Result<ExtractedItems, NoAnswer> {
    let fields = json!({"agent_id": "ops", "position": "A plan.", "findings": findings(lines)});
    extracted_items(&record(&[artifact("independent", 1, &fields)], &json!({})))
}

#[test]
fn a_text_in_several_lists_is_least_certain() {
    let lines = "HIGH: Tokens are signed.\nOPEN: Who pays?\nMEDIUM: tokens are signed\nHIGH: Who pays?\nHIGH: n/a";
    let expected = ExtractedItems {
        high: Vec::new(),
        medium: vec!["tokens are signed".to_owned()],
        open: vec!["Who pays?".to_owned()],
    };
    assert_eq!(extracted(lines), Ok(expected));
}

#[test]
fn items_are_bounded() {
    let lines: Vec<String> = (0..200)
        .map(|number| format!("OPEN: Question {number}?"))
        .collect();
    let read = extracted(&lines.join("\n")).unwrap();
    assert_eq!(read.open.len(), MAX_ITEMS);
    assert_eq!(read.open[0], "Question 0?");
}

#[test]
fn an_answer_without_items_is_an_error() {
    let no_items = extracted("").unwrap_err();
    assert!(matches!(&no_items, NoAnswer::Failed { message } if message.contains("lists no")));
    assert_eq!(extracted("OPEN: none"), Err(no_items.clone()));
    let none = extracted_items(&record(&[], &json!({})));
    assert!(none.is_err_and(|why| why != no_items));
}
