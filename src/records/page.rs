//! A consultation as one self-contained web page, for the browser and for paper. It runs and loads
//! nothing, and its content security policy forbids both.
//!
//! `markup` escapes all text except literals of this program. `answer`, `debate` and `account`
//! write the sections, in reading order.

mod account;
mod answer;
mod debate;
mod markup;

use crate::domain::stored_record::StoredRecord;

use markup::Markup;

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>"#;

/// Longer titles are cut: they appear in browser tabs and in the names of printed files.
const LONGEST_TITLE: usize = 80;

/// Renders the page of a consultation, finished or not.
pub fn page(record: &StoredRecord) -> String {
    let mut page = Markup::default();
    page.put(HEAD)
        .text(&title(record))
        .put("</title>\n<style>\n")
        .put(include_str!("page/style.css"))
        .put("</style>\n</head>\n<body>\n<main>\n");
    answer::notice(&mut page, record);
    answer::head(&mut page, record);
    answer::answer(&mut page, record);
    answer::dissent(&mut page, record);
    debate::positions(&mut page, record);
    debate::synthesis(&mut page, record);
    debate::changes(&mut page, record);
    debate::objections(&mut page, record);
    debate::value(&mut page, record);
    account::panel(&mut page, record);
    account::cost(&mut page, record);
    account::colophon(&mut page, record);
    page.put("</main>\n</body>\n</html>\n");
    page.into_html()
}

fn title(record: &StoredRecord) -> String {
    let words = record
        .question
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    match words.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default().trim_end()),
        None if words.is_empty() => "Consultation".to_owned(),
        None => words,
    }
}
