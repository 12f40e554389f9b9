//! Chooses excerpts of a project's documentation within a budget of tokens.
//!
//! In this order: the README, architecture and design, rules for contributors and agents, decision
//! records, other documents, the READMEs of
//! packages, templates. As many get a place as can have a useful length; the space is shared out by
//! weight, and what a short document leaves is for the others.

mod excerpt;

use std::path::Path;

use crate::domain::tokens::estimate_tokens;
use crate::files::{self, SizeLimit};

use super::paths::{is_secondary, name_of};
use super::tree::Tree;

pub(super) use excerpt::{first_paragraph, one_line};

/// So many documents are read at most.
const MOST_DOCUMENTS: usize = 60;
/// The shortest useful excerpt, in tokens.
const USEFUL: u64 = 250;
/// The tokens around an excerpt: its heading.
const HEADING: u64 = 12;

/// An excerpt of a document.
#[derive(Debug)]
pub(super) struct Excerpt {
    pub(super) path: String,
    pub(super) text: String,
}

/// A document that may be quoted.
#[derive(Debug)]
struct QuotableDocument {
    path: String,
    text: String,
    weight: u64,
    tokens: u64,
}

/// Returns the excerpts that fit a budget, in the order of their weight.
pub(super) fn excerpts(root: &Path, tree: &Tree, budget_tokens: u64) -> Vec<Excerpt> {
    let mut paths: Vec<(Rank, &str)> = tree
        .documents
        .iter()
        .map(|path| (Rank::of(path), path.as_str()))
        .collect();
    paths.sort_by_key(|(rank, path)| (*rank, path.matches('/').count()));
    let documents = paths.into_iter().take(MOST_DOCUMENTS);
    let candidates = documents
        .filter_map(|(rank, path)| candidate(root, path, rank))
        .collect();
    share(candidates, budget_tokens)
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
    fn of(path: &str) -> Self {
        let name = name_of(path).to_ascii_lowercase();
        let depth = path.matches('/').count();
        let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
        let folder = path.rsplit('/').nth(1).unwrap_or_default();
        if name.contains("template") || path.to_ascii_lowercase().contains("issue_template") {
            Self::Template
        } else if begins(&["readme"]) {
            match depth {
                0 => Self::Readme,
                _ => Self::PackageReadme,
            }
        } else if depth > 0 && !is_document_folder(folder) {
            Self::PackageDocument
        } else if begins(&["architecture", "design"]) {
            Self::Architecture
        } else if begins(&[
            "agents.md",
            "claude.md",
            "contributing",
            "coding_standards",
            "styleguide",
            "style_guide",
            "conventions",
            "development",
            "developing",
            "hacking",
            "copilot-instructions",
        ]) {
            Self::Rules
        } else if ["adr", "adrs", "decisions", "rfcs"].contains(&folder) {
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

/// Returns whether documents in a folder of this name are about the whole project.
fn is_document_folder(folder: &str) -> bool {
    ["docs", "doc", "adr", "adrs", "decisions", "rfcs", ".github"].contains(&folder)
}

fn candidate(root: &Path, path: &str, rank: Rank) -> Option<QuotableDocument> {
    let is_of_package = [Rank::PackageReadme, Rank::PackageDocument].contains(&rank);
    if is_of_package && is_secondary(path) {
        return None;
    }
    let text = files::read_text(&root.join(path), SizeLimit::SMALL).ok()?;
    let text = excerpt::without_decoration(&text);
    QuotableDocument::new(path, text, rank.weight())
}

impl QuotableDocument {
    fn new(path: &str, text: String, weight: u64) -> Option<Self> {
        let tokens = estimate_tokens(&text);
        (tokens > 0).then(|| Self {
            path: path.to_owned(),
            text,
            weight,
            tokens,
        })
    }
}

/// Shares a budget out among the first documents that can have a useful length.
fn share(candidates: Vec<QuotableDocument>, budget_tokens: u64) -> Vec<Excerpt> {
    let mut least = 0;
    let mut chosen: Vec<QuotableDocument> = Vec::new();
    for candidate in candidates {
        let needed = candidate.tokens.min(USEFUL) + HEADING;
        if least + needed <= budget_tokens {
            least += needed;
            chosen.push(candidate);
        }
    }
    let headings = HEADING * chosen.len() as u64;
    let spaces = spaces(&chosen, budget_tokens.saturating_sub(headings));
    let excerpts = chosen
        .into_iter()
        .zip(spaces)
        .filter_map(|(document, space)| {
            let text = excerpt::cut(&document.text, space);
            (!text.is_empty()).then_some(Excerpt {
                path: document.path,
                text,
            })
        });
    excerpts.collect()
}

/// Returns the space of each document: its own size where its share is larger, and its share of the
/// rest otherwise.
fn spaces(documents: &[QuotableDocument], mut budget: u64) -> Vec<u64> {
    let mut spaces: Vec<Option<u64>> = documents.iter().map(|_| None).collect();
    loop {
        let open = || {
            documents
                .iter()
                .zip(&spaces)
                .filter(|(_, space)| space.is_none())
        };
        let weights: u64 = open().map(|(document, _)| document.weight).sum();
        let share = |document: &QuotableDocument| budget * document.weight / weights.max(1);
        let fitting = documents
            .iter()
            .zip(&spaces)
            .position(|(document, space)| space.is_none() && document.tokens <= share(document));
        let Some(space) = fitting.and_then(|at| Some((documents.get(at)?, spaces.get_mut(at)?)))
        else {
            return documents
                .iter()
                .zip(&spaces)
                .map(|(document, space)| space.unwrap_or_else(|| share(document)))
                .collect();
        };
        let (document, space) = space;
        *space = Some(document.tokens);
        budget -= document.tokens;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(path: &str, words: usize) -> QuotableDocument {
        QuotableDocument::new(path, "word\n\n".repeat(words), Rank::of(path).weight()).unwrap()
    }

    #[test]
    fn kinds_of_documents_are_known_by_their_names() {
        for (path, rank) in [
            ("README.md", Rank::Readme),
            ("packages/ui/README.md", Rank::PackageReadme),
            ("docs/ARCHITECTURE.md", Rank::Architecture),
            ("AGENTS.md", Rank::Rules),
            (".github/CODING_STANDARDS.md", Rank::Rules),
            ("docs/adr/0001-use-rust.md", Rank::Decision),
            (".github/PULL_REQUEST_TEMPLATE.md", Rank::Template),
            ("docs/usage.md", Rank::Document),
        ] {
            assert_eq!(Rank::of(path), rank, "{path}");
        }
    }

    #[test]
    fn space_of_short_documents_goes_to_the_others() {
        let documents = [document("README.md", 1_000), document("docs/a.md", 10)];
        let small = documents[1].tokens;
        assert_eq!(spaces(&documents, 500), [500 - small, small]);
        let documents = [document("README.md", 1_000), document("docs/a.md", 1_000)];
        assert_eq!(spaces(&documents, 500), [400, 100]);
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
            let documents = documents.map(|path| document(path, 2_000)).into();
            let excerpts = share(documents, budget);
            let tokens: u64 = excerpts
                .iter()
                .map(|excerpt| estimate_tokens(&excerpt.text))
                .sum();
            assert!(tokens <= budget, "{tokens} of {budget}");
        }
    }
}
