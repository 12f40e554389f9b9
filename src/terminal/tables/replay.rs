//! `benchmark --replay` as a screen: what each rule that stops asking is worth.

use crate::benchmark::replay::report::{
    Accuracy, AgreementFigures, CalibrationFigures, MethodFigures, ModelFigures, ReplayReport,
    ReplayRule, RuleFigures,
};
use crate::benchmark::statistics::Interval;
use crate::benchmark::statistics::proportion::Proportion;
use crate::stopping::replay::probability::VoteProbability;
use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::thousands;
use crate::terminal::output::style::Paint;

use super::columns::{figures_table, hanging};

const RULE_LEGEND: &str = "±: half of the 95% interval (Wilson). asked: answers per question. same: questions \
    with the answer of the full vote. better, worse: questions that only the rule or only the full \
    vote gets right. p: McNemar's exact test of the two.";

const CALIBRATION_LEGEND: &str = "ECE: mean distance between the stated probability and the share \
    that is right, over ten bins; 0 is best. Brier: mean squared difference. What a method knows of \
    the models, it learns from the other half of the questions.";

/// Returns the screen for a terminal of this width.
pub fn screen(report: &ReplayReport, width: usize, paint: Paint) -> String {
    let mut screen = ReplayScreen {
        text: String::new(),
        width: width.clamp(20, 100),
        paint,
    };
    screen.show(report);
    screen.text
}

struct ReplayScreen {
    text: String,
    width: usize,
    paint: Paint,
}

impl ReplayScreen {
    fn show(&mut self, report: &ReplayReport) {
        self.text
            .extend([&self.paint.heading("Replay of recorded answers"), "\n"]);
        self.wrapped(&counts(report));
        let rules: Vec<Vec<String>> = report.rules.iter().map(rule).collect();
        self.table(
            "Stop rules",
            &[
                "right", "±", "asked", "saved", "same", "better", "worse", "p",
            ],
            &rules,
        );
        self.legend(RULE_LEGEND);
        let models: Vec<Vec<String>> = report.models.iter().map(model).collect();
        self.table(
            "Each model alone, in the order asked",
            &["right", "±", "no answer"],
            &models,
        );
        let voters = report.models.len();
        let levels: Vec<Vec<String>> = report
            .agreement
            .iter()
            .map(|level| agreement(level, voters))
            .collect();
        self.table(
            "By agreement with the full vote",
            &["questions", "share", "right", "±"],
            &levels,
        );
        self.wrapped(&limits(report));
        let calibration = &report.calibration;
        let methods: Vec<Vec<String>> = calibration.methods.iter().map(method).collect();
        self.table(
            "Probability that the full vote is right",
            &["stated", "right", "ECE", "Brier"],
            &methods,
        );
        self.wrapped(&basis(calibration, voters));
        self.legend(CALIBRATION_LEGEND);
    }

    fn table(&mut self, title: &str, heads: &[&str], rows: &[Vec<String>]) {
        let table = figures_table(heads, rows, self.width, self.paint);
        self.text
            .extend(["\n", &self.paint.cyan(title), "\n", &table]);
    }

    fn wrapped(&mut self, line: &str) {
        self.text.push_str(&hanging("", line, 0, Some(self.width)));
    }

    fn legend(&mut self, legend: &str) {
        let legend = hanging("", legend, 0, Some(self.width));
        self.text.push_str(&self.paint.dim(&legend));
    }
}

/// Names the file, and says how many of its questions count.
fn counts(report: &ReplayReport) -> String {
    let counts = format!(
        "{}: {} questions, answered by {} models",
        one_line(&report.file),
        thousands(report.questions),
        report.models.len()
    );
    if report.left_out == 0 {
        return counts;
    }
    format!(
        "{counts}; {} of {} left out, which were not put to all models",
        thousands(report.left_out),
        thousands(report.rows)
    )
}

fn rule(figures: &RuleFigures) -> Vec<String> {
    let [right, interval] = accuracy(figures.accuracy);
    let is_full_vote = figures.rule == ReplayRule::FullVote;
    let compared = |text: String| if is_full_vote { String::new() } else { text };
    vec![
        rule_name(figures.rule),
        right,
        interval,
        format!("{:.2}", figures.asked_per_question),
        percent(figures.saved, 1),
        percent(figures.same_as_full_vote, 1),
        compared(thousands(figures.better)),
        compared(thousands(figures.worse)),
        compared(p_value(figures.p)),
    ]
}

fn rule_name(rule: ReplayRule) -> String {
    match rule {
        ReplayRule::FullVote => "full vote".to_owned(),
        ReplayRule::VoteLocked => "vote locked".to_owned(),
        ReplayRule::Unanimous { voters } => format!("unanimous at {voters}"),
        ReplayRule::Beta { percent } => format!("Beta ≥ 0.{percent:02}"),
        ReplayRule::FirstModel => "first model only".to_owned(),
        ReplayRule::BestModel => "best single model".to_owned(),
    }
}

fn model(figures: &ModelFigures) -> Vec<String> {
    let [right, interval] = accuracy(figures.accuracy);
    vec![
        one_line(&figures.model),
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
        percent(figures.share, 1),
        right,
        interval,
    ]
}

fn limits(report: &ReplayReport) -> String {
    let of_all = |count: u64| {
        let share = Proportion::new(count, report.questions).share();
        percent(share.unwrap_or_default(), 1)
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
        percent(reliability.mean_stated, 1),
        percent(reliability.mean_right, 1),
        format!("{:.3}", reliability.expected_calibration_error),
        format!("{:.3}", reliability.brier),
    ]
}

fn method_name(method: VoteProbability) -> &'static str {
    match method {
        VoteProbability::RawShare => "share of the votes",
        VoteProbability::Independent => "votes as independent evidence",
        VoteProbability::Shrunk => "votes as correlated evidence",
        VoteProbability::ForOrAgainst => "the same, for or against (as consult)",
        VoteProbability::Experience => "graded votes of equal agreement",
    }
}

fn basis(calibration: &CalibrationFigures, voters: usize) -> String {
    let CalibrationFigures {
        correlation,
        effective_voters,
        options,
        ..
    } = calibration;
    let correlated = format!(
        "With errors that correlate by {correlation}, {voters} models count as \
         {effective_voters:.1} independent ones."
    );
    match options {
        Some(options) => format!("{correlated} A question is taken to offer {options} answers."),
        None => correlated,
    }
}

/// Returns the share and the half of its interval, in percent: the interval is nearly symmetric.
fn accuracy(accuracy: Accuracy) -> [String; 2] {
    let Interval { low, high } = accuracy.interval;
    [
        percent(accuracy.accuracy, 2),
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

fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$}%", share * 100.0)
}
