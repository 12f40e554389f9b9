//! Counts what was masked.

use crate::domain::context::ScrubbingReport;

use super::Finding;

/// Returns the report of a batch.
pub(super) fn report(findings: &[Finding]) -> ScrubbingReport {
    let mut report = ScrubbingReport {
        sensitive_data_scrubbed: true,
        ..ScrubbingReport::default()
    };
    for finding in findings {
        report.patterns_matched += 1;
        *report.by_type.entry(finding.kind.clone()).or_default() += 1;
        let source = report.by_source.entry(finding.source.clone()).or_default();
        *source.entry(finding.kind.clone()).or_default() += 1;
    }
    report.types_detected = report.by_type.keys().cloned().collect();
    report
}
