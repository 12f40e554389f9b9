//! Places the sections: in a frame, in one column or two, or below one another without a frame.
//!
//! Invariant: no line is wider than the canvas, from [`NARROWEST`] columns on.

use super::canvas::{Border, Canvas};
use super::line::{FittedLine, StyledLine};

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

/// The content between two rules.
#[derive(Clone, Debug)]
pub(super) enum SectionBlock {
    Whole(Vec<StyledLine>),
    Pair(Vec<StyledLine>, Vec<StyledLine>),
}

/// The division of a canvas.
#[derive(Clone, Copy, Debug)]
pub(super) enum FrameLayout {
    /// Without a frame.
    Bare {
        canvas: Canvas,
        width: usize,
    },
    /// The width is that of the frame.
    One {
        canvas: Canvas,
        width: usize,
    },
    Two {
        canvas: Canvas,
        width: usize,
    },
}

impl FrameLayout {
    pub(super) fn of(canvas: Canvas) -> Self {
        let width = canvas.width;
        match canvas.border {
            Border::Frame if width >= PAIRED_FROM => Self::Two {
                canvas,
                width: width.min(WIDEST_PAIRED),
            },
            Border::Frame if width >= FRAMED_FROM => Self::One {
                canvas,
                width: width.min(WIDEST),
            },
            Border::Frame | Border::None => Self::Bare {
                canvas,
                width: width.max(NARROWEST),
            },
        }
    }

    /// Returns the columns for the text of a whole block.
    pub(super) fn room(self) -> usize {
        match self {
            Self::Bare { width, .. } => width,
            Self::One { width, .. } | Self::Two { width, .. } => width - 2 - BESIDE,
        }
    }

    /// Returns the columns for the left and the right of a pair.
    fn rooms(self) -> (usize, usize) {
        let both = self.room().saturating_sub(1 + BESIDE);
        (both / 2, both - both / 2)
    }

    /// Puts two sections side by side where they fit.
    pub(super) fn paired(self, sections: Vec<Vec<StyledLine>>) -> Vec<SectionBlock> {
        match self {
            Self::Bare { .. } | Self::One { .. } => {
                sections.into_iter().map(SectionBlock::Whole).collect()
            }
            Self::Two { .. } => sections
                .chunks(2)
                .filter_map(|two| match two {
                    [left, right] => Some(SectionBlock::Pair(left.clone(), right.clone())),
                    [only] => Some(SectionBlock::Whole(only.clone())),
                    _ => None,
                })
                .collect(),
        }
    }

    /// Draws the blocks, one below the other.
    pub(super) fn drawn(self, blocks: &[SectionBlock]) -> String {
        match self {
            Self::Bare { canvas, width } => {
                let texts = blocks.iter().map(|block| match block {
                    SectionBlock::Whole(lines) => unframed(lines, width, canvas),
                    SectionBlock::Pair(left, right) => {
                        unframed(left, width, canvas) + "\n" + &unframed(right, width, canvas)
                    }
                });
                texts.collect::<Vec<_>>().join("\n")
            }
            Self::One { canvas, width } | Self::Two { canvas, width } => {
                self.framed(blocks, width, canvas)
            }
        }
    }

    /// Draws the lines below the frame.
    pub(super) fn below(self, lines: &[StyledLine]) -> String {
        match self {
            Self::Bare { canvas, width }
            | Self::One { canvas, width }
            | Self::Two { canvas, width } => unframed(lines, width, canvas),
        }
    }

    fn framed(self, blocks: &[SectionBlock], width: usize, canvas: Canvas) -> String {
        let strokes = canvas.charset.strokes();
        let (left, right) = self.rooms();
        let rule = |ends: [char; 2], above: Option<&SectionBlock>, below: Option<&SectionBlock>| {
            let is_parted =
                |block: Option<&SectionBlock>| matches!(block, Some(SectionBlock::Pair(..)));
            let joint = match (is_parted(above), is_parted(below)) {
                (false, false) => 0,
                (true, false) => 1,
                (false, true) => 2,
                (true, true) => 3,
            };
            let inside = (1..width - 1).map(|column| match strokes.joints.get(joint) {
                Some(joint) if column == 1 + BESIDE + left => *joint,
                Some(_) | None => strokes.across,
            });
            let [begin, end] = ends;
            canvas.paint.dim(
                &std::iter::once(begin)
                    .chain(inside)
                    .chain([end])
                    .collect::<String>(),
            ) + "\n"
        };
        let edge = canvas.paint.dim(&strokes.down.to_string());
        let fitted = |lines: &[StyledLine], room| {
            lines
                .iter()
                .flat_map(|line| line.fitted(room, canvas.charset, canvas.paint))
                .collect::<Vec<_>>()
        };
        let cell = |line: Option<&FittedLine>, room: usize| {
            let (text, width) = line.map_or(("", 0), |line| (line.text.as_str(), line.width));
            format!("  {text}{} ", " ".repeat(room.saturating_sub(width)))
        };
        let mut text = rule(strokes.top, None, blocks.first());
        for (number, block) in blocks.iter().enumerate() {
            match block {
                SectionBlock::Whole(lines) => {
                    for line in &fitted(lines, self.room()) {
                        text.extend([&edge, &cell(Some(line), self.room()), &edge, "\n"]);
                    }
                }
                SectionBlock::Pair(one, other) => {
                    let (one, other) = (fitted(one, left), fitted(other, right));
                    for row in 0..one.len().max(other.len()) {
                        text.extend([
                            &edge,
                            &cell(one.get(row), left),
                            &edge,
                            &cell(other.get(row), right),
                            &edge,
                            "\n",
                        ]);
                    }
                }
            }
            match blocks.get(number + 1) {
                Some(next) => text.push_str(&rule(strokes.middle, Some(block), Some(next))),
                None => text.push_str(&rule(strokes.bottom, Some(block), None)),
            }
        }
        text
    }
}

fn unframed(lines: &[StyledLine], width: usize, canvas: Canvas) -> String {
    let fitted = lines
        .iter()
        .flat_map(|line| line.fitted(width, canvas.charset, canvas.paint));
    fitted.map(|fitted| fitted.text + "\n").collect()
}
