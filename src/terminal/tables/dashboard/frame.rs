//! Places the sections on a canvas: in a frame, in one column or two, or below one another without
//! a frame.
//!
//! Invariant: no line is wider than the canvas, from [`NARROWEST`] columns on.

use console::measure_text_width;

use crate::terminal::document::{Part, screen};
use crate::terminal::output::style::Paint;

/// A narrower canvas is drawn at this width.
const NARROWEST: usize = 20;
/// From this width on there is a frame.
const FRAMED_FROM: usize = 40;
/// From this width on sections stand side by side.
const PAIRED_FROM: usize = 100;
/// Longer lines are hard to read.
const WIDEST: usize = 80;
const WIDEST_PAIRED: usize = 112;
/// Columns beside the text of a cell: two before it, one after it.
const BESIDE: usize = 3;

/// Width, colour and frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// Columns.
    pub width: usize,
    pub paint: Paint,
    pub border: Border,
}

/// The border around sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// A frame, where the canvas is wide enough for one.
    Frame,
    /// Sections below one another, separated by an empty line: for files and other programs.
    None,
}

/// The sections between two rules: one, or two side by side.
pub(super) type Block = Vec<Vec<Part>>;

/// The division of a canvas.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionFrame {
    canvas: Canvas,
    /// Of a line, with the frame.
    width: usize,
    is_framed: bool,
    /// The most sections of a block.
    columns: usize,
}

impl SectionFrame {
    pub(super) fn of(canvas: Canvas) -> Self {
        let (width, is_framed, columns) = match canvas.border {
            Border::Frame if canvas.width >= PAIRED_FROM => {
                (canvas.width.min(WIDEST_PAIRED), true, 2)
            }
            Border::Frame if canvas.width >= FRAMED_FROM => (canvas.width.min(WIDEST), true, 1),
            Border::Frame | Border::None => (canvas.width.max(NARROWEST), false, 1),
        };
        Self {
            canvas,
            width,
            is_framed,
            columns,
        }
    }

    pub(super) fn room(self) -> usize {
        if self.is_framed {
            self.width - 2 - BESIDE
        } else {
            self.width
        }
    }

    fn rooms(self, block: &Block) -> Vec<usize> {
        if block.len() < 2 {
            return vec![self.room()];
        }
        let both = self.room().saturating_sub(1 + BESIDE);
        vec![both / 2, both - both / 2]
    }

    /// Puts sections side by side where they fit.
    pub(super) fn blocks(self, sections: &[Vec<Part>]) -> Vec<Block> {
        sections.chunks(self.columns).map(<[_]>::to_vec).collect()
    }

    pub(super) fn drawn(self, blocks: &[Block]) -> String {
        if !self.is_framed {
            let texts = blocks.iter().flatten();
            let texts = texts.map(|section| self.text(section, self.width));
            return texts.collect::<Vec<_>>().join("\n");
        }
        let none = Vec::new();
        let edge = self.drawing("│");
        let mut text = self.rule("┌┐", &none, blocks.first().unwrap_or(&none));
        for (number, block) in blocks.iter().enumerate() {
            let rooms = self.rooms(block);
            let cells = block.iter().zip(rooms);
            let cells = cells.map(|(section, room)| (self.text(section, room), room));
            let cells: Vec<(String, usize)> = cells.collect();
            let height = cells.iter().map(|(text, _)| text.lines().count()).max();
            for row in 0..height.unwrap_or_default() {
                text.push_str(&edge);
                for (cell, room) in &cells {
                    let line = cell.lines().nth(row).unwrap_or_default();
                    let blanks = " ".repeat(room.saturating_sub(measure_text_width(line)));
                    text.extend(["  ", line, &blanks, " ", &edge]);
                }
                text.push('\n');
            }
            text.push_str(&match blocks.get(number + 1) {
                Some(next) => self.rule("├┤", block, next),
                None => self.rule("└┘", block, &none),
            });
        }
        text
    }

    pub(super) fn below(self, parts: &[Part]) -> String {
        self.text(parts, self.width)
    }

    fn text(self, parts: &[Part], room: usize) -> String {
        // A screen leaves its last column free.
        screen(parts, Some(room + 1), self.canvas.paint)
    }

    fn drawing(self, strokes: &str) -> String {
        let paint = self.canvas.paint;
        paint.dim(&paint.charset.text(strokes))
    }

    fn rule(self, ends: &str, above: &Block, below: &Block) -> String {
        let (joint, block) = match (above.len() > 1, below.len() > 1) {
            (false, false) => ("─", below),
            (true, false) => ("┴", above),
            (false, true) => ("┬", below),
            (true, true) => ("┼", below),
        };
        let rooms = self.rooms(block).into_iter();
        let inside = rooms.map(|room| "─".repeat(BESIDE + room));
        let inside = inside.collect::<Vec<_>>().join(joint);
        let mut ends = ends.chars().map(String::from);
        let (left, right) = (ends.next().unwrap_or_default(), ends.collect::<String>());
        self.drawing(&format!("{left}{inside}{right}")) + "\n"
    }
}
