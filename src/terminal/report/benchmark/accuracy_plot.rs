//! Accuracy against cost per case: the panel, the single model, and each expert on its own. Points
//! have letters; the table beneath names them.

use maud::Markup;

use super::arm_name;
use super::figures::{figure, known};
use super::plot::{Plot, PlotArea, Point, Shape, Tick};
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::accuracy::Accuracy;
use crate::benchmark::report::words::{interval, percent};
use crate::benchmark::run::Arm;
use crate::domain::money::{Cost, MicroUsd};
use crate::terminal::document::{Line, Part, Table, paragraph};
use crate::terminal::output::format::{amount, model_address};

const AREA: PlotArea = PlotArea {
    left: 52.0,
    top: 34.0,
    width: 484.0,
    height: 272.0,
};

/// Costs that are further apart get a logarithmic axis.
const WIDEST_LINEAR: f64 = 12.0;

/// More steps of a linear axis are never needed: about five reach the maximum.
const MOST_STEPS: u32 = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PointKind {
    Panel,
    Single,
    Expert,
}

/// A point of the plot and a row of its table.
struct AccuracyPoint {
    kind: PointKind,
    name: String,
    accuracy: Accuracy,
    /// `None` if it is unknown: the point is in the table alone.
    cost: Option<Cost>,
}

pub(super) fn accuracy_and_cost(report: &BenchmarkReport) -> Vec<Part> {
    let points = points(report);
    let rows = points.iter().zip(letters()).map(|(point, letter)| {
        vec![
            Line::of("**{}** {}", [&letter, &point.name]),
            figure(percent(point.accuracy.share)),
            figure(interval(point.accuracy.interval)),
            known(point.cost.map(amount)),
        ]
    });
    let heads = ["", "Accuracy", "95% interval", "Cost per case"];
    let mut parts = Vec::new();
    if points.iter().any(|point| point.cost.is_some()) {
        parts.push(Part::Drawing(drawing(&points)));
    }
    parts.extend(Table::of(1, &heads, rows.collect()));
    if points.iter().any(|point| point.kind == PointKind::Expert) {
        let note = "Experts are those of the panel, by their own answers of Round 1.";
        parts.push(paragraph(note, []));
    }
    parts
}

fn points(report: &BenchmarkReport) -> Vec<AccuracyPoint> {
    let mut points = Vec::new();
    for arm in &report.arms {
        points.extend(arm.accuracy.map(|accuracy| AccuracyPoint {
            kind: match arm.arm {
                Arm::Panel => PointKind::Panel,
                Arm::Single => PointKind::Single,
            },
            name: arm_name(arm.arm).to_owned(),
            accuracy,
            cost: arm.spend.cost_per_case,
        }));
    }
    let experts = report.arms.iter().flat_map(|arm| &arm.experts);
    points.extend(experts.map(|expert| AccuracyPoint {
        kind: PointKind::Expert,
        name: format!(
            "{} ({})",
            expert.seat.as_str(),
            model_address(&expert.model)
        ),
        accuracy: expert.accuracy,
        cost: expert.cost_per_case,
    }));
    points
}

/// Returns `A` to `Z`, then numbers.
fn letters() -> impl Iterator<Item = String> {
    ('A'..='Z')
        .map(String::from)
        .chain((27..).map(|number: u32| number.to_string()))
}

fn drawing(points: &[AccuracyPoint]) -> Markup {
    let costs = points.iter().filter_map(|point| point.cost);
    let axis = CostAxis::of(&costs.map(|cost| cost.known.usd()).collect::<Vec<_>>());
    let mut labels = Labels::default();
    let place = |point: &AccuracyPoint, cost: Cost| {
        let right = point.accuracy.share;
        (axis.share(cost.known.usd()), right)
    };
    for point in points {
        if let Some(cost) = point.cost {
            let (x, y) = place(point, cost);
            labels.block(AREA.x(x), AREA.y(y));
        }
    }
    let points = points.iter().zip(letters()).filter_map(|(point, letter)| {
        let cost = point.cost?;
        let (x, y) = place(point, cost);
        let (class, shape) = match point.kind {
            PointKind::Panel => ("panel", Shape::Circle(7.0)),
            PointKind::Single => ("single", Shape::Square),
            PointKind::Expert => ("expert", Shape::Circle(5.0)),
        };
        let right = percent(point.accuracy.share);
        Some(Point {
            class,
            shape,
            place: (x, y),
            interval: Some(point.accuracy.interval),
            description: format!("{letter}: {right} at {}", amount(cost)),
            label: ("letter", labels.place(AREA.x(x), AREA.y(y)), letter),
        })
    });
    let plot = Plot {
        name: "Accuracy against cost per case",
        area: AREA,
        points: points.collect(),
        axis: (axis.title(), axis.ticks()),
        has_diagonal: false,
    };
    plot.drawing()
}

/// The axis of costs, from nothing or, if they are far apart, logarithmic.
enum CostAxis {
    Linear {
        step: f64,
        steps: u32,
    },
    /// Powers of ten.
    Logarithmic {
        from: i32,
        to: i32,
    },
}

impl CostAxis {
    fn of(costs: &[f64]) -> Self {
        let most = costs.iter().copied().fold(0.0, f64::max);
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        if least > 0.0 && least.is_finite() && most / least > WIDEST_LINEAR {
            return Self::Logarithmic {
                from: exponent(least.log10().floor()),
                to: exponent(most.log10().ceil()),
            };
        }
        let step = round_step(if most > 0.0 { most * 1.1 } else { 1.0 });
        let steps = (2..=MOST_STEPS).find(|steps| f64::from(*steps) * step >= most * 1.05);
        Self::Linear {
            step,
            steps: steps.unwrap_or(MOST_STEPS),
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Linear { .. } => "Cost per case",
            Self::Logarithmic { .. } => "Cost per case (logarithmic)",
        }
    }

    /// Returns the place of a cost as a share of the axis.
    fn share(&self, usd: f64) -> f64 {
        match *self {
            Self::Linear { step, steps } => usd / (step * f64::from(steps)),
            Self::Logarithmic { from, to } => {
                (usd.log10() - f64::from(from)) / f64::from((to - from).max(1))
            }
        }
    }

    fn ticks(&self) -> Vec<Tick> {
        let costs: Vec<f64> = match *self {
            Self::Linear { step, steps } => (0..=steps).map(|at| f64::from(at) * step).collect(),
            Self::Logarithmic { from, to } => (from..=to).map(|at| 10_f64.powi(at)).collect(),
        };
        costs
            .into_iter()
            .map(|usd| (self.share(usd), dollars(usd)))
            .collect()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the whole exponent of an amount of dollars"
)]
fn exponent(power: f64) -> i32 {
    power as i32
}

/// Returns 1, 2 or 5 times a power of ten, so that about five steps reach the maximum.
fn round_step(most: f64) -> f64 {
    let raw = most / 5.0;
    let power = 10_f64.powi(exponent(raw.log10().floor()));
    let steps = [1.0, 2.0, 5.0, 10.0];
    let step = steps.into_iter().find(|step| step * power >= raw);
    step.unwrap_or(10.0) * power
}

/// Formats an amount of a tick with the decimals that it needs.
fn dollars(usd: f64) -> String {
    let micro = MicroUsd::from_usd(usd).unwrap_or_default();
    let exact = format!("{micro:.6}");
    let (whole, decimals) = exact.split_once('.').unwrap_or((&exact, ""));
    let decimals = decimals.trim_end_matches('0');
    match decimals.len() {
        0 => whole.to_owned(),
        1 => format!("{whole}.{decimals}0"),
        _ => format!("{whole}.{decimals}"),
    }
}

/// Places that are taken by marks and letters.
#[derive(Default)]
struct Labels(Vec<(f64, f64)>);

impl Labels {
    fn block(&mut self, x: f64, y: f64) {
        self.0.push((x, y));
    }

    /// Returns the place of a letter beside a mark, where nothing else stands if there is room.
    fn place(&mut self, x: f64, y: f64) -> (f64, f64) {
        let beside = [14.0, -14.0].map(|dx| (dx, 0.0));
        let corners = [(14.0, -14.0), (14.0, 14.0), (-14.0, -14.0), (-14.0, 14.0)];
        let further = [
            (28.0, 0.0),
            (-28.0, 0.0),
            (28.0, -14.0),
            (28.0, 14.0),
            (42.0, 0.0),
        ];
        let mut candidates = beside.into_iter().chain(corners).chain(further);
        let is_free = |taken: &[(f64, f64)], x: f64, y: f64| {
            x > AREA.left + 6.0
                && x < AREA.right() + 14.0
                && taken
                    .iter()
                    .all(|(ox, oy)| (ox - x).abs() > 12.0 || (oy - y).abs() > 12.0)
        };
        let free = candidates.find(|(dx, dy)| is_free(&self.0, x + dx, y + dy));
        let (dx, dy) = free.unwrap_or((14.0, 0.0));
        self.0.push((x + dx, y + dy));
        (x + dx, y + dy + 4.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(costs: &[f64]) -> Vec<String> {
        let axis = CostAxis::of(costs);
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_cover_the_costs() {
        assert_eq!(ticks(&[0.05, 0.091]), ["$0", "$0.05", "$0.10"]);
        assert_eq!(
            ticks(&[0.0004, 0.08]),
            ["$0.0001", "$0.001", "$0.01", "$0.10"]
        );
    }

    #[test]
    fn axis_without_costs_has_ticks() {
        assert_eq!(ticks(&[0.0]).first().map(String::as_str), Some("$0"));
        assert_eq!(ticks(&[]).first().map(String::as_str), Some("$0"));
    }

    #[test]
    fn every_cost_is_on_the_axis() {
        for costs in [
            vec![1.0],
            vec![0.01, 0.5],
            vec![0.0, 3.0],
            vec![0.000_1, 1_000.0],
        ] {
            let axis = CostAxis::of(&costs);
            for cost in &costs {
                let share = axis.share(*cost);
                assert!((0.0..=1.0).contains(&share), "{cost}: {share}");
            }
        }
    }

    #[test]
    fn letters_of_near_points_do_not_overlap() {
        let mut labels = Labels::default();
        let places: Vec<_> = (0..5).map(|_| labels.place(200.0, 100.0)).collect();
        for (at, one) in places.iter().enumerate() {
            for other in &places[at + 1..] {
                assert!(
                    (one.0 - other.0).abs() > 12.0 || (one.1 - other.1).abs() > 12.0,
                    "{places:?}"
                );
            }
        }
    }
}
