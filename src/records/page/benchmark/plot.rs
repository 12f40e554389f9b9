//! What the plots share: a frame with its axes, and marks with their intervals.

use maud::{Markup, html};

use crate::benchmark::statistics::Interval;

/// The area in which points are drawn, in the units of the drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlotArea {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl PlotArea {
    /// Returns the place of a share of the width.
    pub(super) fn x(&self, share: f64) -> f64 {
        self.left + share.clamp(0.0, 1.0) * self.width
    }

    /// Returns the place of a share of the height, from below.
    pub(super) fn y(&self, share: f64) -> f64 {
        self.top + (1.0 - share.clamp(0.0, 1.0)) * self.height
    }

    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// A tick of an axis: its place as a share of the axis, and its label.
pub(super) type Tick = (f64, String);

/// Returns the ticks of an axis from 0 to 100%.
pub(super) fn percent_ticks() -> Vec<Tick> {
    let ticks = [0.0, 0.25, 0.5, 0.75, 1.0];
    ticks
        .into_iter()
        .map(|share| (share, format!("{:.0}%", share * 100.0)))
        .collect()
}

/// Draws the grid with the labels of both axes.
pub(super) fn frame(
    area: &PlotArea,
    (x_title, x_ticks): (&str, &[Tick]),
    (y_title, y_ticks): (&str, &[Tick]),
) -> Markup {
    html! {
        @for (share, label) in y_ticks {
            @let y = place(area.y(*share));
            line.grid x1=(place(area.left)) y1=(y) x2=(place(area.right())) y2=(y) {}
            text.end x=(place(area.left - 8.0)) y=(place(area.y(*share) + 4.0)) { (label) }
        }
        @for (share, label) in x_ticks {
            @let x = place(area.x(*share));
            line.grid x1=(x) y1=(place(area.top)) x2=(x) y2=(place(area.bottom())) {}
            text.middle x=(x) y=(place(area.bottom() + 18.0)) { (label) }
        }
        text x="4" y="14" { (y_title) }
        text.end x=(place(area.right())) y=(place(area.bottom() + 36.0)) { (x_title) }
    }
}

/// Draws an interval as a vertical bar with caps.
pub(super) fn whisker(area: &PlotArea, x: f64, interval: Interval) -> Markup {
    let (low, high) = (place(area.y(interval.low)), place(area.y(interval.high)));
    let (left, right) = (place(x - 4.0), place(x + 4.0));
    html! {
        line x1=(place(x)) y1=(low) x2=(place(x)) y2=(high) {}
        line x1=(left) y1=(low) x2=(right) y2=(low) {}
        line x1=(left) y1=(high) x2=(right) y2=(high) {}
    }
}

/// Formats a coordinate.
pub(super) fn place(at: f64) -> String {
    let text = format!("{at:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
