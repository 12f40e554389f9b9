//! A consultation as one web page: for reading in a browser, and on paper. It holds all it needs,
//! runs nothing and loads nothing, and tells the browser to refuse whatever would.
//!
//! `markup` is the only way in: markup is what stands in this program's source, and any other text
//! is escaped. `answer`, `debate` and `account` write the sections, in the order in which they are
//! read.

mod account;
mod answer;
mod debate;
mod markup;

use crate::domain::kept::Kept;

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

/// Longer titles are cut: they stand in the tab of a browser and in the name of a printed file.
const LONGEST_TITLE: usize = 80;

/// Writes the page of a consultation, finished or not.
pub fn page(kept: &Kept) -> String {
    let mut page = Markup::default();
    page.put(HEAD)
        .text(&title(kept))
        .put("</title>\n<style>\n")
        .put(include_str!("page/style.css"))
        .put("</style>\n</head>\n<body>\n<main>\n");
    answer::notice(&mut page, kept);
    answer::head(&mut page, kept);
    answer::answer(&mut page, kept);
    answer::dissent(&mut page, kept);
    debate::positions(&mut page, kept);
    debate::synthesis(&mut page, kept);
    debate::changes(&mut page, kept);
    debate::objections(&mut page, kept);
    debate::value(&mut page, kept);
    account::panel(&mut page, kept);
    account::cost(&mut page, kept);
    account::colophon(&mut page, kept);
    page.put("</main>\n</body>\n</html>\n");
    page.into_html()
}

fn title(kept: &Kept) -> String {
    let words = kept
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
