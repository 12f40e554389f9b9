//! What `--help` and the manual page say beside the commands: exit codes, keys, files, variables
//! and examples.

use std::fmt::Write;

use super::man::ManSection;
use crate::domain::model::vendors::VENDORS;

/// The exit codes and their meanings.
const EXIT_CODES: &str = "  0    success
  1    the run failed: all agents failed, or every judge; refine check: not converged
  2    the command line or the configuration is wrong
  3    you did not agree to the cost or to continue, or could not be asked
  4    a call could exceed --max-cost, or far more was spent than estimated
  5    with --strict, fewer agents answered than the panel has
  6    benchmark: a stop condition ended the run, which can be resumed
  10   exit-check: the agent's work is done
  11   exit-check, refine: a person is needed
  12   exit-check: the loop must not continue; circuit: it is open
  13   exit-check, refine: there is no progress
  14   exit-check, refine: the turns or iterations are used up
  130  interrupted";

/// The variables that are read besides keys and settings.
const VARIABLES: &str = "\
CONCLAVE_HOME  The folder of settings, journals and models [default: ~/.llm-conclave]
CONCLAVE_NAME_OF_SETTING  A setting, such as CONCLAVE_MAX_COST; it overrides config.json, and a \
    flag overrides it. `conclave config set --help` lists the settings
NO_COLOR  Print without colours, if set to anything; TERM=dumb also stops animation
CLICOLOR_FORCE  Print colours into pipes and files too
LANG, LC_ALL, LC_CTYPE  Draw with ASCII characters unless the locale is UTF-8
PAGER  The command that shows long texts on a terminal; empty for none [default: less]
TZ  The time zone of dates and of calendar months
HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE  The proxy, hosts reached without it, and certificates to \
    trust";

/// The files in the home, and those beside a document.
const FILES: &str = "\
~/.llm-conclave  The home, unless CONCLAVE_HOME names another folder
config.json  The settings; `conclave config show` lists them
models.json  Your own models and prices
scrub.toml  Your own rules for the masking of secrets, and values that are not secrets
prompts/personas/NAME.md  Your own personas; other files in prompts replace prompts
consult-logs/  For each consultation its journal (.jsonl), record (.json), report (.md) and \
    outcome
consult-analytics.db  The index for lists and statistics, made from the records
runs/  For each run of a benchmark its log (log.jsonl) and its state (state.json)
models/  Downloaded local models
SPEC.refine/  Beside a document that is refined: its log, its changes and the original";

const EXAMPLES: &str = "\
conclave \"Should we use OAuth or JWT?\"  Ask the default panel
conclave consult - -o answer.md < question.txt  Ask what a file holds, and write the answer to a \
    file
conclave consult --max-cost 0.50 --yes --json \"…\" | jq .recommendation  Ask from a script, \
    with a ceiling and without questions
conclave resume  Resume the newest interrupted consultation
conclave history export last -o answer.html  Write the newest consultation as a page
conclave doctor  Check keys, vendors and settings, for free";

/// Returns what stands beneath the commands in `--help`.
pub(super) fn after_help() -> String {
    let mut text = format!(
        "Exit codes:\n{EXIT_CODES}\n\nKeys, as environment variables; one is enough, and a local \
         server needs none:\n"
    );
    for (variables, vendor) in keys() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {vendor:<10}  {variables}");
    }
    text.push_str("\nSettings, journals and models are in ~/.llm-conclave, or in CONCLAVE_HOME.");
    text
}

pub(super) fn man_sections() -> [ManSection; 4] {
    let mut environment = rows(VARIABLES);
    environment.extend(
        keys().map(|(variables, _)| (variables, "An API key; `conclave doctor` checks it")),
    );
    [
        ("EXIT STATUS", rows(EXIT_CODES)),
        ("ENVIRONMENT", environment),
        ("FILES", rows(FILES)),
        ("EXAMPLES", rows(EXAMPLES)),
    ]
}

fn rows(table: &'static str) -> Vec<(String, &'static str)> {
    let row = |line: &'static str| line.trim_start().split_once("  ");
    let rows = table.lines().filter_map(row);
    rows.map(|(term, text)| (term.to_owned(), text.trim_start()))
        .collect()
}

fn keys() -> impl Iterator<Item = (String, &'static str)> {
    let clouds = VENDORS.iter().filter(|vendor| vendor.is_cloud());
    clouds.map(|vendor| (vendor.key_variables.join(" or "), vendor.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_table_is_a_row() {
        for table in [EXIT_CODES, VARIABLES, FILES, EXAMPLES] {
            assert_eq!(rows(table).len(), table.lines().count(), "{table}");
        }
    }
}
