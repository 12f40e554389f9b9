//! Reliability diagrams: how often answers are right, by their confidence.

use super::figures::{bins, reliabilities, reliability_table};
use super::plot::{Plot, PlotArea, Point, Shape, percent_ticks};
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::words::whole_percent;
use crate::benchmark::run::Arm;
use crate::benchmark::statistics::proportion::wilson;
use crate::stopping::calibration::{Bin, Reliability};
use crate::terminal::document::{Line, Part, paragraph};

const AREA: PlotArea = PlotArea {
    left: 52.0,
    top: 46.0,
    width: 284.0,
    height: 272.0,
};

pub(super) fn calibration(report: &BenchmarkReport) -> Vec<Part> {
    let mut parts: Vec<Part> = reliability_table(report).into_iter().collect();
    let diagrams = report.arms.iter().flat_map(|arm| {
        let kinds = reliabilities(arm);
        kinds.map(|(name, reliability)| diagram(arm.arm, &name, reliability))
    });
    let diagrams: Vec<Vec<Part>> = diagrams.collect();
    if !diagrams.is_empty() {
        parts.push(Part::Articles(diagrams));
        let note = "The numbers above a diagram count the answers of each tenth. On the dashed \
                    line, answers are as often right as their confidence says; below it they are \
                    overconfident. Brier: the mean squared difference between confidence and \
                    outcome; 0 is best. ECE: the mean distance between the two over ten bins.";
        parts.push(paragraph(note, []));
    }
    parts
}

fn diagram(arm: Arm, name: &str, reliability: &Reliability) -> Vec<Part> {
    let plot = Plot {
        name,
        area: AREA,
        axis: ("Confidence", percent_ticks()),
        points: reliability.bins.iter().map(|bin| point(arm, bin)).collect(),
        has_diagonal: true,
    };
    let heading = Part::Heading(3, Line::foreign(name));
    let drawing = Part::Drawing(plot.drawing());
    [heading, drawing]
        .into_iter()
        .chain(bins(reliability))
        .collect()
}

/// The point of a bin: its area grows with its count, which stands above the plot, where no
/// interval reaches.
fn point(arm: Arm, bin: &Bin) -> Point {
    let count = u32::try_from(bin.count).unwrap_or(u32::MAX);
    let centre = AREA.x(f64::midpoint(bin.from, bin.to));
    Point {
        class: arm.name(),
        shape: Shape::Circle((2.5 + f64::from(count).sqrt()).min(12.0)),
        place: (bin.mean_stated, bin.mean_right),
        interval: wilson(bin.mean_right, u64::from(count)),
        label: ("middle", (centre, AREA.top - 6.0), count.to_string()),
        description: format!(
            "{} sure: {} of {count} right",
            whole_percent(bin.mean_stated),
            whole_percent(bin.mean_right)
        ),
    }
}
