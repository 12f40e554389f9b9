//! `benchmark --replay` as a screen: what each rule that stops asking is worth.

use crate::benchmark::replay::report::{
    AgreementFigures, MethodFigures, ModelFigures, ReplayAccuracy, ReplayReport, ReplayRule,
    RuleFigures,
};
use crate::benchmark::report::words::percent;
use crate::benchmark::statistics::Interval;
use crate::benchmark::statistics::proportion::Proportion;
use crate::stopping::replay::probability::VoteProbability;
use crate::terminal::document::{self, Line, Part, Table, titled};
use crate::terminal::output::format::thousands;
use crate::terminal::output::style::{Paint, Tone};

const RULE_LEGEND: &str = "±: half of the 95% interval (Wilson). asked: answers per question. same: questions \
    with the answer of the full vote. better, worse: questions that only the rule or only the full \
    vote gets right. p: McNemar's exact test of the two.";

const CALIBRATION_LEGEND: &str = "ECE: mean distance between the stated probability and the share \
    that is right, over ten bins; 0 is best. Brier: mean squared difference. What a method knows of \
    the models, it learns from the other half of the questions.";

pub fn screen(report: &ReplayReport, width: usize, paint: Paint) -> String {
    let mut parts = vec![
        Part::Heading(1, "Replay of recorded answers".into()),
        Part::Paragraph(counts(report).into()),
    ];
    let legend = |legend| Part::Paragraph(Line::toned(Tone::Quiet, legend));
    let heads = [
        "", "right", "±", "asked", "saved", "same", "better", "worse", "p",
    ];
    let rules = Table::of(1, &heads, report.rules.iter().map(rule));
    parts.extend(titled(2, "Stop rules", rules));
    parts.push(legend(RULE_LEGEND));
    let heads = ["", "right", "±", "no answer"];
    let models = Table::of(1, &heads, report.models.iter().map(model));
    parts.extend(titled(2, "Each model alone, in the order asked", models));
    let voters = report.models.len();
    let levels = report
        .agreement
        .iter()
        .map(|level| agreement(level, voters));
    let levels = Table::of(1, &["", "questions", "share", "right", "±"], levels);
    parts.extend(titled(2, "By agreement with the full vote", levels));
    parts.push(Part::Paragraph(limits(report).into()));
    let calibration = &report.calibration;
    let methods = calibration.methods.iter().map(method);
    let methods = Table::of(1, &["", "stated", "right", "ECE", "Brier"], methods);
    parts.extend(titled(
        2,
        "Probability that the full vote is right",
        methods,
    ));
    if let Some(options) = calibration.options {
        let taken = format!("A question is taken to offer {options} answers.");
        parts.push(Part::Paragraph(taken.into()));
    }
    parts.push(legend(CALIBRATION_LEGEND));
    document::screen(&parts, Some(width), paint)
}

fn counts(report: &ReplayReport) -> String {
    let counts = format!(
        "{}: {} questions, answered by {} models",
        report.file,
        thousands(report.questions),
        report.models.len()
    );
    if report.left_out == 0 {
        return counts;
    }
    format!(
        "{counts}; {} of {} left out, because not all models were asked",
        thousands(report.left_out),
        thousands(report.rows)
    )
}

fn rule(figures: &RuleFigures) -> Vec<String> {
    let [right, interval] = accuracy(figures.accuracy);
    let is_full_vote = figures.rule == ReplayRule::FullVote;
    let compared = |text: String| if is_full_vote { String::new() } else { text };
    vec![
        rule_name(figures.rule).to_owned(),
        right,
        interval,
        format!("{:.2}", figures.asked_per_question),
        percent(figures.saved),
        percent(figures.same_as_full_vote),
        compared(thousands(figures.better)),
        compared(thousands(figures.worse)),
        compared(p_value(figures.p)),
    ]
}

fn rule_name(rule: ReplayRule) -> &'static str {
    match rule {
        ReplayRule::FullVote => "full vote",
        ReplayRule::VoteLocked => "vote locked",
        ReplayRule::UnanimousThree => "unanimous at 3",
        ReplayRule::UnanimousTwo => "unanimous at 2",
        ReplayRule::Beta95 => "Beta ≥ 0.95",
        ReplayRule::Beta80 => "Beta ≥ 0.80",
        ReplayRule::FirstModel => "first model only",
        ReplayRule::BestModel => "best single model",
    }
}

fn model(figures: &ModelFigures) -> Vec<String> {
    let [right, interval] = accuracy(figures.accuracy);
    vec![
        figures.model.clone(),
        right,
        interval,
        thousands(figures.unanswered),
    ]
}

fn agreement(figures: &AgreementFigures, voters: usize) -> Vec<String> {
    let [right, interval] = accuracy(figures.accuracy);
    vec![
        format!("{} of {voters}", figures.votes),
        thousands(figures.questions),
        percent(figures.share),
        right,
        interval,
    ]
}

fn limits(report: &ReplayReport) -> String {
    let of_all = |count: u64| {
        let share = Proportion::new(count, report.questions).share();
        percent(share.unwrap_or_default())
    };
    format!(
        "All models agree and are wrong: {}, which no rule can see. At least one is right: {}.",
        of_all(report.limits.unanimous_and_wrong),
        of_all(report.limits.any_right),
    )
}

fn method(figures: &MethodFigures) -> Vec<String> {
    let MethodFigures {
        method,
        reliability,
    } = figures;
    vec![
        method_name(*method).to_owned(),
        percent(reliability.mean_stated),
        percent(reliability.mean_right),
        format!("{:.3}", reliability.expected_calibration_error),
        format!("{:.3}", reliability.brier),
    ]
}

fn method_name(method: VoteProbability) -> &'static str {
    match method {
        VoteProbability::RawShare => "share of the votes",
        VoteProbability::Independent => "votes as independent evidence",
        VoteProbability::Shrunk => "votes as correlated evidence",
        VoteProbability::Panels => "panels of this agreement (as consult)",
        VoteProbability::Experience => "graded votes of equal agreement",
    }
}

/// Returns the share and the half of its interval, in percent: the interval is nearly symmetric.
fn accuracy(accuracy: ReplayAccuracy) -> [String; 2] {
    let Interval { low, high } = accuracy.interval;
    [
        format!("{:.2}%", accuracy.accuracy * 100.0),
        format!("{:.2}", (high - low) * 50.0),
    ]
}

fn p_value(p: f64) -> String {
    if p < 0.001 {
        "<0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}
