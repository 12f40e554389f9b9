//! A consultation as one self-contained web page, for the browser and for paper. It runs and loads
//! nothing, and its content security policy forbids both. [`benchmark`] renders the report of a
//! benchmark in the same way.
//!
//! `maud` escapes all text except literals of this program. `answer`, `debate` and `account` render
//! the sections, in reading order, from what they share in `elements`. `marks` renders what models
//! write as bold words, code and lists.

mod account;
mod answer;
mod debate;
mod elements;
mod marks;
mod links;
pub mod benchmark;

use std::collections::BTreeSet;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::domain::stored_record::StoredRecord;
use crate::domain::text::clean;

const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Longer titles are cut: they appear in browser tabs and in the names of printed files.
const LONGEST_TITLE: usize = 80;

/// Renders the page of a consultation, finished or not.
pub fn page(record: &StoredRecord) -> String {
    page_beside(record, &BTreeSet::new())
}

/// Renders the page of a consultation with links to the pages of others, named `ID.html`, that lie
/// in the same folder.
pub fn page_beside(record: &StoredRecord, pages: &BTreeSet<String>) -> String {
    let body = html! {
        (answer::notice(record))
        (answer::head(record))
        (links::links(record, pages))
        (answer::answer(record))
        (answer::dissent(record))
        (debate::open_points(record))
        (debate::positions(record))
        (debate::synthesis(record))
        (debate::changes(record))
        (debate::objections(record))
        (account::panel(record))
        (account::context(record))
        (account::cost(record))
        (account::colophon(record))
    };
    document(&title(record), "", &body)
}

/// Renders a whole page. `more_style` follows the style sheet that all pages have.
fn document(title: &str, more_style: &str, body: &Markup) -> String {
    // The style sheets are this program's own files; text in `style` knows no escapes.
    let style = PreEscaped(include_str!("page/style.css").to_owned() + more_style);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(CONTENT_SECURITY_POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (style) }
            }
            body { main { (body) } }
        }
        "\n"
    };
    // Cleaned as a whole, so that no text is left out. No tag holds a character that this removes.
    clean(&page.into_string())
}

fn title(record: &StoredRecord) -> String {
    short_title(&record.question, "Consultation")
}

/// Returns a text as a title on one line; `untitled` for a blank one.
fn short_title(text: &str, untitled: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    match words.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default().trim_end()),
        None if words.is_empty() => untitled.to_owned(),
        None => words,
    }
}
