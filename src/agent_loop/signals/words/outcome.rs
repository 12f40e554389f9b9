//! What the output of a program says of a run: of tests, a build, a compiler.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::agent_loop::text::{TABLES, has_word, pattern, rows};
use crate::text::byte_pattern::BytePattern;
use crate::text::pattern::Pattern;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Fails,
    Passes,
}

/// The lines that programs end a run with, in any case.
static FAILS: LazyLock<BytePattern> = LazyLock::new(|| lines(Outcome::Fails));
static PASSES: LazyLock<BytePattern> = LazyLock::new(|| lines(Outcome::Passes));

fn lines(outcome: Outcome) -> BytePattern {
    pattern(&rows(include_str!("outcomes.toml")), outcome, "(?i){}")
}

/// A failure before a success on one line: a summary names both.
pub(super) fn of_line(line: &str) -> Option<Outcome> {
    let fails = || FAILS.is_in(line).then_some(Outcome::Fails);
    let passes = || PASSES.is_in(line).then_some(Outcome::Passes);
    of_share(line).or_else(fails).or_else(passes)
}

/// `48 of 50 tests pass`; the last share counts.
pub(super) fn of_share(line: &str) -> Option<Outcome> {
    static SHARE: Pattern = Pattern::prepared("", |_| {
        let runs = r"(?:[0-9a-z_-]+ )?(?:tests?|specs|checks|cases|scenarios|assertions|examples)";
        let share = r"([0-9]+) ?(?:/|(?:out )?of) ?(?:the )?([0-9]+)\b";
        let done = "(?:pass(?:es|ed|ing)?|implemented|completed|finished|migrated|ported|converted|replaced|translated|moved|covered|checked)";
        let pass = "(?: (?:are|were|now|do))* (?:pass|green|succe)";
        format!(r"(?i)\b(?:{share} (?:passing {runs}|{runs}{pass})|{done} {share})")
    });
    let share = SHARE.all(line).last()?;
    let numbers = share.iter().skip(1).flatten();
    let mut numbers = numbers.map(|number| number.as_str().parse::<u64>().ok());
    let is_part = numbers.next()?? < numbers.next()??;
    Some(if is_part {
        Outcome::Fails
    } else {
        Outcome::Passes
    })
}

/// The end of the last command in a block of code that shows output, and no program.
pub(super) fn of_code(code: &str) -> Option<Outcome> {
    static PROGRAM: BytePattern = BytePattern::new(
        r"^[ \t>]*(?:```+|~~~+)[ \t]*(?:\{|(?i:text|txt|plain|plaintext|console|terminal|shell|sh|bash|zsh|shell-session|output|log|logs|ansi|pytest|none|tap)\b|\n)",
    );
    static PROMPT: BytePattern =
        BytePattern::new(r"^\s*(?:[\w@:~/.-]*(?:\$|❯)|(?:[\w@:~/.-]*[^\d\s])?%|>|PS [^>]*>) \S");
    let is_fenced = code.trim_start_matches([' ', '>']).starts_with(['`', '~']);
    if is_fenced && !PROGRAM.is_in(code) {
        return None;
    }
    let mut last = None;
    let mut command = None;
    for line in code.lines() {
        if PROMPT.is_in(line) {
            last = command.take().or(last);
        } else if command != Some(Outcome::Fails) {
            command = of_line(line.trim()).or(command);
        }
    }
    command.or(last)
}

/// Of the rows of a table that speak of a run: `| Tests | ❌ 2 failed |`
pub(super) fn of_table(table: &str) -> Option<Outcome> {
    let runs = table
        .lines()
        .filter(|row| has_word(row, TABLES.list("runs")));
    let mut cells = runs.flat_map(|row| row.split('|'));
    cells.find_map(|cell| of_line(cell.trim()).filter(|outcome| *outcome == Outcome::Fails))
}

/// What the rows of a table say in their last cells, where others say that they work:
/// `| host migration | clients desync |`
pub(super) fn other_states(table: &str) -> impl Iterator<Item = &str> {
    let rows = table.lines().skip(2);
    let cells = rows.filter_map(|row| row.trim().trim_matches('|').rsplit('|').next());
    let is_done = |cell: &&str| {
        let mut words = cell.split(|c: char| !c.is_alphanumeric());
        let first = words.find(|word| !word.is_empty()).unwrap_or_default();
        TABLES.list("done_cells").has(&first.to_lowercase()) || cell.contains(['✅', '✓', '✔'])
    };
    let cells: Vec<&str> = cells.collect();
    let are_states = cells.iter().any(is_done);
    let others = cells.into_iter().filter(move |cell| !is_done(cell));
    others.filter(move |_| are_states)
}

/// `| Retransmission | not started |`
pub(super) fn has_open_cell(table: &str) -> bool {
    let mut cells = table.lines().flat_map(|row| row.split('|'));
    cells.any(|cell| {
        let words = cell.trim_matches(|c: char| !c.is_alphanumeric());
        TABLES.list("open_cells").has(&words.to_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_known_by_its_example() {
        for row in rows::<Outcome>(include_str!("outcomes.toml")) {
            assert_eq!(of_line(&row.example), Some(row.means), "{row:?}");
        }
    }
}
