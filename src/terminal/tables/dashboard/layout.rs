//! Places the sections on a canvas: in a frame, in one column or two, or below one another without
//! a frame.
//!
//! Invariant: no line is wider than the canvas, from [`NARROWEST`] columns on. A table crate would
//! not do: the number of columns changes from one block to the next.

use super::charset::Charset;
use super::line::{FittedLine, StyledLine};
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

/// Width, colour, characters and frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// Columns.
    pub width: usize,
    pub paint: Paint,
    pub charset: Charset,
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

/// A section: its lines before they are wrapped.
type Section = Vec<StyledLine>;

/// The sections between two rules: one, or two side by side.
pub(super) type SectionBlock = Vec<Section>;

/// The division of a canvas.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameLayout {
    canvas: Canvas,
    /// Of a line, with the frame.
    width: usize,
    is_framed: bool,
    /// The most sections of a block.
    columns: usize,
}

impl FrameLayout {
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

    /// Returns the columns for the text of a whole block.
    pub(super) fn room(self) -> usize {
        if self.is_framed {
            self.width - 2 - BESIDE
        } else {
            self.width
        }
    }

    /// Returns the columns for the text of each section of a block.
    fn rooms(self, block: &[Section]) -> Vec<usize> {
        if block.len() < 2 {
            return vec![self.room()];
        }
        let both = self.room().saturating_sub(1 + BESIDE);
        vec![both / 2, both - both / 2]
    }

    /// Puts sections side by side where they fit.
    pub(super) fn blocks(self, sections: &[Section]) -> Vec<SectionBlock> {
        sections.chunks(self.columns).map(<[_]>::to_vec).collect()
    }

    /// Draws the blocks, one below the other.
    pub(super) fn drawn(self, blocks: &[SectionBlock]) -> String {
        if !self.is_framed {
            let texts = blocks.iter().flatten().map(|section| self.below(section));
            return texts.collect::<Vec<_>>().join("\n");
        }
        let strokes = self.canvas.charset.strokes();
        let edge = self.canvas.paint.dim(&strokes.down.to_string());
        let mut text = self.rule(strokes.top, &[], blocks.first().map_or(&[], Vec::as_slice));
        for (number, block) in blocks.iter().enumerate() {
            let rooms = self.rooms(block);
            let cells: Vec<(Vec<FittedLine>, usize)> = block
                .iter()
                .zip(rooms)
                .map(|(section, room)| (self.fitted(section, room), room))
                .collect();
            let height = cells
                .iter()
                .map(|(lines, _)| lines.len())
                .max()
                .unwrap_or(0);
            for row in 0..height {
                text.push_str(&edge);
                for (lines, room) in &cells {
                    let (line, width) = lines
                        .get(row)
                        .map_or(("", 0), |line| (line.text.as_str(), line.width));
                    let blanks = " ".repeat(room.saturating_sub(width));
                    text.extend(["  ", line, &blanks, " ", &edge]);
                }
                text.push('\n');
            }
            text.push_str(&match blocks.get(number + 1) {
                Some(next) => self.rule(strokes.middle, block, next),
                None => self.rule(strokes.bottom, block, &[]),
            });
        }
        text
    }

    /// Draws the lines without a frame.
    pub(super) fn below(self, lines: &[StyledLine]) -> String {
        let fitted = self.fitted(lines, self.width).into_iter();
        fitted.map(|line| line.text + "\n").collect()
    }

    fn fitted(self, lines: &[StyledLine], room: usize) -> Vec<FittedLine> {
        let Canvas { charset, paint, .. } = self.canvas;
        lines
            .iter()
            .flat_map(|line| line.fitted(room, charset, paint))
            .collect()
    }

    /// Returns the rule between two blocks, with a joint where a column of either begins.
    fn rule(self, [left, right]: [char; 2], above: &[Section], below: &[Section]) -> String {
        let strokes = self.canvas.charset.strokes();
        let [none, from_above, to_below, both] = strokes.joints;
        let (joint, block) = match (above.len() > 1, below.len() > 1) {
            (false, false) => (none, below),
            (true, false) => (from_above, above),
            (false, true) => (to_below, below),
            (true, true) => (both, below),
        };
        let inside = self
            .rooms(block)
            .into_iter()
            .map(|room| strokes.across.to_string().repeat(BESIDE + room));
        let inside = inside.collect::<Vec<_>>().join(&joint.to_string());
        self.canvas.paint.dim(&format!("{left}{inside}{right}")) + "\n"
    }
}
