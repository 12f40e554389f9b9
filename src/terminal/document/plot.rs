//! Plots: points over two axes, and bars in a row. A page gets a drawing, whose colours come from
//! its style sheet, for light and dark; shapes and letters name each point without them. A screen
//! gets a bar for each value.

use maud::{Markup, html};

use crate::benchmark::statistics::Interval;

/// A picture of figures.
#[derive(Clone, Debug)]
pub enum Plot {
    Points(PointPlot),
    Bars(Vec<BarRow>),
}

/// Values in a row, such as one a day.
#[derive(Clone, Debug)]
pub struct BarRow {
    pub name: &'static str,
    /// `None` is unknown.
    pub values: Vec<Option<u64>>,
    pub note: String,
}

/// Points over an axis from the left to the right, with the share of right answers upwards.
#[derive(Clone, Debug)]
pub struct PointPlot {
    pub name: String,
    /// The width of the area with the points, in the units of the drawing.
    pub width: f64,
    /// The title of the lower axis, and its ticks: their places as shares of the axis.
    pub axis: (&'static str, Vec<Tick>),
    pub points: Vec<Point>,
    /// A dashed line from corner to corner.
    pub has_diagonal: bool,
}

/// A tick of an axis: its place as a share of the axis, and its label.
pub type Tick = (f64, String);

/// A point with its 95% interval.
#[derive(Clone, Debug)]
pub struct Point {
    pub class: &'static str,
    pub shape: Shape,
    /// Shares of both axes.
    pub place: (f64, f64),
    pub interval: Option<Interval>,
    pub label: String,
    pub label_place: LabelPlace,
    pub description: String,
}

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A circle with this radius.
    Circle(f64),
    Square,
}

#[derive(Clone, Copy, Debug)]
pub enum LabelPlace {
    /// Beside the point, where nothing else stands if there is room.
    Beside,
    /// Above the plot, at this share of the axis.
    Above(f64),
}

/// Zero, then seven heights from the lowest to the highest.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

const LEFT: f64 = 52.0;
const TOP: f64 = 46.0;
const HEIGHT: f64 = 272.0;

impl BarRow {
    /// Returns one bar for each value, relative to the highest. Only zero gets the lowest bar; an
    /// unknown value is a question mark.
    pub(super) fn bars(&self) -> String {
        let highest = self.values.iter().flatten().max();
        let highest = u128::from(highest.copied().unwrap_or_default().max(1));
        let bar = |value: &Option<u64>| {
            let height = (u128::from((*value)?) * 7).div_ceil(highest);
            HEIGHTS.get(usize::try_from(height).ok()?).copied()
        };
        let bars = self.values.iter().map(bar);
        bars.map(|bar| bar.unwrap_or('?')).collect()
    }
}

impl Plot {
    pub(super) fn svg(&self) -> Markup {
        match self {
            Self::Points(plot) => plot.svg(),
            Self::Bars(rows) => html! {
                @for row in rows { p { (row.name) " " (row.bars()) " " (row.note) } }
            },
        }
    }
}

pub fn percent_ticks() -> Vec<Tick> {
    let ticks = [0.0, 0.25, 0.5, 0.75, 1.0];
    let tick = |share: f64| (share, format!("{:.0}%", share * 100.0));
    ticks.into_iter().map(tick).collect()
}

fn y(share: f64) -> f64 {
    TOP + (1.0 - share.clamp(0.0, 1.0)) * HEIGHT
}

impl PointPlot {
    fn x(&self, share: f64) -> f64 {
        LEFT + share.clamp(0.0, 1.0) * self.width
    }

    fn svg(&self) -> Markup {
        let (right, bottom) = (LEFT + self.width, TOP + HEIGHT);
        let descriptions = self.points.iter().map(|point| point.description.as_str());
        let description = descriptions.collect::<Vec<_>>().join("; ");
        let size = format!("0 0 {} {}", right + 24.0, bottom + 54.0);
        let (title, ticks) = &self.axis;
        html! {
            svg.plot role="img" aria-label=(self.name) viewBox=(size) {
                title { (self.name) }
                desc { (description) }
                @for (share, label) in percent_ticks() {
                    (line("grid", (LEFT, y(share)), (right, y(share))))
                    (text("end", (LEFT - 8.0, y(share) + 4.0), &label))
                }
                @for (share, label) in ticks {
                    @let x = self.x(*share);
                    (line("grid", (x, TOP), (x, bottom)))
                    (text("middle", (x, bottom + 18.0), label))
                }
                (text("start", (4.0, 14.0), "Right answers, with 95% intervals"))
                (text("end", (right, bottom + 36.0), title))
                @if self.has_diagonal { (line("diagonal", (LEFT, bottom), (right, TOP))) }
                @for (point, place) in self.points.iter().zip(self.label_places()) {
                    (self.point(point, place))
                }
            }
        }
    }

    fn point(&self, point: &Point, label_place: (f64, f64)) -> Markup {
        let (x, middle) = (self.x(point.place.0), y(point.place.1));
        let label_class = match point.label_place {
            LabelPlace::Beside => "letter",
            LabelPlace::Above(_) => "middle",
        };
        html! {
            g class=(point.class) {
                @if let Some(Interval { low, high }) = point.interval {
                    (line("whisker", (x, y(low)), (x, y(high))))
                    (line("whisker", (x - 4.0, y(low)), (x + 4.0, y(low))))
                    (line("whisker", (x - 4.0, y(high)), (x + 4.0, y(high))))
                }
                @match point.shape {
                    Shape::Circle(radius) => {
                        circle.mark cx=(shown(x)) cy=(shown(middle)) r=(shown(radius)) {}
                    }
                    Shape::Square => {
                        rect.mark x=(shown(x - 6.0)) y=(shown(middle - 6.0)) width="12" height="12" {}
                    }
                }
                (text(label_class, label_place, &point.label))
            }
        }
    }

    /// Labels beside points keep clear of marks and of each other, as far as there is room.
    fn label_places(&self) -> Vec<(f64, f64)> {
        let places = self.points.iter();
        let mut taken: Vec<_> = places
            .map(|point| (self.x(point.place.0), y(point.place.1)))
            .collect();
        let mut place = |point: &Point| {
            if let LabelPlace::Above(share) = point.label_place {
                return (self.x(share), TOP - 6.0);
            }
            let (x, y) = (self.x(point.place.0), y(point.place.1));
            let columns = [14.0, -14.0, 28.0, -28.0, 42.0];
            let candidates = [0.0, -14.0, 14.0]
                .into_iter()
                .flat_map(|down| columns.map(|aside| (x + aside, y + down)));
            let is_free = |(x, y): &(f64, f64)| {
                let is_apart = |(other_x, other_y): &(f64, f64)| {
                    (other_x - x).abs() > 12.0 || (other_y - y).abs() > 12.0
                };
                *x > LEFT + 6.0 && *x < LEFT + self.width + 14.0 && taken.iter().all(is_apart)
            };
            let mut candidates = candidates;
            let (x, y) = candidates.find(is_free).unwrap_or((x + 14.0, y));
            taken.push((x, y));
            (x, y + 4.5)
        };
        self.points.iter().map(&mut place).collect()
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

fn shown(at: f64) -> String {
    let text = format!("{at:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_zero_unknown_and_the_highest() {
        let row = |values: &[Option<u64>]| BarRow {
            name: "Runs",
            values: values.to_vec(),
            note: String::new(),
        };
        assert_eq!(row(&[Some(0), Some(1), None, Some(100)]).bars(), "▁▂?█");
        assert_eq!(row(&[Some(0), Some(0)]).bars(), "▁▁");
    }

    #[test]
    fn letters_of_near_points_do_not_overlap() {
        let point = |_| Point {
            class: "expert",
            shape: Shape::Square,
            place: (0.5, 0.5),
            interval: None,
            label: String::new(),
            label_place: LabelPlace::Beside,
            description: String::new(),
        };
        let plot = PointPlot {
            name: String::new(),
            width: 484.0,
            axis: ("", Vec::new()),
            points: (0..5).map(point).collect(),
            has_diagonal: false,
        };
        let places = plot.label_places();
        for (at, one) in places.iter().enumerate() {
            for other in &places[at + 1..] {
                let is_apart = (one.0 - other.0).abs() > 12.0 || (one.1 - other.1).abs() > 12.0;
                assert!(is_apart, "{places:?}");
            }
        }
    }
}
