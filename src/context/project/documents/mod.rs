//! Chooses excerpts of a project's documentation within a budget of tokens.
//!
//! In this order: the README, architecture and design, rules for contributors and agents, decision
//! records, other documents, the READMEs of packages, templates. Each may fill half of the space
//! left, or all of it if only a useful length is left.

mod excerpt;

use std::path::Path;

use crate::domain::cost::tokens::estimate_tokens;
use crate::files::{SizeLimit, resolved};

use super::patterns::{depth_of, folder_of, name_of};
use super::rules::Rules;
use super::tree::Tree;

pub(super) use excerpt::first_paragraph;

/// So many documents are read at most.
const MAX_DOCUMENTS: usize = 60;
/// The shortest useful excerpt, in tokens.
const USEFUL: u64 = 250;
/// The tokens around an excerpt: its heading.
const HEADING: u64 = 12;

/// A document, or an excerpt of it.
#[derive(Debug)]
pub(super) struct Excerpt {
    pub(super) path: String,
    pub(super) text: String,
}

/// The most important first.
pub(super) fn excerpts(
    root: &Path,
    tree: &Tree,
    rules: &Rules,
    budget_tokens: u64,
) -> Vec<Excerpt> {
    let documents = tree.documents.iter();
    let mut ranked: Vec<(Rank, &String)> = documents
        .map(|path| (Rank::of(path, rules), path))
        .collect();
    ranked.sort_by_key(|(rank, path)| (*rank, depth_of(path)));
    let documents = ranked.into_iter().take(MAX_DOCUMENTS);
    let documents = documents.filter(|(rank, path)| {
        !matches!(rank, Rank::PackageReadme | Rank::PackageDocument) || !rules.is_secondary(path)
    });
    let documents = documents.filter_map(|(_, path)| {
        let text = resolved::read_text(&root.join(path), SizeLimit::SMALL).ok()?;
        Some((path, excerpt::without_decoration(&text)))
    });
    share(documents, budget_tokens)
}

fn share<'a>(
    documents: impl Iterator<Item = (&'a String, String)>,
    mut budget_tokens: u64,
) -> Vec<Excerpt> {
    let mut excerpts = Vec::new();
    for (path, text) in documents {
        let space = budget_tokens.saturating_sub(HEADING);
        let text = excerpt::cut(&text, space.min((space / 2).max(USEFUL)));
        if !text.is_empty() {
            budget_tokens = space.saturating_sub(estimate_tokens(&text));
            excerpts.push(Excerpt {
                path: path.clone(),
                text,
            });
        }
    }
    excerpts
}

/// The kind of a document; the first kinds are the most important ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Readme,
    Architecture,
    Rules,
    Decision,
    Document,
    PackageReadme,
    PackageDocument,
    Template,
}

impl Rank {
    fn of(path: &str, rules: &Rules) -> Self {
        let names = &rules.documents;
        let folder = name_of(folder_of(path));
        let is_in = |folders: &super::patterns::NamePatterns| folders.matches(folder);
        if names.templates.matches(path) || is_in(&names.templates) {
            Self::Template
        } else if names.readmes.matches(path) {
            match depth_of(path) {
                0 => Self::Readme,
                _ => Self::PackageReadme,
            }
        } else if !folder.is_empty() && !is_in(&names.folders) {
            Self::PackageDocument
        } else if names.architecture.matches(path) {
            Self::Architecture
        } else if names.rules.matches(path) {
            Self::Rules
        } else if is_in(&names.decisions) {
            Self::Decision
        } else {
            Self::Document
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(path: &str) -> Rank {
        Rank::of(path, &Rules::builtin().unwrap())
    }

    #[test]
    fn kinds_of_documents_are_known_by_their_names() {
        for (path, expected) in [
            ("README.md", Rank::Readme),
            ("packages/ui/README.md", Rank::PackageReadme),
            ("docs/ARCHITECTURE.md", Rank::Architecture),
            ("AGENTS.md", Rank::Rules),
            (".github/CODING_STANDARDS.md", Rank::Rules),
            ("docs/adr/0001-use-rust.md", Rank::Decision),
            (".github/PULL_REQUEST_TEMPLATE.md", Rank::Template),
            (".github/ISSUE_TEMPLATE/bug.md", Rank::Template),
            ("docs/usage.md", Rank::Document),
            ("src/notes.md", Rank::PackageDocument),
        ] {
            assert_eq!(rank(path), expected, "{path}");
        }
    }

    fn tokens(lengths: &[usize], budget: u64) -> Vec<u64> {
        let path = "README.md".to_owned();
        let documents = lengths
            .iter()
            .map(|words| (&path, "word\n\n".repeat(*words)));
        let excerpts = share(documents, budget);
        excerpts
            .iter()
            .map(|excerpt| estimate_tokens(&excerpt.text))
            .collect()
    }

    #[test]
    fn long_documents_leave_space_for_the_others() {
        let long = tokens(&[2_000, 2_000, 2_000], 1_000);
        assert!((450..=500).contains(&long[0]) && long[1] > 200, "{long:?}");
        let after_a_short_one = tokens(&[10, 2_000], 1_000);
        assert!(after_a_short_one[1] > 450, "{after_a_short_one:?}");
    }

    #[test]
    fn excerpts_stay_within_the_budget() {
        for budget in [0, 50, 200, 1_000, 5_000] {
            let sum: u64 = tokens(&[2_000; 5], budget).iter().sum();
            assert!(sum <= budget, "{sum} of {budget}");
        }
    }
}
