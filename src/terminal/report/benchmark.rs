//! The report of a benchmark as a Markdown document. Pure. Text of suites and models goes through
//! `escape`.

use crate::benchmark::case::ErrorRate;
use crate::benchmark::report::BenchmarkReport;
use crate::benchmark::report::arm::ArmReport;
use crate::benchmark::report::debate::AnswerChanges;
use crate::benchmark::report::misses::Miss;
use crate::benchmark::report::words::{accuracy, cost_in_words, percent, whole_percent};
use crate::benchmark::run::Arm;
use crate::benchmark::statistics::proportion::Proportion;
use crate::domain::text::shortened;
use crate::stopping::calibration::Reliability;
use crate::terminal::markdown::escape::inline;
use crate::terminal::output::format::{amount, count, seconds, thousands};

/// Characters of the longest answer in a table.
const LONGEST_ANSWER: usize = 200;

/// Writes the document.
pub fn markdown(report: &BenchmarkReport) -> String {
    let mut sections = vec![head(report)];
    sections.extend(notices(report));
    sections.push(arms(report));
    let parts = [
        ("Comparison", comparison(report)),
        ("By Tag", tags(report)),
        ("Transcriptions", error_rates(report)),
        ("Calibration", calibration(report)),
        ("Debate", debate(report)),
        ("Experts Alone", experts(report)),
        ("Cases That Are Not Right", misses(report)),
    ];
    for (title, part) in parts {
        if let Some(part) = part {
            sections.push(format!("## {title}\n\n{part}"));
        }
    }
    sections.join("\n\n") + "\n"
}

fn head(report: &BenchmarkReport) -> String {
    let terms = &report.terms;
    let status = report.run_status.name();
    let mut lines = vec![
        format!("**Run:** {} ({status})", inline(report.run_id.as_str())),
        format!("**Cases:** {}", terms.cases.len()),
    ];
    for arm in &report.arms {
        let judge = arm.judge.iter().map(|judge| format!("judge {judge}"));
        let agents: Vec<String> = arm.seats.iter().cloned().chain(judge).collect();
        let arm = capitalised(arm.arm);
        lines.push(format!("**{arm}:** {}", inline(&agents.join(", "))));
    }
    let title = inline(&terms.suite.name);
    format!("# Benchmark: {title}\n\n{}", lines.join("  \n"))
}

fn capitalised(arm: Arm) -> &'static str {
    match arm {
        Arm::Panel => "Panel",
        Arm::Single => "Single model",
    }
}

fn notices(report: &BenchmarkReport) -> Option<String> {
    let lines: Vec<String> = report
        .notices()
        .into_iter()
        .map(|notice| {
            let command = notice
                .command
                .map(|command| format!(" Resume it with `{command}`."))
                .unwrap_or_default();
            format!("> {}{command}", inline(&notice.text))
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n>\n"))
}

/// Writes a table, whose first columns are text and whose other ones are figures; `None` without
/// rows.
fn table(
    texts: usize,
    heads: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Option<String> {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let rows: Vec<String> = rows.into_iter().map(|row| line(&row)).collect();
    if rows.is_empty() {
        return None;
    }
    let heads: Vec<String> = heads.iter().map(ToString::to_string).collect();
    let rules: Vec<String> = (0..heads.len())
        .map(|column| if column < texts { ":---" } else { "---:" }.to_owned())
        .collect();
    let head = [line(&heads), line(&rules)];
    Some(head.into_iter().chain(rows).collect::<Vec<_>>().join("\n"))
}

/// Returns text for a cell of a table.
fn cell(text: &str) -> String {
    inline(&shortened(text, LONGEST_ANSWER)).replace('|', "\\|")
}

fn known(value: Option<String>) -> String {
    value.unwrap_or_else(|| "-".to_owned())
}

fn arms(report: &BenchmarkReport) -> String {
    let heads: Vec<&str> = std::iter::once("")
        .chain(report.arms.iter().map(|arm| capitalised(arm.arm)))
        .collect();
    let row = |label: &str, value: &dyn Fn(&ArmReport) -> String| {
        let values = report.arms.iter().map(value);
        std::iter::once(label.to_owned()).chain(values).collect()
    };
    let mut rows: Vec<Vec<String>> = vec![
        row("Accuracy", &|arm| {
            known(arm.accuracy.as_ref().map(accuracy))
        }),
        row("Right", &|arm| arm.counts.approved.to_string()),
        row("Wrong", &|arm| arm.counts.rejected.to_string()),
        row("Without an answer", &|arm| arm.counts.failed.to_string()),
        row("Accuracy of answers", &|arm| {
            known(arm.accuracy_of_answered.as_ref().map(accuracy))
        }),
    ];
    if !report.is_complete() {
        rows.push(row("Without a result", &|arm| {
            arm.counts.not_done.to_string()
        }));
    }
    if report.terms.repetitions > 1 {
        rows.push(row("Always, sometimes, never right", &|arm| {
            known(arm.consistency.map(|consistency| {
                format!(
                    "{}, {}, {}",
                    consistency.always_right, consistency.sometimes_right, consistency.never_right
                )
            }))
        }));
    }
    rows.extend([
        row("Cost", &|arm| amount(arm.spend.cost)),
        row("Cost per case", &|arm| {
            known(arm.spend.cost_per_case.map(amount))
        }),
        row("Cost per right answer", &|arm| {
            known(arm.spend.cost_per_right.map(amount))
        }),
        row("Calls", &|arm| thousands(arm.spend.calls)),
        row("Input tokens", &|arm| thousands(arm.spend.input_tokens)),
        row("Output tokens", &|arm| thousands(arm.spend.output_tokens)),
        row("Tokens per right answer", &|arm| {
            known(arm.spend.tokens_per_right.map(thousands))
        }),
        row("Median time", &|arm| {
            known(arm.time.map(|time| seconds(time.median())))
        }),
        row("90th percentile of time", &|arm| {
            known(arm.time.map(|time| seconds(time.p90())))
        }),
        row("Took more than one attempt", &|arm| {
            arm.counts.retried.to_string()
        }),
    ]);
    table(1, &heads, rows).unwrap_or_default()
}

fn comparison(report: &BenchmarkReport) -> Option<String> {
    let comparison = report.comparison.as_ref()?;
    let pairs = comparison.pairs;
    let counts = table(
        1,
        &["", "Single model right", "Single model not right"],
        [
            vec![
                "Panel right".to_owned(),
                pairs.both_right.to_string(),
                pairs.only_first.to_string(),
            ],
            vec![
                "Panel not right".to_owned(),
                pairs.only_second.to_string(),
                pairs.both_wrong.to_string(),
            ],
        ],
    );
    let counts = counts.filter(|_| pairs.total() > 0);
    let parts = [Some(inline(&comparison.sentence)), counts];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
}

fn tags(report: &BenchmarkReport) -> Option<String> {
    let rows = report.figures_by_tag().into_iter().map(|(arm, figures)| {
        vec![
            figures.tag.as_deref().map_or("(no tag)".to_owned(), cell),
            arm.name().to_owned(),
            format!("{} of {}", figures.accuracy.right, figures.accuracy.of),
            accuracy(&figures.accuracy),
            known(figures.spend.cost_per_case.map(amount)),
        ]
    });
    table(
        2,
        &["Tag", "Arm", "Right", "Accuracy", "Cost per case"],
        rows,
    )
}

fn error_rates(report: &BenchmarkReport) -> Option<String> {
    let rows = report.arms.iter().flat_map(|arm| {
        arm.error_rates.iter().map(|rates| {
            let measure = match rates.measure {
                ErrorRate::Cer => "character error rate",
                ErrorRate::Wer => "word error rate",
            };
            vec![
                format!("{}, {measure}", arm.arm.name()),
                rates.count.to_string(),
                percent(rates.mean),
                percent(rates.median),
            ]
        })
    });
    table(1, &["", "Transcriptions", "Mean", "Median"], rows)
}

fn calibration(report: &BenchmarkReport) -> Option<String> {
    let mut rows = Vec::new();
    let mut parts = Vec::new();
    for arm in &report.arms {
        let calibration = &arm.calibration;
        let name = arm.arm.name();
        let kinds = [
            (format!("{name}, stated"), calibration.stated.as_ref()),
            (
                format!("{name}, calibrated"),
                calibration.calibrated.as_ref(),
            ),
        ];
        for (kind, reliability) in kinds {
            let Some(reliability) = reliability else {
                continue;
            };
            rows.push(reliability_row(kind.clone(), reliability));
            parts.extend(bins(&kind, reliability));
        }
        for expert in &calibration.experts {
            let model = cell(&expert.model.to_string());
            rows.push(reliability_row(
                format!("{name}, Round 1 of {model}"),
                &expert.reliability,
            ));
        }
    }
    let heads = ["", "Answers", "Mean confidence", "Right", "Brier", "ECE"];
    parts.insert(0, table(1, &heads, rows)?);
    Some(parts.join("\n\n"))
}

fn reliability_row(name: String, reliability: &Reliability) -> Vec<String> {
    vec![
        name,
        reliability.count.to_string(),
        percent(reliability.mean_stated),
        percent(reliability.mean_right),
        format!("{:.3}", reliability.brier),
        format!("{:.3}", reliability.expected_calibration_error),
    ]
}

fn bins(kind: &str, reliability: &Reliability) -> Option<String> {
    let rows = reliability.bins.iter().map(|bin| {
        vec![
            format!("{:.0}-{}", bin.from * 100.0, whole_percent(bin.to)),
            bin.count.to_string(),
            percent(bin.mean_stated),
            percent(bin.mean_right),
        ]
    });
    let heads = ["Confidence", "Answers", "Mean confidence", "Right"];
    let bins = table(1, &heads, rows)?;
    Some(format!("{kind}:\n\n{bins}"))
}

fn debate(report: &BenchmarkReport) -> Option<String> {
    let debate = report.arms.iter().find_map(|arm| arm.debate)?;
    let stops = report.arms.iter().find_map(|arm| arm.early_stops)?;
    let changes = [
        ("Round 1 vote to answer", debate.vote_to_verdict),
        ("Rounds 3 and 4 (full debates)", debate.synthesis_to_verdict),
        ("Experts, Round 1 to Round 3", debate.experts),
    ];
    let compared = changes
        .into_iter()
        .filter(|(_, changes)| changes.compared > 0);
    let heads = [
        "From, to",
        "Wrong to right",
        "Right to wrong",
        "Both right",
        "Both wrong",
    ];
    let changes = table(
        1,
        &heads,
        compared.map(|(label, changes)| changes_row(label, changes)),
    );
    let right = |share: Proportion| format!("{} of {} right", share.part(), share.whole());
    let early = (stops.stopped.whole() > 0).then(|| {
        let saved = if stops.saved_known > 0 {
            format!(" They saved about {}.", cost_in_words(stops.saved))
        } else {
            String::new()
        };
        format!(
            "Early stops: {}; full debates: {}.{saved}",
            right(stops.stopped),
            right(stops.full)
        )
    });
    let parts: Vec<String> = [changes, early].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn changes_row(label: &str, changes: AnswerChanges) -> Vec<String> {
    vec![
        label.to_owned(),
        changes.wrong_to_right.to_string(),
        changes.right_to_wrong.to_string(),
        changes.both_right.to_string(),
        changes.both_wrong.to_string(),
    ]
}

fn experts(report: &BenchmarkReport) -> Option<String> {
    let experts = report.arms.iter().flat_map(|arm| &arm.experts);
    let rows = experts.map(|expert| {
        vec![
            cell(expert.seat.as_str()),
            cell(&expert.model.to_string()),
            accuracy(&expert.accuracy),
            known(expert.cost_per_case.map(amount)),
        ]
    });
    let heads = ["Expert", "Model", "Accuracy in Round 1", "Cost per case"];
    table(2, &heads, rows)
}

fn misses(report: &BenchmarkReport) -> Option<String> {
    let misses = report.misses();
    let rows = misses.iter().map(|miss| miss_row(report, miss));
    let heads = ["Case", "Arm", "Expected", "Given", "Record", "Confidence"];
    let table = table(5, &heads, rows)?;
    let number = count(misses.len(), "case run");
    Some(format!(
        "{number}; `conclave history show RECORD` shows one.\n\n{table}"
    ))
}

fn miss_row(report: &BenchmarkReport, miss: &Miss<'_>) -> Vec<String> {
    let run = &miss.result.run;
    let repetition = if report.terms.repetitions > 1 {
        format!(" #{}", run.repetition)
    } else {
        String::new()
    };
    let record = miss.result.consultations.last();
    vec![
        cell(run.case.as_str()) + &repetition,
        run.arm.name().to_owned(),
        cell(miss.expected()),
        cell(miss.given()),
        known(record.map(|record| cell(record.as_str()))),
        known(miss.result.confidence.map(whole_percent)),
    ]
}
