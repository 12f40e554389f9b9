//! Chooses excerpts of a project's documentation within a budget of tokens.
//!
//! In this order: the README, architecture and design, rules for contributors and agents, decision
//! records, other documents, the READMEs of packages, templates. As many get a place as can have a
//! useful length; the space is shared out by weight, and what a short document leaves is for the
//! others.

mod excerpt;

use std::path::Path;

use crate::domain::tokens::estimate_tokens;
use crate::files::{SizeLimit, resolved};

use super::paths::{depth_of, folder_of, name_of};
use super::rules::Rules;
use super::tree::Tree;

pub(super) use excerpt::first_paragraph;

/// So many documents are read at most.
const MOST_DOCUMENTS: usize = 60;
/// The shortest useful excerpt, in tokens.
const USEFUL: u64 = 250;
/// The tokens around an excerpt: its heading.
const HEADING: u64 = 12;

/// A document, or an excerpt of it.
#[derive(Debug)]
pub(super) struct Excerpt {
    pub(super) path: String,
    pub(super) text: String,
    weight: u64,
    tokens: u64,
}

/// Returns the excerpts that fit a budget, in the order of their weight.
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
    let documents = ranked.into_iter().take(MOST_DOCUMENTS);
    let documents = documents.filter(|(rank, path)| {
        !matches!(rank, Rank::PackageReadme | Rank::PackageDocument) || !rules.is_secondary(path)
    });
    let documents = documents.filter_map(|(rank, path)| {
        let text = resolved::read_text(&root.join(path), SizeLimit::SMALL).ok()?;
        Some(Excerpt::of(
            path,
            excerpt::without_decoration(&text),
            rank.weight(),
        ))
    });
    share(documents, budget_tokens)
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

    fn weight(self) -> u64 {
        match self {
            Self::Readme | Self::Architecture => 4,
            Self::Rules => 3,
            Self::Decision => 2,
            Self::Document | Self::PackageReadme | Self::PackageDocument | Self::Template => 1,
        }
    }
}

impl Excerpt {
    fn of(path: &str, text: String, weight: u64) -> Self {
        Self {
            path: path.to_owned(),
            weight,
            tokens: estimate_tokens(&text),
            text,
        }
    }
}

/// Shares a budget out among the first documents that can have a useful length.
fn share(documents: impl Iterator<Item = Excerpt>, budget_tokens: u64) -> Vec<Excerpt> {
    let mut least = 0;
    let mut chosen: Vec<Excerpt> = documents
        .filter(|document| {
            let needed = document.tokens.min(USEFUL) + HEADING;
            let is_chosen = document.tokens > 0 && least + needed <= budget_tokens;
            least += if is_chosen { needed } else { 0 };
            is_chosen
        })
        .collect();
    let headings = HEADING * chosen.len() as u64;
    fit(&mut chosen, budget_tokens.saturating_sub(headings));
    chosen.retain(|excerpt| !excerpt.text.is_empty());
    chosen
}

/// Cuts each document to its share of the budget. Those that need the least of their share come
/// first, so that what they leave is for the others.
fn fit(documents: &mut [Excerpt], mut budget: u64) {
    let mut weights: u64 = documents.iter().map(|document| document.weight).sum();
    let mut documents: Vec<&mut Excerpt> = documents.iter_mut().collect();
    documents.sort_by_key(|document| document.tokens * 1_000 / document.weight);
    for document in documents {
        let share = budget * document.weight / weights.max(1);
        document.text = excerpt::cut(&document.text, share);
        budget -= document.tokens.min(share);
        weights -= document.weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(path: &str) -> Rank {
        Rank::of(path, &Rules::builtin().unwrap())
    }

    fn document(path: &str, words: usize) -> Excerpt {
        Excerpt::of(path, "word\n\n".repeat(words), rank(path).weight())
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

    #[test]
    fn space_of_short_documents_goes_to_the_others() {
        let tokens = |documents: [Excerpt; 2]| {
            let mut documents = documents;
            fit(&mut documents, 500);
            documents.map(|document| estimate_tokens(&document.text))
        };
        let [readme, short] = tokens([document("README.md", 1_000), document("docs/a.md", 10)]);
        assert!(readme > 450 && readme + short <= 500, "{readme} {short}");
        let [readme, long] = tokens([document("README.md", 1_000), document("docs/a.md", 1_000)]);
        assert!((350..=400).contains(&readme), "{readme}");
        assert!((50..=100).contains(&long), "{long}");
    }

    #[test]
    fn excerpts_stay_within_the_budget() {
        for budget in [0, 50, 200, 1_000, 5_000] {
            let documents = [
                "README.md",
                "DESIGN.md",
                "AGENTS.md",
                "docs/a.md",
                "docs/b.md",
            ];
            let documents = documents.into_iter().map(|path| document(path, 2_000));
            let excerpts = share(documents, budget);
            let tokens: u64 = excerpts
                .iter()
                .map(|excerpt| estimate_tokens(&excerpt.text))
                .sum();
            assert!(tokens <= budget, "{tokens} of {budget}");
        }
    }
}
