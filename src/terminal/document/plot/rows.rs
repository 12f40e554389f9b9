//! Bars and ranges from the left to the right, each beneath its name.

use maud::{Markup, html};

use super::{Axis, NARROW, circle, drawing, line, rect, text, width_of};
use crate::text::clean::shortened;

/// A row for each thing, over an axis of values.
#[derive(Clone, Debug)]
pub struct RowChart {
    pub name: String,
    pub axis: Axis,
    pub rows: Vec<Row>,
}

/// A thing with its value.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub value: String,
    pub span: Extent,
}

/// What a row spans, as shares of the axis.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// A bar from zero.
    Bar(f64),
    /// From a point, which is marked.
    From(f64, f64),
}

const LEFT: f64 = 6.0;
const WIDTH: f64 = NARROW + 40.0;
const ROW: f64 = 36.0;

impl RowChart {
    pub(super) fn svg(&self) -> Markup {
        let x = |share: f64| LEFT + share.clamp(0.0, 1.0) * WIDTH;
        let tops = std::iter::successors(Some(4.0), |top| Some(top + ROW));
        let bottom = tops.clone().nth(self.rows.len()).unwrap_or_default();
        let said = self.rows.iter();
        let said: Vec<String> = said
            .map(|row| format!("{}: {}", row.name, row.value))
            .collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let marks = html! {
            @for (share, label) in &self.axis.ticks {
                (line("grid", (x(*share), 4.0), (x(*share), bottom)))
                // The labels at both ends stay within the drawing.
                @let inside = width_of(label) / 2.0;
                @let middle = x(*share).clamp(inside, 2.0 * LEFT + WIDTH - inside);
                (text("middle", (middle, bottom + 16.0), label))
            }
            (text("end", (x(1.0), bottom + 34.0), self.axis.title))
            @for (row, top) in self.rows.iter().zip(tops) {
                (row.svg(x, top))
            }
        };
        let below = if self.axis.title.is_empty() {
            24.0
        } else {
            42.0
        };
        drawing(
            &self.name,
            &said,
            (2.0 * LEFT + WIDTH, bottom + below),
            &marks,
        )
    }
}

impl Row {
    fn svg(&self, x: impl Fn(f64) -> f64, top: f64) -> Markup {
        let (start, middle) = (x(0.0), top + 24.0);
        // What the value leaves free.
        let room = 44_usize.saturating_sub(self.value.chars().count());
        let name = shortened(&self.name, room.max(12));
        html! {
            g.bar {
                (text("name", (start, top + 14.0), &name))
                (text("end", (x(1.0), top + 14.0), &self.value))
                (line("track", (start, middle), (x(1.0), middle)))
                @match self.span {
                    Extent::Bar(end) => (rect((start, middle - 4.0), (x(end) - start, 8.0)))
                    Extent::From(from, to) => {
                        (line("whisker", (x(from), middle), (x(to), middle)))
                        (line("whisker", (x(to), middle - 5.0), (x(to), middle + 5.0)))
                        (circle((x(from), middle), 5.0))
                    }
                }
            }
        }
    }
}
