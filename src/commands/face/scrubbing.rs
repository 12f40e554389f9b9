//! What was masked, on standard error, before anything is asked or sent.

use crate::domain::context::ScrubbingReport;
use crate::scrub::Finding;
use crate::terminal::output::printer::Printer;
use crate::terminal::progress::scrubbing::{SCRUBBING_DISABLED, scrubbing_lines};
use crate::text::clean::one_line;

/// Prints how many secrets were masked; with `--verbose` also by which rule and where. Warns when
/// none was looked for.
pub(crate) fn announce(report: &ScrubbingReport, findings: &[Finding], printer: &Printer) {
    if !report.sensitive_data_scrubbed {
        for line in SCRUBBING_DISABLED {
            printer.warning(line);
        }
        return;
    }
    for line in scrubbing_lines(report) {
        printer.note(&line);
    }
    for finding in findings {
        let source = one_line(&finding.source);
        printer.detail(&format!("   {} in {source}:{}", finding.rule, finding.line));
    }
}
