//! Renders a document as a web page, for the browser and for paper: as one self-contained file, which
//! runs and loads nothing, or within the frame of the pages that `conclave view` serves.
//!
//! `maud` escapes all text except literals of this program. Foreign text has a writing direction of
//! its own; `marks` renders what models write as bold words, code and lists.

use std::collections::BTreeSet;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::marks::{escaped, marked};
use super::{Fact, Line, Part, Piece, Table};
use crate::domain::answer::artifact::Severity;
use crate::text::clean::{clean, one_line, shortened};

const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub const STYLE: &str = include_str!("style.css");

/// Longer titles are cut: they appear in browser tabs and in the names of printed files.
const LONGEST_TITLE: usize = 80;

/// What stands around a served page.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The addresses and titles of the navigation.
    pub pages: &'static [(&'static str, &'static str)],
    /// The address in the navigation that the page belongs to.
    pub current: &'static str,
    /// A question to the page itself, which asks again with the values that are typed.
    pub form: Vec<Field>,
    /// The page changes, and sends its new contents as events to who asks for them.
    pub is_live: bool,
}

/// A field of a form, with its value. The first one of a form is its search.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: &'static str,
    pub label: &'static str,
    pub value: String,
    pub kind: FieldKind,
}

#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    Text,
    Date,
    Dollars,
    /// One of these, or none of them.
    Choice(&'static [&'static str]),
}

/// Renders a self-contained page, with links to the pages of other consultations, named `ID.html`,
/// that lie in the same folder. A blank title becomes `untitled`.
pub fn page(title: &str, untitled: &str, parts: &[Part], beside: &BTreeSet<String>) -> String {
    let main = Renderer::Beside(beside).sections(parts);
    let title = title_or(title, untitled);
    let policy = Some(CONTENT_SECURITY_POLICY);
    // The program's own file: text in `style` knows no escapes.
    let style = html! { style { (PreEscaped(STYLE)) } };
    whole(&title, policy, &style, &html! { main { (main) } })
}

/// Renders a page that loads style and script from its server.
pub fn served_page(title: &str, parts: &[Part], frame: &Frame) -> String {
    let head = html! {
        link rel="icon" href="/icon.svg";
        link rel="stylesheet" href="/style.css";
        script src="/script.js" defer {}
    };
    let body = html! {
        header {
            nav {
                @for (address, title) in frame.pages {
                    a href=(address) aria-current=[(*address == frame.current).then_some("page")] {
                        (title)
                    }
                }
            }
            @if !frame.form.is_empty() { (form(&frame.form, frame.current)) }
        }
        main data-live[frame.is_live] { (Renderer::Served.sections(parts)) }
    };
    whole(&title_or(title, "conclave"), None, &head, &body)
}

/// Renders what stands in `main` of a served page.
pub fn served_main(parts: &[Part]) -> String {
    clean(&Renderer::Served.sections(parts).into_string())
}

fn title_or(title: &str, untitled: &str) -> String {
    match one_line(title) {
        title if title.is_empty() => untitled.to_owned(),
        title => shortened(&title, LONGEST_TITLE),
    }
}

fn whole(title: &str, policy: Option<&str>, head: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                @if let Some(policy) = policy {
                    meta http-equiv="Content-Security-Policy" content=(policy);
                }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                (head)
            }
            body { (body) }
        }
        "\n"
    };
    // Cleaned as a whole, so that no text is left out. No tag holds a character that this removes.
    clean(&page.into_string())
}

/// The search stands alone, the other fields behind a heading that opens them.
fn form(fields: &[Field], address: &str) -> Markup {
    let is_set = |fields: &[Field]| fields.iter().any(|field| !field.value.is_empty());
    let (search, filters) = fields.split_at(1.min(fields.len()));
    html! {
        form role="search" action=(address) {
            @for field in search { (input(field)) }
            button { "Search" }
            @if !filters.is_empty() {
                details open[is_set(filters)] {
                    summary { "Filters" }
                    div { @for field in filters { (input(field)) } }
                }
            }
            @if is_set(fields) { a href=(address) { "Show all" } }
        }
    }
}

fn input(field: &Field) -> Markup {
    let Field {
        name,
        label,
        value,
        kind,
    } = field;
    html! {
        label {
            span { (label) }
            @match kind {
                FieldKind::Text => input type="search" name=(name) value=(value) autocomplete="off";
                FieldKind::Date => input type="date" name=(name) value=(value);
                FieldKind::Dollars => {
                    input type="number" min="0" step="any" name=(name) value=(value);
                }
                FieldKind::Choice(choices) => select name=(name) {
                    option value="" { "any" }
                    @for choice in *choices {
                        option value=(choice) selected[choice == value] { (choice) }
                    }
                }
            }
        }
    }
}

/// By what the links of a page lead to.
#[derive(Clone, Copy)]
enum Renderer<'a> {
    /// The pages of these consultations, in the same folder.
    Beside(&'a BTreeSet<String>),
    /// Pages of the same server.
    Served,
}

impl Renderer<'_> {
    fn sections(self, parts: &[Part]) -> Markup {
        let sections = parts.chunk_by(|_, next| !matches!(next, Part::Heading(2, _)));
        html! {
            @for section in sections {
                @if let Some(Part::Heading(2, title)) = section.first() {
                    section.answer[title.is_of_the_answer()].about[title.is_about()] { (self.parts(section)) }
                } @else {
                    (self.parts(section))
                }
            }
        }
    }

    fn parts(self, parts: &[Part]) -> Markup {
        html! { @for part in parts { (self.part(part)) } }
    }

    fn part(self, part: &Part) -> Markup {
        match part {
            Part::Heading(level, line) => {
                let is_long = *level == 1 && line.is_long();
                let line = self.line(line);
                html! {
                    @match level {
                        1 => h1.said.long[is_long] dir="auto" { (line) },
                        2 => h2 { (line) },
                        3 => h3 { (line) },
                        _ => h4 { (line) },
                    }
                }
            }
            Part::Paragraph(line) => html! { p { (self.line(line)) } },
            Part::Foot(fact) => html! { p { (self.fact(fact)) } },
            Part::Facts(facts) => html! {
                @if !facts.is_empty() {
                    ul.facts { @for fact in facts { li { (self.fact(fact)) } } }
                }
            },
            Part::Tiles(facts) => html! {
                dl.tiles {
                    @for fact in facts {
                        div {
                            dt { (self.line(&fact.label)) }
                            @for value in &fact.values { dd { (self.line(value)) } }
                        }
                    }
                }
            },
            Part::Foreign(text) | Part::Quote(text) => foreign(text),
            Part::Code(language, text) => code(*language == "diff", text),
            Part::List(items) => html! {
                ul {
                    @for item in items {
                        li dir="auto" {
                            @for line in item.iter().take(1) { (self.line(line)) }
                            @if item.len() > 1 {
                                ul { @for line in item.iter().skip(1) { li { (self.line(line)) } } }
                            }
                        }
                    }
                }
            },
            Part::Notice(parts) => html! { aside.notice { (self.parts(parts)) } },
            Part::Articles(articles) => html! {
                div.side { @for article in articles { article { (self.parts(article)) } } }
            },
            Part::Table(table) => self.table(table),
            Part::Plot(plot) => plot.svg(),
            Part::Beginning { parts, .. } => self.parts(parts),
            Part::Folded(title, parts) => html! {
                details { summary { (self.line(title)) } (self.parts(parts)) }
            },
            Part::Next(steps) => html! {
                ul { @for (command, what) in steps { li { code { (command) } ": " (what) } } }
            },
        }
    }

    fn fact(self, fact: &Fact) -> Markup {
        html! {
            @if !fact.label.is_empty() { strong { (self.line(&fact.label)) ":" } " " }
            @for (at, value) in fact.values.iter().enumerate() {
                @if at > 0 { "; " }
                (self.line(value))
            }
        }
    }

    fn table(self, table: &Table) -> Markup {
        let class = |at: usize| (at >= table.texts).then_some("number");
        html! {
            div.wide {
                table.cases[table.texts > 2] {
                    thead {
                        tr {
                            @for (at, head) in table.heads.iter().enumerate() {
                                th scope="col" class=[class(at)] { (head) }
                            }
                        }
                    }
                    tbody {
                        @for row in &table.rows {
                            tr {
                                @for (at, cell) in row.iter().enumerate() {
                                    @if at == 0 { th scope="row" { (self.line(cell)) } }
                                    @else { td class=[class(at)] { (self.line(cell)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn line(self, line: &Line) -> Markup {
        let mut open = Vec::new();
        let pieces = line.0.iter().map(|piece| match piece {
            Piece::Own(own) => own_words(own, &mut open),
            Piece::Foreign(text) => html! { bdi { (marked(text.trim())) } }.into_string(),
            Piece::Exact(_, text) => html! { bdi { (text.trim()) } }.into_string(),
            Piece::Consultation(id) => {
                let words = html! { bdi { (id.trim()) } };
                match self {
                    Renderer::Beside(beside) if beside.contains(id) => {
                        link(&format!("{id}.html"), &words)
                    }
                    Renderer::Beside(_) => words,
                    Renderer::Served => link(&format!("/c/{id}"), &words),
                }
                .into_string()
            }
            Piece::Link(address, words) => {
                let words = self.line(words);
                match self {
                    Renderer::Beside(_) => words,
                    Renderer::Served => link(address, &words),
                }
                .into_string()
            }
            Piece::OnPage(words) => self.line(words).into_string(),
            Piece::Weight(severity) => weight(*severity).into_string(),
        });
        PreEscaped(pieces.collect())
    }
}

impl Line {
    /// The section of the answer stands out.
    fn is_of_the_answer(&self) -> bool {
        matches!(self.0.as_slice(), [Piece::Own("Answer" | "Result")])
    }

    /// What made the document stands out least.
    fn is_about(&self) -> bool {
        matches!(self.0.as_slice(), [Piece::Own(own)] if own.starts_with("About this"))
    }

    /// A long question is set smaller.
    fn is_long(&self) -> bool {
        let is_long = |text: &str| text.contains('\n') || text.chars().nth(160).is_some();
        let mut pieces = self.0.iter();
        pieces.any(|piece| matches!(piece, Piece::Foreign(text) if is_long(text.trim())))
    }
}

/// Replaces the marks in own words by tags; `open` are those that a piece before left open.
fn own_words(own: &'static str, open: &mut Vec<&'static str>) -> String {
    let mut page = String::new();
    let mut rest = own;
    while let Some(at) = rest.find(['*', '_', '`']) {
        let (words, marks) = rest.split_at(at);
        let (mark, tag) = match marks.as_bytes() {
            [b'*', ..] => ("**", "strong"),
            [b'_', ..] => ("_", "em"),
            _ => ("`", "code"),
        };
        page.push_str(&escaped(words));
        if open.last() == Some(&tag) {
            open.pop();
            page.extend(["</", tag, ">"]);
        } else {
            open.push(tag);
            page.extend(["<", tag, ">"]);
        }
        rest = marks.strip_prefix(mark).unwrap_or_default();
    }
    page + &escaped(rest)
}

/// Empty text is marked as such.
fn foreign(text: &str) -> Markup {
    let text = text.trim_matches('\n').trim_end();
    if text.is_empty() {
        return html! { p.quiet { "(empty answer)" } };
    }
    // Not `pre`: a parser drops the line break behind that tag.
    html! { div.said dir="auto" { (marked(text)) } }
}

fn link(address: &str, words: &Markup) -> Markup {
    html! { a href=(address) { (words) } }
}

fn code(is_diff: bool, text: &str) -> Markup {
    let class = |line: &str| match line.chars().next() {
        Some('+') if is_diff => Some("added"),
        Some('-') if is_diff => Some("removed"),
        Some(_) | None => None,
    };
    html! {
        div.said.code dir="auto" {
            @for line in text.lines() { span class=[class(line)] { (line) } "\n" }
        }
    }
}

fn weight(severity: Severity) -> Markup {
    let is_high = severity == Severity::High;
    html! { " " span.weight.high[is_high] { (severity.name()) } }
}
