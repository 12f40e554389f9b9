//! What `--help` and the manual page say beside the commands: their groups, exit codes, keys, files,
//! variables and examples.

use std::fmt::Write;

use clap::Command;

use super::man::ManSection;
use crate::domain::model::vendors::VENDORS;

/// The sections of the manual page: a title, then a line for each term and its explanation.
const SECTIONS: &str = include_str!("man.txt");

/// The groups of commands, each with its first one.
const GROUPS: [(&str, &str); 5] = [
    ("consult", "Ask"),
    ("history", "Look back"),
    ("consult-stats", "Measure"),
    ("mcp", "Work with agents"),
    ("setup", "Set up"),
];

/// Returns the command with its subcommands in groups in the help.
pub(super) fn in_groups(command: Command) -> Command {
    let list = command.clone().help_template("{subcommands}").render_help();
    let head = command.get_styles().get_header().to_owned();
    let mut groups = String::new();
    for line in list.ansi().to_string().lines() {
        let plain = console::strip_ansi_codes(line);
        let name = plain.strip_prefix("  ");
        let name = name.and_then(|line| line.split([' ', ',']).next());
        let group = GROUPS.iter().find(|(first, _)| name == Some(first));
        // Writing to a `String` cannot fail.
        let _ = match group {
            Some((_, title)) => write!(groups, "\n{head}{title}:{head:#}\n{line}\n"),
            None => writeln!(groups, "{line}"),
        };
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n{head}Options:{head:#}\n\
         {{options}}{{after-help}}"
    ))
}

/// Returns what stands beneath the commands in `--help`.
pub(super) fn after_help() -> String {
    let mut text = include_str!("examples.txt").to_owned();
    for (variables, vendor) in keys() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {vendor:<10}  {variables}");
    }
    text.push_str(
        "\nSettings, journals and models are in ~/.llm-conclave, or in CONCLAVE_HOME. `conclave man` \
         has the exit codes and all variables.",
    );
    text
}

pub(super) fn man_sections() -> Vec<ManSection> {
    let sections = SECTIONS
        .split("\n\n")
        .filter_map(|section| section.split_once('\n'));
    let key = |(variables, _)| (variables, "An API key; `conclave doctor` checks it");
    let section = |(title, table)| {
        let keys = keys().map(key).filter(|_| title == "ENVIRONMENT");
        (title, rows(table).into_iter().chain(keys).collect())
    };
    sections.map(section).collect()
}

fn rows(table: &'static str) -> Vec<(String, &'static str)> {
    let row = |line: &'static str| line.split_once("  ");
    let rows = table.lines().filter_map(row);
    rows.map(|(term, text)| (term.to_owned(), text.trim_start()))
        .collect()
}

fn keys() -> impl Iterator<Item = (String, &'static str)> {
    let clouds = VENDORS.iter().filter(|vendor| vendor.is_cloud());
    clouds
        .filter(|vendor| !vendor.signs_in())
        .map(|vendor| (vendor.key_variables.join(" or "), vendor.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_manual_page_is_a_row() {
        let terms = man_sections().into_iter().flat_map(|(_, rows)| rows);
        let titles = SECTIONS.split("\n\n").count();
        let lines = SECTIONS.lines().filter(|line| !line.is_empty()).count();
        assert_eq!(terms.count() - keys().count(), lines - titles);
    }
}
