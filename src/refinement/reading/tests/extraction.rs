//! What is read from an extraction.

use crate::refinement::label::form::ExtractionForm;
use crate::refinement::reading::{ExtractedItems, ExtractionError, read_extraction};

fn items(high: &[&str], medium: &[&str], open: &[&str]) -> ExtractedItems {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    ExtractedItems {
        high: texts(high),
        medium: texts(medium),
        open: texts(open),
    }
}

#[test]
fn extracted_lines_are_read_in_every_form() {
    let expected = items(
        &["Sessions last 24 hours."],
        &["Postgres may be used"],
        &["Who pays?"],
    );
    for text in [
        "HIGH: Sessions last 24 hours.\nMEDIUM: Postgres may be used\nOPEN: Who pays?",
        "- **HIGH:** Sessions last 24 hours.\n- **MEDIUM:** Postgres may be used\n- **OPEN:** Who pays?",
        "1. HIGH – Sessions last 24 hours.\n2. MEDIUM – Postgres may be used\n3. OPEN – Who pays?",
        "[HIGH]: Sessions last 24 hours.\n[MEDIUM]: Postgres may be used\n[OPEN]: Who pays?",
        "high: Sessions last 24 hours.\nmedium: Postgres may be used\nopen: Who pays?",
        "HIGH: Sessions last 24 hours. MEDIUM: Postgres may be used. OPEN: Who pays?",
        "HIGH: Sessions last 24 hours.\\nMEDIUM: Postgres may be used\\nOPEN: Who pays?",
        "## HIGH\n- Sessions last 24 hours.\n\n## MEDIUM\n- Postgres may be used\n\n## OPEN\n- Who pays?",
        "HIGH:\n1. Sessions last 24 hours.\nMEDIUM:\n1. Postgres may be used\nOPEN:\n1. Who pays?",
        "| HIGH | Sessions last 24 hours. |\n| MEDIUM | Postgres may be used |\n| OPEN | Who pays? |",
        "HIGH：Sessions last 24 hours.\nMEDIUM：Postgres may be used\nOPEN：Who pays?",
    ] {
        let read = read_extraction(text).unwrap();
        let plain = |texts: Vec<String>| -> Vec<String> {
            texts
                .iter()
                .map(|text| text.trim_end_matches('.').to_owned())
                .collect()
        };
        assert_eq!(
            plain(read.high),
            plain(expected.high.clone()),
            "in:\n{text}"
        );
        assert_eq!(
            plain(read.medium),
            plain(expected.medium.clone()),
            "in:\n{text}"
        );
        assert_eq!(
            plain(read.open),
            plain(expected.open.clone()),
            "in:\n{text}"
        );
    }
}

#[test]
fn a_text_under_several_labels_is_least_certain() {
    let text =
        "HIGH: Tokens are signed.\nOPEN: Who pays?\nMEDIUM: tokens are signed\nHIGH: Who pays?";
    let read = read_extraction(text).unwrap();
    assert_eq!(read, items(&[], &["Tokens are signed."], &["Who pays?"]));
}

#[test]
fn prose_and_repeated_instructions_are_no_extraction() {
    let forms = ExtractionForm::ALL.map(ExtractionForm::line).join("\n");
    for text in [
        "",
        "The document is about sessions.",
        "High confidence is important. Open questions remain.",
        "OPEN: none\nHIGH: n/a",
        "- a list\n- without labels",
        forms.as_str(),
        &forms.replace(['<', '>'], ""),
    ] {
        assert_eq!(
            read_extraction(text),
            Err(ExtractionError::NoLines),
            "in:\n{text}"
        );
    }
}

#[test]
fn an_extraction_has_a_bounded_number_of_items() {
    let lines: Vec<String> = (0..200)
        .map(|number| format!("OPEN: Question {number}?"))
        .collect();
    let read = read_extraction(&lines.join("\n")).unwrap();
    assert_eq!(read.open.len(), ExtractionForm::MOST_LINES);
    assert_eq!(read.open[0], "Question 0?");
}
