//! Writes a document as Markdown.

use super::plot::Plot;
use super::{Fact, Line, Part, Piece, Table};
use crate::terminal::markdown::escape::{block, fenced, inline};

pub fn markdown(parts: &[Part]) -> String {
    joined(parts) + "\n"
}

fn joined<'a>(parts: impl IntoIterator<Item = &'a Part>) -> String {
    let parts: Vec<String> = parts.into_iter().filter_map(written).collect();
    parts.join("\n\n")
}

fn written(part: &Part) -> Option<String> {
    Some(match part {
        Part::Heading(level, line) => format!("{} {line}", "#".repeat(usize::from(*level))),
        Part::Paragraph(line) => line.to_string(),
        Part::Facts(facts) if facts.is_empty() => return None,
        Part::Facts(facts) | Part::Tiles(facts) => lines_by("  \n", facts),
        Part::Foreign(text) => match block(text) {
            text if text.is_empty() => "_(empty answer)_".to_owned(),
            text => text,
        },
        Part::Code(language, text) => fenced(text, language),
        Part::Quote(text) => quoted(&block(text)),
        Part::List(items) => {
            let items = items
                .iter()
                .map(|item| format!("- {}", lines_by("\n  - ", item)));
            items.collect::<Vec<_>>().join("\n")
        }
        Part::Notice(parts) => quoted(&joined(parts)),
        Part::Articles(articles) => joined(articles.iter().flatten()),
        Part::Table(table) => table.to_string(),
        Part::Plot(Plot::Tree(tree)) => fenced(&tree.lines().join("\n"), "text"),
        Part::Plot(_) => return None,
        Part::Beginning { parts, .. } | Part::Folded(_, parts) => joined(parts),
        Part::Next(steps) => {
            let steps = steps
                .iter()
                .map(|(command, what)| format!("- `{command}`: {what}"));
            steps.collect::<Vec<_>>().join("\n")
        }
        Part::Foot(fact) => format!("---\n{fact}"),
    })
}

fn lines_by(separator: &str, lines: &[impl ToString]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join(separator)
}

fn quoted(block: &str) -> String {
    let lines = block.lines();
    let lines = lines.map(|line| format!("> {line}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

impl std::fmt::Display for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.label.is_empty() {
            write!(f, "**{}:** ", self.label)?;
        }
        f.write_str(&lines_by("; ", &self.values))
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Own(own) => f.write_str(own),
            Piece::Foreign(text) | Piece::Exact(_, text) | Piece::Consultation(text) => {
                f.write_str(&inline(text))
            }
            Piece::Link(_, words) => write!(f, "{words}"),
            Piece::Weight(_) | Piece::OnPage(_) => Ok(()),
        })
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rules = (0..self.heads.len()).map(|at| if at < self.texts { ":---" } else { "---:" });
        write!(f, "| {} |", self.heads.join(" | "))?;
        write!(f, "\n| {} |", rules.collect::<Vec<_>>().join(" | "))?;
        self.rows.iter().try_for_each(|row| {
            let cells = row.iter().map(|cell| cell.to_string().replace('|', "\\|"));
            write!(f, "\n| {} |", cells.collect::<Vec<_>>().join(" | "))
        })
    }
}
