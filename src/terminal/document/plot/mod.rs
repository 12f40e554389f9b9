//! Plots: marks over two axes, bars in rows, a bar for each day, and a tree. A page gets a drawing,
//! whose colours come from its style sheet, for light, dark and paper; shapes and letters name each
//! mark without them, and a title and a description say it to those who do not see it. The builder
//! puts a table of the same figures beneath, which a screen shows alone; it has bars for days.

mod chart;
mod rows;
mod tree;

pub use self::chart::{Chart, Join, LabelPlace, Point, Shape};
pub use self::rows::{Extent, Row, RowChart};

use maud::{Markup, html};

use crate::benchmark::statistics::number;
use crate::terminal::output::evaluation_tree::EvaluationTree;

/// A picture of figures.
#[derive(Clone, Debug)]
pub enum Plot {
    Chart(Chart),
    Rows(RowChart),
    Bars(Vec<BarRow>),
    Tree(EvaluationTree),
}

/// Values in a row, such as one a day.
#[derive(Clone, Debug)]
pub struct BarRow {
    pub name: &'static str,
    /// `None` is unknown.
    pub values: Vec<Option<u64>>,
    /// What a screen says behind the bars.
    pub note: String,
    /// What each value stands for.
    pub of: Vec<String>,
    pub unit: fn(u64) -> String,
}

/// An axis: its title, and its ticks.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    pub title: &'static str,
    pub ticks: Vec<Tick>,
}

/// A tick of an axis: its place as a share of the axis, and its label.
pub type Tick = (f64, String);

/// An axis from zero, of at most four steps of a round number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    step: u64,
    steps: u64,
}

/// Zero, then seven heights from the lowest to the highest.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The width of a drawing that stands beside others, in the units of the drawing.
pub const NARROW: f64 = 284.0;

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

    /// Returns columns over the first, the middle and the last thing that they are of.
    fn chart(&self) -> Chart {
        let highest = self.values.iter().flatten().max();
        let scale = Scale::to(highest.copied().unwrap_or_default());
        let all = number(self.values.len() as u64).max(1.0);
        let place = |at: usize| (number(at as u64) + 0.5) / all;
        let last = self.of.len().saturating_sub(1);
        let mut marked = vec![0, last / 2, last];
        marked.dedup();
        let ticks = marked.into_iter();
        let ticks = ticks.filter_map(|at| Some((place(at), self.of.get(at)?.clone())));
        let points = self.values.iter().zip(&self.of).enumerate();
        let points = points.map(|(at, (value, of))| {
            let known = value.map(self.unit);
            let description = format!("{of}: {}", known.as_deref().unwrap_or("unknown"));
            let height = value.map_or(0.0, |value| scale.share(value));
            let shape = Shape::Column((NARROW / all * 0.76).min(28.0));
            let point = Point::new("column", shape, (place(at), height), description);
            let label = if value.is_none() { "?" } else { "" };
            point.named(label.to_owned())
        });
        Chart {
            name: format!("{} per day", self.name),
            size: (NARROW, 132.0),
            across: Axis::new("", ticks),
            up: Axis::new(self.name, scale.ticks(self.unit)),
            points: points.collect(),
            join: Join::No,
        }
    }
}

impl Plot {
    pub(super) fn svg(&self) -> Markup {
        match self {
            Self::Chart(plot) => plot.svg(),
            Self::Rows(plot) => plot.svg(),
            Self::Bars(rows) => html! { @for row in rows { (row.chart().svg()) } },
            Self::Tree(tree) => tree::svg(tree),
        }
    }
}

impl Axis {
    pub fn new(title: &'static str, ticks: impl IntoIterator<Item = Tick>) -> Self {
        let ticks = ticks.into_iter().collect();
        Self { title, ticks }
    }

    pub fn percent(title: &'static str) -> Self {
        let ticks = [0.0, 0.25, 0.5, 0.75, 1.0];
        let tick = |share: f64| (share, format!("{:.0}%", share * 100.0));
        Self::new(title, ticks.map(tick))
    }
}

impl Scale {
    pub fn to(highest: u64) -> Self {
        let powers = (0..19).map(|power| 10_u64.pow(power));
        let mut steps = powers.flat_map(|power| [1, 2, 5].map(|step| power.saturating_mul(step)));
        let step = steps.find(|step| highest.div_ceil(*step) <= 4);
        let step = step.unwrap_or(u64::MAX);
        let steps = highest.div_ceil(step).max(1);
        Self { step, steps }
    }

    pub fn share(self, value: u64) -> f64 {
        number(value) / (number(self.step) * number(self.steps))
    }

    pub fn ticks(self, unit: fn(u64) -> String) -> Vec<Tick> {
        let values = (0..=self.steps).map(|at| self.step.saturating_mul(at));
        values
            .map(|value| (self.share(value), unit(value)))
            .collect()
    }
}

fn drawing(
    name: &str,
    descriptions: &[&str],
    (width, height): (f64, f64),
    marks: &Markup,
) -> Markup {
    let size = format!("0 0 {} {}", shown(width), shown(height));
    html! {
        svg.plot.broad[width > 400.0] role="img" aria-label=(name) viewBox=(size) {
            title { (name) }
            desc { (descriptions.join("; ")) }
            (marks)
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

fn rect(place: (f64, f64), size: (f64, f64)) -> Markup {
    html! {
        rect.mark x=(shown(place.0)) y=(shown(place.1))
            width=(shown(size.0)) height=(shown(size.1)) {}
    }
}

fn circle(place: (f64, f64), radius: f64) -> Markup {
    html! { circle.mark cx=(shown(place.0)) cy=(shown(place.1)) r=(shown(radius)) {} }
}

fn shown(at: f64) -> String {
    let text = format!("{at:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The width of a text, at most.
fn width_of(text: &str) -> f64 {
    number(text.chars().count() as u64) * 8.6
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
            of: values.iter().map(|_| "a day".to_owned()).collect(),
            unit: |runs| runs.to_string(),
        };
        assert_eq!(row(&[Some(0), Some(1), None, Some(100)]).bars(), "▁▂?█");
        assert_eq!(row(&[Some(0), Some(0)]).bars(), "▁▁");
        let drawn = row(&[Some(0), None, Some(100)]).chart().svg().into_string();
        assert!(
            drawn.contains("a day: 0; a day: unknown; a day: 100"),
            "{drawn}"
        );
    }

    #[test]
    fn a_scale_has_round_steps_and_holds_every_value() {
        let ticks = |highest| {
            let ticks = Scale::to(highest).ticks(|value| value.to_string());
            ticks
                .into_iter()
                .map(|(_, label)| label)
                .collect::<Vec<_>>()
        };
        assert_eq!(ticks(0), ["0", "1"]);
        assert_eq!(ticks(3), ["0", "1", "2", "3"]);
        assert_eq!(ticks(17), ["0", "5", "10", "15", "20"]);
        for highest in [1, 9, 99, 1_000, 123_456_789, u64::MAX] {
            let scale = Scale::to(highest);
            assert!(scale.share(highest) <= 1.0 && scale.ticks(|_| String::new()).len() <= 5);
        }
    }
}
