//! Renders a document for a terminal or a pipe: compact, wrapped to the width, and coloured where
//! there is colour.
//!
//! Widths are those on a terminal: colours have none, and some characters take two columns. Text
//! continues beneath itself; a table that does not fit becomes running text. Commands stay on one
//! line, so that they can be copied.

use std::iter;

use console::{Alignment, measure_text_width, pad_str};

use super::plot::{BarRow, Plot};
use super::{Fact, Line, Part, Piece, Table, Tail, markdown};
use crate::terminal::markdown::plain::plain;
use crate::terminal::markdown::render::{WIDEST, render};
use crate::terminal::output::style::{Paint, Tone};
use crate::terminal::output::wrap::{cut_line, options, widest};
use crate::text::clean::{capitalised, one_line};

/// Blanks between columns, and before what stands beneath a name.
const GAP: &str = "  ";

/// Less room beside a label or a row is too little for a text.
const NARROWEST_TEXT: usize = 24;

/// A row with a longer cell does not widen the columns of a table with texts.
const LONGEST_CELL: usize = 32;

/// `None` does not wrap.
pub fn screen(parts: &[Part], width: Option<usize>, paint: Paint) -> String {
    Screen { width, paint }.text(parts)
}

/// What documents are rendered for.
#[derive(Clone, Copy, Debug)]
struct Screen {
    /// `None` does not wrap.
    width: Option<usize>,
    paint: Paint,
}

impl Screen {
    fn text(&self, parts: &[Part]) -> String {
        let mut text = String::new();
        let mut before = None;
        for part in parts {
            let shown = self.part(part);
            if shown.is_empty() {
                continue;
            }
            if before.is_some_and(|before| is_apart(before, part)) {
                text.push('\n');
            }
            text.push_str(&shown);
            before = Some(part);
        }
        text
    }

    /// The last column stays free: some terminals wrap as soon as it is filled.
    fn room(&self) -> usize {
        self.width
            .map_or(usize::MAX, |width| width.saturating_sub(1).max(8))
    }

    fn part(&self, part: &Part) -> String {
        match part {
            Part::Heading(level, line) => {
                let tone = match level {
                    1 => Tone::Heading,
                    2 => Tone::Key,
                    _ => Tone::Strong,
                };
                self.hanging("", &self.line(line, tone), 0)
            }
            Part::Paragraph(line) => self.hanging("", &self.words(line), 0),
            Part::Facts(facts) | Part::Tiles(facts) => self.facts(facts),
            Part::Foot(fact) => self.facts(std::slice::from_ref(fact)),
            Part::List(items) => items.iter().flat_map(|item| self.item(item)).collect(),
            Part::Notice(parts) => {
                let paint = Paint {
                    has_colour: false,
                    ..self.paint
                };
                let text = Self { paint, ..*self }.text(parts);
                let lines = text.lines();
                lines.map(|line| self.paint.yellow(line) + "\n").collect()
            }
            Part::Table(table) => self.table(table),
            Part::Plot(Plot::Bars(rows)) => self.bars(rows),
            // The table beneath has its figures.
            Part::Plot(Plot::Chart(_) | Plot::Rows(_) | Plot::Tree(_)) => String::new(),
            Part::Beginning {
                parts,
                most_lines,
                rest,
            } => self.beginning(parts, *most_lines, rest),
            Part::Folded(_, parts) => self.text(parts),
            Part::Next(steps) => self.steps(steps),
            Part::Foreign(_) | Part::Quote(_) | Part::Code(..) | Part::Articles(_) => {
                let text = markdown(std::slice::from_ref(part));
                self.width
                    .map_or(text.clone(), |width| render(&text, width, self.paint))
            }
        }
    }

    fn line(&self, line: &Line, tone: Tone) -> String {
        let mut text = String::new();
        let mut bold = false;
        let mut put = |words: &str, tone| {
            text.push_str(&self.paint.tone(tone, &self.paint.charset.text(words)));
        };
        for piece in &line.0 {
            let tone = if bold { Tone::Strong } else { tone };
            match piece {
                Piece::Own(own) => {
                    for (at, words) in own.replace('_', "").split("**").enumerate() {
                        bold ^= at > 0;
                        put(words, if bold { Tone::Strong } else { tone });
                    }
                }
                Piece::Foreign(text) => put(&words(text), tone),
                Piece::Exact(Tone::Plain, text) | Piece::Consultation(text) => {
                    put(&one_line(text), tone);
                }
                Piece::Exact(tone, text) => put(&one_line(text), *tone),
                Piece::Link(_, words) => put(&self.line(words, tone), Tone::Plain),
                Piece::Weight(_) | Piece::OnPage(_) => {}
            }
        }
        text
    }

    fn words(&self, line: &Line) -> String {
        self.line(line, Tone::Plain)
    }

    fn hanging(&self, head: &str, text: &str, indent: usize) -> String {
        if self.width.is_none() {
            return format!("{head}{text}\n");
        }
        let beneath = " ".repeat(indent);
        let room = self.room().min(WIDEST.max(indent + 40));
        let options = options(room.max(indent + 8), text)
            .initial_indent(head)
            .subsequent_indent(&beneath);
        textwrap::fill(text, options) + "\n"
    }

    fn item(&self, item: &[Line]) -> Vec<String> {
        let mark = self.paint.charset.text("• ");
        let lines = item.iter().enumerate().map(|(at, line)| match at {
            0 => self.hanging(&mark, &self.words(line), 2),
            _ => self.hanging("  - ", &self.words(line), 4),
        });
        lines.collect()
    }

    /// Values stand in a column behind their names, or follow them where there is no room for one.
    fn facts(&self, facts: &[Fact]) -> String {
        let labels = facts
            .iter()
            .map(|fact| self.line(&fact.label, Tone::Strong));
        let labels: Vec<String> = labels.collect();
        let beside = match widest(&labels) {
            0 => 0,
            widest => widest + GAP.len(),
        };
        let is_wide = beside + NARROWEST_TEXT <= self.room();
        let indent = if is_wide { beside } else { GAP.len() };
        let mut text = String::new();
        for (fact, label) in facts.iter().zip(&labels) {
            for (at, value) in fact.values.iter().enumerate() {
                let head = match at {
                    0 if is_wide => pad_str(label, beside, Alignment::Left, None),
                    0 => format!("{label}{GAP}").into(),
                    _ => " ".repeat(indent).into(),
                };
                let words = self.words(value);
                let value = match value.0.as_slice() {
                    // A path is not wrapped, so that it can be copied.
                    [Piece::Exact(Tone::Key, _)] => format!("{head}{words}\n"),
                    _ => self.hanging(&head, &words, indent),
                };
                text.push_str(&match fact.most_lines {
                    Some(most) => self.cut(&value, most),
                    None => value,
                });
            }
        }
        text
    }

    /// Returns the first lines of a text that is wrapped already, cut behind a word with `…`.
    fn cut(&self, text: &str, most: usize) -> String {
        let room = self.room().min(WIDEST);
        // On a narrow terminal, an item may have a line more.
        let most = most + usize::from(room < 60);
        let mut lines: Vec<&str> = text.lines().collect();
        if lines.len() <= most {
            return text.to_owned();
        }
        lines.truncate(most);
        let mut last = lines.pop().unwrap_or_default();
        while measure_text_width(last) + 2 > room
            && let Some((shorter, _)) = last.trim_end().rsplit_once(' ')
            && !shorter.trim().is_empty()
        {
            last = shorter;
        }
        let last = last.trim_end_matches([' ', ',', ';', ':']).to_owned() + " …";
        lines.push(&last);
        lines.join("\n") + "\n"
    }

    fn beginning(&self, parts: &[Part], most: usize, rest: &str) -> String {
        let text = self.text(parts);
        let lines: Vec<&str> = text.lines().collect();
        let left_out = lines.len().saturating_sub(most);
        // One line more is better than a line that says there is one.
        if left_out < 2 {
            return text;
        }
        let mut text = lines.into_iter().take(most).collect::<Vec<_>>().join("\n");
        let rest = self.paint.dim(&format!("… {left_out} more lines{rest}"));
        text.extend(["\n", &rest, "\n"]);
        text
    }

    /// Several commands have what they do behind them, where there is room; else it stands above.
    fn steps(&self, steps: &[(String, String)]) -> String {
        let beside = widest(steps.iter().map(|(command, _)| command)) + GAP.len();
        let whats = widest(steps.iter().map(|(_, what)| what));
        let is_wide = steps.len() > 1 && beside + whats <= self.room();
        let step = |(command, what): &(String, String)| {
            if is_wide {
                let command = pad_str(command, beside, Alignment::Left, None);
                return format!("{command}{}\n", self.paint.dim(what));
            }
            let what = self.hanging("", &format!("{}:", capitalised(what)), 0);
            format!("{what}{GAP}{}\n", self.paint.cyan(command))
        };
        steps.iter().map(step).collect()
    }

    fn bars(&self, rows: &[BarRow]) -> String {
        let mut text = String::new();
        let beside = widest(rows.iter().map(|row| row.name));
        for row in rows {
            let [bars, note] = [&row.bars(), &row.note].map(|text| self.paint.charset.text(text));
            let name = row.name;
            let line = format!("{GAP}{name:beside$}{GAP}{bars}{GAP}{note}\n");
            if measure_text_width(&line) <= self.room() {
                text.push_str(&line);
            } else {
                text.extend([GAP, name, ", ", &note, ":\n", GAP, &bars, "\n"]);
            }
        }
        text
    }

    /// Columns where they fit; figures beneath the name of their row where those fit; else each row
    /// in running text, with the heads before their cells.
    fn table(&self, table: &Table) -> String {
        let room = self.room();
        let heads = table.heads.iter();
        let heads: Vec<String> = heads.map(|head| self.paint.dim(head)).collect();
        let cells = |row: &Vec<Line>| row.iter().map(|cell| self.words(cell)).collect();
        let rows: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
        let has_tail = table.tail != Tail::None;
        let columns = heads.len() - usize::from(has_tail);
        let is_figure = |column| column >= table.texts;
        let is_long = |row: &&[String]| {
            table.tail == Tail::Wrapped
                && self.width.is_some()
                && row
                    .iter()
                    .skip(1)
                    .any(|cell| measure_text_width(cell) > LONGEST_CELL)
        };
        let fixed: Vec<&[String]> = iter::once(&heads)
            .chain(&rows)
            .map(|row| row.get(..columns).unwrap_or_default())
            .collect();
        let widths = widths(fixed.iter().filter(|row| !is_long(row)));
        let beside = widths.iter().sum::<usize>() + widths.len().saturating_sub(1) * GAP.len();
        let room_for_tail = GAP.len() + NARROWEST_TEXT;
        let is_wide = beside + usize::from(has_tail) * room_for_tail <= room;
        let beneath = beside - widths.first().copied().unwrap_or_default();
        let is_beneath = !is_wide && !has_tail && beneath + GAP.len() <= room;
        let mut text = String::new();
        for (at, (cells, row)) in fixed
            .iter()
            .zip(iter::once(&heads).chain(&rows))
            .enumerate()
        {
            let is_head = at == 0;
            let (name, figures) = cells
                .split_first()
                .map_or(("", &[][..]), |(name, figures)| (name.as_str(), figures));
            if is_head
                && (!is_wide && !is_beneath || table.heads.iter().all(|head| head.is_empty()))
            {
                continue;
            }
            if is_wide && !is_long(cells) {
                let line = padded(cells, &widths, is_figure);
                let tail = row.get(columns).map_or("", String::as_str);
                text.push_str(&self.with_tail(&line, tail, beside + GAP.len(), table.tail));
            } else if is_beneath {
                if !is_head {
                    text.push_str(&self.hanging("", name, GAP.len()));
                }
                let widths = widths.get(1..).unwrap_or_default();
                let line = padded(figures, widths, |column| is_figure(column + 1));
                text.extend([GAP, line.trim_end(), "\n"]);
            } else {
                text.push_str(&self.running(table, name, figures, row.get(columns)));
            }
        }
        text
    }

    fn with_tail(&self, line: &str, tail: &str, beside: usize, kind: Tail) -> String {
        if tail.is_empty() {
            return line.trim_end().to_owned() + "\n";
        }
        let head = pad_str(line, beside, Alignment::Left, None);
        match kind {
            Tail::Cut => format!("{head}{}\n", cut_line(tail, self.room() - beside)),
            Tail::Wrapped | Tail::None => self.hanging(&head, tail, beside),
        }
    }

    fn running(
        &self,
        table: &Table,
        name: &str,
        cells: &[String],
        tail: Option<&String>,
    ) -> String {
        let mut text = self.hanging("", name, GAP.len());
        let heads = table.heads.iter().skip(1);
        let cells = heads.zip(cells).filter(|(_, cell)| !cell.is_empty());
        let cells = cells.map(|(head, cell)| match *head {
            "" => cell.clone(),
            head => format!("{} {cell}", head.to_lowercase()),
        });
        let cells = cells.collect::<Vec<_>>().join(", ");
        if !cells.is_empty() {
            text.push_str(&self.hanging(GAP, &cells, GAP.len()));
        }
        let beside = GAP.len();
        let tail = tail.filter(|tail| !tail.is_empty());
        text.extend(tail.map(|tail| self.with_tail("", tail, beside, table.tail)));
        text
    }
}

fn is_apart(before: &Part, part: &Part) -> bool {
    match (before, part) {
        (Part::Heading(..), _) => false,
        (_, Part::Heading(..) | Part::Table(_) | Part::Notice(_) | Part::Next(_)) => true,
        (Part::Foreign(_) | Part::Notice(_) | Part::Beginning { .. } | Part::Next(_), _) => true,
        (Part::Facts(_), Part::Paragraph(_)) | (_, Part::Facts(_)) => true,
        (_, Part::Foreign(_) | Part::Quote(_) | Part::Code(..) | Part::Articles(_)) => true,
        (_, _) => false,
    }
}

fn words(text: &str) -> String {
    if text.contains(['*', '_', '`', '#', '\n', '\\', '&', '[']) {
        plain(text)
    } else {
        one_line(text)
    }
}

fn widths<'a>(rows: impl Iterator<Item = &'a &'a [String]>) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(*row) {
            *width = measure_text_width(cell).max(*width);
        }
    }
    widths
}

/// Figures stand to the right.
fn padded(cells: &[String], widths: &[usize], is_figure: impl Fn(usize) -> bool) -> String {
    let cells = cells.iter().zip(widths).enumerate();
    let cells = cells.map(|(column, (cell, width))| {
        let alignment = if is_figure(column) {
            Alignment::Right
        } else {
            Alignment::Left
        };
        pad_str(cell, *width, alignment, None)
    });
    cells.collect::<Vec<_>>().join(GAP)
}
