//! Reliability diagrams: how often answers are right, by their confidence.

use maud::{Markup, html};

use super::figures::{arm_name, figure, table};
use super::plot::{PlotArea, frame, percent_ticks, place, whisker};
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::words::{percent, whole_percent};
use crate::benchmark::run::Arm;
use crate::benchmark::statistics::proportion::wilson;
use crate::domain::words::model_address;
use crate::records::page::elements::inline;
use crate::stopping::calibration::{Bin, Reliability};

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 372.0;
const AREA: PlotArea = PlotArea {
    left: 52.0,
    top: 46.0,
    width: 284.0,
    height: 272.0,
};

pub(super) fn calibration(report: &BenchmarkReport) -> Markup {
    let mut rows = Vec::new();
    let mut diagrams = Vec::new();
    for arm in &report.arms {
        let calibration = &arm.calibration;
        let kinds = [
            ("stated confidence", &calibration.stated),
            ("calibrated probability", &calibration.calibrated),
        ];
        for (kind, reliability) in kinds {
            if let Some(reliability) = reliability {
                let name = format!("{}, {kind}", arm_name(arm.arm));
                rows.push(row(figure(&name), reliability));
                diagrams.push(diagram(arm.arm, &name, reliability));
            }
        }
        for expert in &calibration.experts {
            let name = html! { (inline(model_address(&expert.model))) ", Round 1" };
            rows.push(row(name, &expert.reliability));
        }
    }
    let heads = ["", "Answers", "Mean confidence", "Right", "Brier", "ECE"];
    html! {
        (table("", &heads, &rows))
        @if !diagrams.is_empty() {
            div.side { @for diagram in &diagrams { (diagram) } }
            p.quiet {
                "The numbers above a diagram count the answers of each tenth. "
                "On the dashed line, answers are as often right as their confidence says; below it "
                "they are overconfident. Brier: the mean squared difference between confidence "
                "and outcome; 0 is best. ECE: the mean distance between the two over ten bins."
            }
        }
    }
}

fn row(name: Markup, reliability: &Reliability) -> Vec<Markup> {
    vec![
        name,
        figure(reliability.count.to_string()),
        figure(percent(reliability.mean_stated)),
        figure(percent(reliability.mean_right)),
        figure(format!("{:.3}", reliability.brier)),
        figure(format!("{:.3}", reliability.expected_calibration_error)),
    ]
}

fn diagram(arm: Arm, name: &str, reliability: &Reliability) -> Markup {
    let rows: Vec<Vec<Markup>> = reliability
        .bins
        .iter()
        .map(|bin| {
            vec![
                figure(format!("{:.0}–{}", bin.from * 100.0, whole_percent(bin.to))),
                figure(bin.count.to_string()),
                figure(percent(bin.mean_stated)),
                figure(percent(bin.mean_right)),
            ]
        })
        .collect();
    let description: Vec<String> = reliability.bins.iter().map(bin_in_words).collect();
    html! {
        article {
            h3 { (name) }
            svg.plot role="img" aria-label=(name) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) {
                title { (name) }
                desc { (description.join("; ")) }
                (frame(
                    &AREA,
                    ("Confidence", &percent_ticks()),
                    ("Right answers, with 95% intervals", &percent_ticks()),
                ))
                line.diagonal x1=(place(AREA.left)) y1=(place(AREA.bottom()))
                    x2=(place(AREA.right())) y2=(place(AREA.top)) {}
                g class=(arm.name()) { @for bin in &reliability.bins { (point(bin)) } }
                // Above the frame, where no interval reaches.
                @for bin in &reliability.bins {
                    @let centre = AREA.x(f64::midpoint(bin.from, bin.to));
                    text.middle x=(place(centre)) y=(place(AREA.top - 6.0)) { (bin.count) }
                }
            }
            (table("", &["Confidence", "Answers", "Mean", "Right"], &rows))
        }
    }
}

fn bin_in_words(bin: &Bin) -> String {
    format!(
        "{} sure: {} of {} right",
        whole_percent(bin.mean_stated),
        whole_percent(bin.mean_right),
        bin.count
    )
}

/// Draws a bin: its area grows with its count.
fn point(bin: &Bin) -> Markup {
    let (x, y) = (AREA.x(bin.mean_stated), AREA.y(bin.mean_right));
    let count = u32::try_from(bin.count).unwrap_or(u32::MAX);
    let radius = (2.5 + f64::from(count).sqrt()).min(12.0);
    let interval = wilson(bin.mean_right, u64::from(count));
    html! {
        @if let Some(interval) = interval { (whisker(&AREA, x, interval)) }
        circle.mark cx=(place(x)) cy=(place(y)) r=(place(radius)) {}
    }
}
