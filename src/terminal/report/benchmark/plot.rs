//! Plots of the share of right answers. Colours come from the style sheet of the page, for light
//! and dark; shapes and letters name each point without them.

use maud::{Markup, html};

use crate::benchmark::statistics::Interval;

/// Points over an axis from the left to the right, with the share of right answers upwards.
pub(super) struct Plot<'a> {
    pub(super) name: &'a str,
    pub(super) area: PlotArea,
    /// The title of the lower axis, and its ticks.
    pub(super) axis: (&'static str, Vec<Tick>),
    pub(super) points: Vec<Point>,
    /// A dashed line from corner to corner.
    pub(super) has_diagonal: bool,
}

/// A point with its 95% interval.
pub(super) struct Point {
    pub(super) class: &'static str,
    pub(super) shape: Shape,
    /// Shares of both axes.
    pub(super) place: (f64, f64),
    pub(super) interval: Option<Interval>,
    pub(super) label: Label,
    /// The point in words.
    pub(super) description: String,
}

pub(super) enum Shape {
    /// A circle with this radius.
    Circle(f64),
    Square,
}

/// A text, its class, and its place in the units of the drawing.
pub(super) type Label = (&'static str, (f64, f64), String);

/// A tick of an axis: its place as a share of the axis, and its label.
pub(super) type Tick = (f64, String);

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

    fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// Returns the ticks of an axis from 0 to 100%.
pub(super) fn percent_ticks() -> Vec<Tick> {
    let ticks = [0.0, 0.25, 0.5, 0.75, 1.0];
    let ticks = ticks.into_iter();
    ticks
        .map(|share| (share, format!("{:.0}%", share * 100.0)))
        .collect()
}

impl Plot<'_> {
    pub(super) fn drawing(&self) -> Markup {
        let (left, right) = (self.area.left, self.area.right());
        let (top, bottom) = (self.area.top, self.area.bottom());
        let descriptions = self.points.iter().map(|point| point.description.as_str());
        let description = descriptions.collect::<Vec<_>>().join("; ");
        let size = format!("0 0 {} {}", right + 24.0, bottom + 54.0);
        let (title, ticks) = &self.axis;
        html! {
            svg.plot role="img" aria-label=(self.name) viewBox=(size) {
                title { (self.name) }
                desc { (description) }
                @for (share, label) in percent_ticks() {
                    @let y = self.area.y(share);
                    (line("grid", (left, y), (right, y)))
                    (text("end", (left - 8.0, y + 4.0), &label))
                }
                @for (share, label) in ticks {
                    @let x = self.area.x(*share);
                    (line("grid", (x, top), (x, bottom)))
                    (text("middle", (x, bottom + 18.0), label))
                }
                (text("start", (4.0, 14.0), "Right answers, with 95% intervals"))
                (text("end", (right, bottom + 36.0), title))
                @if self.has_diagonal { (line("diagonal", (left, bottom), (right, top))) }
                @for point in &self.points { (self.point(point)) }
            }
        }
    }

    fn point(&self, point: &Point) -> Markup {
        let (x, y) = (self.area.x(point.place.0), self.area.y(point.place.1));
        let (class, place, label) = &point.label;
        html! {
            g class=(point.class) {
                @if let Some(interval) = point.interval {
                    @let (low, high) = (self.area.y(interval.low), self.area.y(interval.high));
                    (line("whisker", (x, low), (x, high)))
                    (line("whisker", (x - 4.0, low), (x + 4.0, low)))
                    (line("whisker", (x - 4.0, high), (x + 4.0, high)))
                }
                @match point.shape {
                    Shape::Circle(radius) => {
                        circle.mark cx=(shown(x)) cy=(shown(y)) r=(shown(radius)) {}
                    }
                    Shape::Square => {
                        rect.mark x=(shown(x - 6.0)) y=(shown(y - 6.0)) width="12" height="12" {}
                    }
                }
                (text(class, *place, label))
            }
        }
    }
}

fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Markup {
    html! {
        line class=(class) x1=(shown(from.0)) y1=(shown(from.1))
            x2=(shown(to.0)) y2=(shown(to.1)) {}
    }
}

fn text(class: &str, place: (f64, f64), text: &str) -> Markup {
    html! { text class=(class) x=(shown(place.0)) y=(shown(place.1)) { (text) } }
}

/// Formats a coordinate.
fn shown(at: f64) -> String {
    let text = format!("{at:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
