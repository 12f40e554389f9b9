//! The plots of a benchmark. Accuracy against cost per case: the panel, the single model, and each
//! expert on its own; on a page, points have letters, and the table beneath names them.
//! Reliability: how often answers are right, by their confidence.

use std::sync::Arc;

use super::arm_name;
use super::figures::{bins, known, reliabilities, reliability_table};
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::accuracy::Accuracy;
use crate::benchmark::report::words::{interval, percent, whole_percent};
use crate::benchmark::run::Arm;
use crate::benchmark::statistics::number;
use crate::benchmark::statistics::proportion::wilson;
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::stopping::calibration::{Bin, Reliability};
use crate::terminal::document::plot::{
    Axis, Chart, Join, LabelPlace, NARROW, Plot, Point, Shape, Tick,
};
use crate::terminal::document::{Line, Part, Table, paragraph};
use crate::terminal::output::format::{amount, model_address};
use crate::terminal::report::consultation::moment;
use crate::terminal::report::sections::Detail;

const RIGHT: &str = "Right answers, with 95% intervals";

const HEIGHT: f64 = 272.0;

/// Runs that the plot of all has room for, and days beneath it.
const MOST_RUNS: usize = 40;
const MOST_TICKS: usize = 10;

/// A point of the plot and a row of its table.
struct AccuracyPoint {
    class: &'static str,
    shape: Shape,
    name: String,
    accuracy: Accuracy,
    /// `None` if it is unknown: the point is in the table alone.
    cost: Option<Cost>,
}

/// Several reports each under a name.
pub(super) fn accuracy_and_cost(reports: &[(&str, &BenchmarkReport)]) -> Vec<Part> {
    let points = reports.iter().flat_map(|(of, report)| points(of, report));
    let points: Vec<AccuracyPoint> = points.collect();
    let rows = points.iter().zip(letters()).map(|(point, letter)| {
        vec![
            Line::of("**{}** ", [&letter])
                .on_page()
                .and("{}", [&point.name]),
            percent(point.accuracy.share).into(),
            interval(point.accuracy.interval).into(),
            known(point.cost.map(amount)),
        ]
    });
    let heads = ["", "Accuracy", "95% interval", "Cost per case"];
    let plot = Part::Plot(Plot::Chart(accuracy_plot(&points)));
    let has_costs = points.iter().any(|point| point.cost.is_some());
    let mut parts: Vec<Part> = Some(plot).filter(|_| has_costs).into_iter().collect();
    parts.extend(Table::of(1, &heads, rows));
    if points.iter().any(|point| point.class == "expert") {
        let note = "Experts are those of the panel, by their own answers of Round 1.";
        parts.push(paragraph(note, []));
    }
    parts
}

fn points(of: &str, report: &BenchmarkReport) -> Vec<AccuracyPoint> {
    let named = |name: &str| match of {
        "" => name.to_owned(),
        of => format!("{of}: {name}"),
    };
    let arms = report.arms.iter().filter_map(|arm| {
        Some(AccuracyPoint {
            class: arm.arm.name(),
            shape: shape(arm.arm),
            name: named(arm_name(arm.arm)),
            accuracy: arm.accuracy?,
            cost: arm.spend.cost_per_case,
        })
    });
    let experts = report.arms.iter().flat_map(|arm| &arm.experts);
    let experts = experts.map(|expert| AccuracyPoint {
        class: "expert",
        shape: Shape::Circle(5.0),
        name: named(&format!(
            "{} ({})",
            expert.seat.as_str(),
            model_address(&expert.model)
        )),
        accuracy: expert.accuracy,
        cost: expert.cost_per_case,
    });
    arms.chain(experts).collect()
}

/// `A` to `Z`, then numbers.
fn letters() -> impl Iterator<Item = String> {
    let numbers = (27..).map(|number: u32| number.to_string());
    ('A'..='Z').map(String::from).chain(numbers)
}

fn accuracy_plot(points: &[AccuracyPoint]) -> Chart {
    let costs = points.iter().filter_map(|point| point.cost);
    let axis = CostAxis::of(&costs.map(|cost| cost.known.usd()).collect::<Vec<_>>());
    let points = points.iter().zip(letters()).filter_map(|(point, letter)| {
        let (cost, right) = (point.cost?, point.accuracy.share);
        let said = format!("{}: {} at {}", point.name, percent(right), amount(cost));
        let place = (axis.share(cost.known.usd()), right);
        let drawn = Point::new(point.class, point.shape, place, said).named(letter);
        Some(drawn.within(Some(point.accuracy.interval)))
    });
    Chart {
        name: "Accuracy against cost per case".to_owned(),
        size: (484.0, HEIGHT),
        across: Axis::new("Cost per case (logarithmic)", axis.ticks()),
        up: Axis::percent(RIGHT),
        points: points.collect(),
        join: Join::No,
    }
}

/// The runs from the oldest to the newest, each with what its arms got right.
pub(super) fn accuracy_of_runs(reports: &[Arc<BenchmarkReport>]) -> Option<Part> {
    let reports = reports.get(..MOST_RUNS).unwrap_or(reports);
    let all = number(reports.len() as u64);
    let place = |at: usize| (number(at as u64) + 0.5) / all;
    let runs = reports.iter().rev().enumerate();
    let points = runs.clone().flat_map(|(at, report)| {
        let arms = report.arms.iter();
        arms.filter_map(move |arm| {
            let accuracy = arm.accuracy?;
            let (run, name) = (moment(report.started_at), arm_name(arm.arm));
            // Beside each other.
            let aside = match arm.arm {
                Arm::Panel => -0.1,
                Arm::Single => 0.1,
            };
            let place = (place(at) + aside / all, accuracy.share);
            let said = format!("{name} of {run}: {}", percent(accuracy.share));
            let point = Point::new(arm.arm.name(), shape(arm.arm), place, said);
            Some(point.within(Some(accuracy.interval)))
        })
    });
    let points: Vec<Point> = points.collect();
    let ticks = runs.step_by(reports.len().div_ceil(MOST_TICKS).max(1));
    let ticks = ticks.map(|(at, report)| {
        let day = moment(report.started_at);
        (place(at), day.get(5..10).unwrap_or_default().to_owned())
    });
    let has_points = !points.is_empty();
    let plot = Plot::Chart(Chart {
        name: "Accuracy of the runs".to_owned(),
        size: (484.0, 200.0),
        across: Axis::new("Runs by day. Circle: panel; square: single model", ticks),
        up: Axis::percent(RIGHT),
        points,
        join: Join::No,
    });
    has_points.then_some(Part::Plot(plot))
}

fn shape(arm: Arm) -> Shape {
    match arm {
        Arm::Panel => Shape::Circle(7.0),
        Arm::Single => Shape::Square,
    }
}

/// The axis of costs: powers of ten.
struct CostAxis {
    from: i32,
    to: i32,
}

impl CostAxis {
    fn of(costs: &[f64]) -> Self {
        let costs = costs.iter().copied().filter(|cost| *cost > 0.0);
        let powers: Vec<f64> = costs.map(f64::log10).collect();
        let least = powers.iter().copied().reduce(f64::min).unwrap_or(-1.0);
        let most = powers.iter().copied().reduce(f64::max).unwrap_or(0.0);
        let from = exponent(least.floor());
        let to = exponent(most.ceil()).max(from + 1);
        Self { from, to }
    }

    /// A cost of zero stands at the beginning of the axis.
    fn share(&self, usd: f64) -> f64 {
        let share = (usd.log10() - f64::from(self.from)) / f64::from(self.to - self.from);
        share.clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<Tick> {
        let tick = |at: i32| {
            let usd = 10_f64.powi(at);
            // Cents are two decimals.
            let decimals = match at {
                0.. => 0,
                ..0 => usize::try_from(-at).unwrap_or_default().max(2),
            };
            let micro = MicroUsd::from_usd(usd).unwrap_or_default();
            (self.share(usd), format!("{micro:.decimals$}"))
        };
        (self.from..=self.to).map(tick).collect()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the whole exponent of an amount of dollars"
)]
fn exponent(power: f64) -> i32 {
    power as i32
}

pub(super) fn calibration(report: &BenchmarkReport) -> Vec<Part> {
    let table = reliability_table(report, Detail::Full);
    let mut parts: Vec<Part> = table.into_iter().collect();
    let diagrams = report.arms.iter().flat_map(|arm| {
        let kinds = reliabilities(arm);
        kinds.map(|(name, reliability)| diagram(arm.arm.name(), name, reliability))
    });
    let diagrams: Vec<Vec<Part>> = diagrams.collect();
    if !diagrams.is_empty() {
        parts.push(Part::Articles(diagrams));
        let drawn = "In a diagram, the numbers above count the answers of each tenth. On the \
                     dashed line, answers are as often right as their confidence says; below it \
                     they are overconfident. ";
        let note = "Brier: the mean squared difference between confidence and outcome; 0 is best. \
                    ECE: the mean distance between the two over ten bins.";
        parts.push(Part::Paragraph(Line::from(drawn).on_page().and(note, [])));
    }
    parts
}

/// The diagram, under its name and with the table of its bins beneath.
pub(in crate::terminal) fn diagram(
    class: &'static str,
    name: String,
    reliability: &Reliability,
) -> Vec<Part> {
    let heading = Part::Heading(3, Line::foreign(&name));
    let points = reliability.bins.iter().map(|bin| point(class, bin));
    let plot = Part::Plot(Plot::Chart(Chart {
        name,
        size: (NARROW, HEIGHT),
        across: Axis::percent("Confidence"),
        up: Axis::percent(RIGHT),
        points: points.collect(),
        join: Join::Diagonal,
    }));
    [heading, plot]
        .into_iter()
        .chain(bins(reliability))
        .collect()
}

/// The point of a bin: its area grows with its count, which stands above the plot, where no
/// interval reaches.
fn point(class: &'static str, bin: &Bin) -> Point {
    let count = u32::try_from(bin.count).unwrap_or(u32::MAX);
    let (stated, right) = (bin.mean_stated, bin.mean_right);
    let [sure, share] = [stated, right].map(whole_percent);
    Point {
        class,
        shape: Shape::Circle((2.5 + f64::from(count).sqrt()).min(12.0)),
        place: (stated, right),
        interval: wilson(right, u64::from(count)),
        // There is room for three characters above a tenth.
        label: match count {
            ..1_000 => count.to_string(),
            many => format!("{}k", many / 1000),
        },
        label_place: LabelPlace::Above(f64::midpoint(bin.from, bin.to)),
        description: format!("{sure} sure: {share} of {count} right"),
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
    fn ticks_are_powers_of_ten_around_the_costs() {
        assert_eq!(ticks(&[0.05, 0.091]), ["$0.01", "$0.10"]);
        assert_eq!(
            ticks(&[0.0004, 0.08]),
            ["$0.0001", "$0.001", "$0.01", "$0.10"]
        );
        assert_eq!(ticks(&[0.1]), ["$0.10", "$1"]);
        assert_eq!(ticks(&[0.0]), ticks(&[]));
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
}
