//! Points, columns and lines over two axes.

use maud::{Markup, html};

use super::{Axis, NARROW, circle, drawing, line, rect, text, width_of};
use crate::benchmark::statistics::Interval;

/// Marks over an axis from the left to the right and one upwards.
#[derive(Clone, Debug)]
pub struct Chart {
    pub name: String,
    /// The size of the area with the marks, in the units of the drawing.
    pub size: (f64, f64),
    pub across: Axis,
    pub up: Axis,
    pub points: Vec<Point>,
    pub join: Join,
}

/// Lines behind the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    No,
    /// A dashed line from corner to corner.
    Diagonal,
    /// From each point to the next one of its class.
    Points,
}

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
    /// A bar from the axis up, of this width.
    Column(f64),
}

#[derive(Clone, Copy, Debug)]
pub enum LabelPlace {
    /// Beside the point, where nothing else stands if there is room.
    Beside,
    /// Above the plot, at this share of the axis.
    Above(f64),
}

const TOP: f64 = 46.0;

impl Point {
    pub fn new(class: &'static str, shape: Shape, place: (f64, f64), said: String) -> Self {
        Self {
            class,
            shape,
            place,
            interval: None,
            label: String::new(),
            label_place: LabelPlace::Beside,
            description: said,
        }
    }

    #[must_use]
    pub fn named(self, label: String) -> Self {
        Self { label, ..self }
    }

    #[must_use]
    pub fn within(self, interval: Option<Interval>) -> Self {
        Self { interval, ..self }
    }
}

impl Chart {
    /// The labels of the axis upwards stand left of it.
    fn left(&self) -> f64 {
        let labels = self.up.ticks.iter().map(|(_, label)| width_of(label));
        labels.fold(12.0, f64::max) * self.growth() + 10.0
    }

    /// The letters of a broad drawing are larger on a small screen.
    fn growth(&self) -> f64 {
        if self.size.0 > NARROW { 1.6 } else { 1.0 }
    }

    fn x(&self, share: f64) -> f64 {
        self.left() + share.clamp(0.0, 1.0) * self.size.0
    }

    fn y(&self, share: f64) -> f64 {
        TOP + (1.0 - share.clamp(0.0, 1.0)) * self.size.1
    }

    pub(super) fn svg(&self) -> Markup {
        let (left, right, bottom) = (self.left(), self.x(1.0), self.y(0.0));
        let descriptions = self.points.iter().map(|point| point.description.as_str());
        let marks = html! {
            @for (share, label) in &self.up.ticks {
                (line("grid", (left, self.y(*share)), (right, self.y(*share))))
                (text("end", (left - 8.0, self.y(*share) + 4.0), label))
            }
            @for (share, label) in &self.across.ticks {
                @let x = self.x(*share);
                (line("grid", (x, TOP), (x, bottom)))
                (text("middle", (x, bottom + 20.0), label))
            }
            (text("start", (4.0, 14.0), self.up.title))
            (text("end", (right, bottom + 42.0), self.across.title))
            @match self.join {
                Join::No => {}
                Join::Diagonal => (line("diagonal", (left, bottom), (right, TOP)))
                Join::Points => (self.joined())
            }
            @for (point, place) in self.points.iter().zip(self.label_places()) {
                (self.point(point, place))
            }
        };
        let untitled = self.across.title.is_empty();
        let below = if untitled { 30.0 } else { 52.0 };
        let size = (right + 28.0 * self.growth(), bottom + below);
        drawing(&self.name, &descriptions.collect::<Vec<_>>(), size, &marks)
    }

    fn joined(&self) -> Markup {
        let place = |point: &Point| (self.x(point.place.0), self.y(point.place.1));
        let next = |at: usize, class: &str| {
            let mut later = self.points.iter().skip(at + 1);
            later.find(|point| point.class == class)
        };
        html! {
            @for (at, point) in self.points.iter().enumerate() {
                @if let Some(next) = next(at, point.class) {
                    g class=(point.class) { (line("join", place(point), place(next))) }
                }
            }
        }
    }

    fn point(&self, point: &Point, label_place: (f64, f64)) -> Markup {
        let (x, middle) = (self.x(point.place.0), self.y(point.place.1));
        let label_class = match point.label_place {
            LabelPlace::Beside => "letter",
            LabelPlace::Above(_) => "middle",
        };
        let is_beside = matches!(point.label_place, LabelPlace::Beside);
        let is_far = is_beside
            && !point.label.is_empty()
            && (label_place.0 - x).hypot(label_place.1 - middle) > 24.0;
        html! {
            g class=(point.class) {
                @if let Some(Interval { low, high }) = point.interval {
                    (line("whisker", (x, self.y(low)), (x, self.y(high))))
                    (line("whisker", (x - 4.0, self.y(low)), (x + 4.0, self.y(low))))
                    (line("whisker", (x - 4.0, self.y(high)), (x + 4.0, self.y(high))))
                }
                @match point.shape {
                    Shape::Circle(radius) => (circle((x, middle), radius))
                    Shape::Square => (rect((x - 6.0, middle - 6.0), (12.0, 12.0)))
                    Shape::Column(wide) => {
                        (rect((x - wide / 2.0, middle), (wide, self.y(0.0) - middle)))
                    }
                }
                @if is_far { (line("grid", (x, middle), label_place)) }
                @if !point.label.is_empty() { (text(label_class, label_place, &point.label)) }
            }
        }
    }

    /// A label beside a point takes the nearest place that is clear of marks, intervals and other
    /// labels.
    fn label_places(&self) -> Vec<(f64, f64)> {
        let mut taken = Vec::new();
        for point in &self.points {
            let x = self.x(point.place.0);
            taken.push(Room::new((x, self.y(point.place.1)), 6.0, 6.0));
            taken.extend(point.interval.map(|Interval { low, high }| {
                let middle = f64::midpoint(self.y(low), self.y(high));
                Room::new((x, middle), 0.0, self.y(low) - middle)
            }));
        }
        let across = self.left() + 6.0..self.x(1.0) + 14.0;
        let down = TOP - 14.0..=self.y(0.0);
        let offsets = offsets();
        let place = |point: &Point| {
            if let LabelPlace::Above(share) = point.label_place {
                return (self.x(share), TOP - 6.0);
            }
            if point.label.is_empty() {
                return (0.0, 0.0);
            }
            let characters = u8::try_from(point.label.len()).unwrap_or(u8::MAX);
            let wide = 2.0 + 4.0 * f64::from(characters);
            let (x, y) = (self.x(point.place.0), self.y(point.place.1));
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

#[cfg(test)]
mod tests {
    use super::*;

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
            let plot = Chart {
                name: String::new(),
                size: (484.0, 272.0),
                across: Axis::default(),
                up: Axis::percent(""),
                points: (0..count).map(point).collect(),
                join: Join::No,
            };
            let places = plot.label_places();
            let labels = plot.points.iter().map(|point| &point.label);
            for (at, (one, label)) in places.iter().zip(labels).enumerate() {
                let width = if label == "A" { 12.0 } else { 16.0 };
                assert!(
                    (TOP - 10.0..TOP + 272.0 + 5.0).contains(&one.1),
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
