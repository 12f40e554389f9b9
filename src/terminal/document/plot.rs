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
        let is_beside = matches!(point.label_place, LabelPlace::Beside);
        let is_far = is_beside && (label_place.0 - x).hypot(label_place.1 - middle) > 24.0;
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
                @if is_far { (line("grid", (x, middle), label_place)) }
                (text(label_class, label_place, &point.label))
            }
        }
    }

    /// A label beside a point takes the nearest place that is clear of marks, intervals and other
    /// labels.
    fn label_places(&self) -> Vec<(f64, f64)> {
        let mut taken = Vec::new();
        for point in &self.points {
            let x = self.x(point.place.0);
            taken.push(Room::new((x, y(point.place.1)), 6.0, 6.0));
            taken.extend(point.interval.map(|Interval { low, high }| {
                let middle = f64::midpoint(y(low), y(high));
                Room::new((x, middle), 0.0, y(low) - middle)
            }));
        }
        let across = LEFT + 6.0..LEFT + self.width + 14.0;
        let down = TOP - 14.0..=TOP + HEIGHT;
        let offsets = offsets();
        let place = |point: &Point| {
            if let LabelPlace::Above(share) = point.label_place {
                return (self.x(share), TOP - 6.0);
            }
            let characters = u8::try_from(point.label.len()).unwrap_or(u8::MAX);
            let wide = 2.0 + 4.0 * f64::from(characters);
            let (x, y) = (self.x(point.place.0), y(point.place.1));
            let rooms = offsets.iter();
            let rooms = rooms.map(|(right, below)| Room::new((x + right, y + below), wide, 6.0));
            let mut inside = rooms.filter(|one| across.contains(&one.x) && down.contains(&one.y));
            let first = inside.clone().next();
            let is_free = |one: &Room| taken.iter().all(|other| one.is_apart(other));
            let label = inside.find(is_free).or(first).unwrap_or_default();
            taken.push(label);
            (label.x, label.y + 4.5)
        };
        self.points.iter().map(place).collect()
    }
}

/// What a mark, an interval or a label takes: its middle, and half of its width and height.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    x: f64,
    y: f64,
    wide: f64,
    tall: f64,
}

impl Room {
    fn new((x, y): (f64, f64), wide: f64, tall: f64) -> Self {
        Self { x, y, wide, tall }
    }

    fn is_apart(&self, other: &Self) -> bool {
        (self.x - other.x).abs() > self.wide + other.wide
            || (self.y - other.y).abs() > self.tall + other.tall
    }
}

/// Returns where a label can stand from its point, the nearest first, rather aside than above.
fn offsets() -> Vec<(f64, f64)> {
    const STEP: f64 = 14.0;
    let steps = || (-12..=12).map(|step| f64::from(step) * STEP);
    let mut offsets: Vec<(f64, f64)> = steps()
        .flat_map(|down| steps().map(move |aside| (aside, down)))
        .collect();
    let distance = |(aside, down): &(f64, f64)| (aside - 1.0).hypot(down * 1.5);
    offsets.sort_by(|one, other| distance(one).total_cmp(&distance(other)));
    offsets
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

    /// Points of panels of every size, in a heap, in a corner, in a row and scattered.
    #[test]
    fn labels_stand_apart_and_within_the_drawing() {
        let heaps: [fn(f64) -> (f64, f64); 5] = [
            |_| (0.5, 0.5),
            |_| (1.0, 1.0),
            |_| (0.0, 0.0),
            |at| (at / 40.0, 0.8),
            |at| ((at * 0.37).fract(), (at * 0.61).fract()),
        ];
        for (count, place) in [3, 8, 20, 40]
            .into_iter()
            .flat_map(|count| heaps.map(|at| (count, at)))
        {
            let point = |at: u32| Point {
                class: "expert",
                shape: Shape::Square,
                place: place(f64::from(at)),
                interval: None,
                label: (if at < 26 { "A" } else { "27" }).to_owned(),
                label_place: LabelPlace::Beside,
                description: String::new(),
            };
            let plot = PointPlot {
                name: String::new(),
                width: 484.0,
                axis: ("", Vec::new()),
                points: (0..count).map(point).collect(),
                has_diagonal: false,
            };
            let places = plot.label_places();
            let labels = plot.points.iter().map(|point| &point.label);
            for (at, (one, label)) in places.iter().zip(labels).enumerate() {
                let width = if label == "A" { 12.0 } else { 16.0 };
                assert!(
                    (TOP - 10.0..TOP + HEIGHT + 5.0).contains(&one.1),
                    "{places:?}"
                );
                for other in &places[at + 1..] {
                    let is_apart =
                        (one.0 - other.0).abs() > width || (one.1 - other.1).abs() > 12.0;
                    assert!(is_apart, "{count} points: {places:?}");
                }
            }
        }
    }
}
