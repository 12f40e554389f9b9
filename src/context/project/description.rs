//! The description of a project: what the record says of it, and the text for the models.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::context::{ProjectContext, ProjectStance};
use crate::domain::tokens::estimate_tokens;
use crate::files::{self, SizeLimit};

use super::dependency::Scope;
use super::documents::{self, Excerpt};
use super::history;
use super::indicators::Indicators;
use super::locks::Locks;
use super::manifests::{Manifest, Manifests};
use super::paths::{is_secondary, name_of};
use super::rules::Rules;
use super::stack::{Stack, StackSources};
use super::structure;
use super::tree::Tree;

/// So many manifests are summed up.
const MANIFESTS: usize = 8;
/// So many dependencies are named of each.
const DEPENDENCIES: usize = 20;
/// A summary has so many characters.
const SUMMARY: usize = 240;

/// What is said of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectDescription {
    /// The record's `project_context`.
    pub context: ProjectContext,
    /// The text for the models, without a heading of its own.
    pub text: String,
    pub stance: ProjectStance,
    /// The stack in words, one line each: `Framework: Next.js 14 App Router`.
    pub stack: Vec<String>,
}

/// The reason why a project cannot be described.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("project folder not found: `{0}`")]
    NotFound(PathBuf),
    #[error("`{0}` is not a folder")]
    NotAFolder(PathBuf),
    #[error("cannot read the project folder `{folder}`")]
    Unreadable {
        folder: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("the rules of project detection cannot be read")]
    Rules(#[from] toml::de::Error),
}

/// Describes the project in a folder, in a text of at most `budget_tokens`, as estimated.
///
/// # Errors
///
/// When the folder does not exist, is none, or cannot be read. Broken manifests and unreadable
/// folders inside are passed over.
pub fn describe(root: &Path, budget_tokens: u64) -> Result<ProjectDescription, ProjectError> {
    check_folder(root)?;
    let rules = Rules::builtin()?;
    let tree = Tree::walk(root, &rules).map_err(|error| ProjectError::Unreadable {
        folder: root.to_owned(),
        error,
    })?;
    let repository = history::repository(root);
    let repository = repository.as_deref();
    let indicators = Indicators::of(&tree, repository.is_some_and(history::has_history));
    let stance = if indicators.is_brownfield {
        ProjectStance::Brownfield
    } else {
        ProjectStance::Greenfield
    };
    let manifests = Manifests::read(root, &tree, repository);
    let sources = StackSources {
        root,
        tree: &tree,
        manifests: &manifests,
        technologies: &rules.technologies,
    };
    let stack = Stack::of(sources, &mut Locks::new(root, repository));
    let facts = Facts {
        root,
        rules: &rules,
        tree: &tree,
        manifests: &manifests,
        stack: &stack,
    };
    let (text, excerpts) = facts.text(budget_tokens);
    let framework = stack.framework.clone();
    let mut context = ProjectContext {
        framework_version: framework.as_ref().and_then(|main| main.version.clone()),
        framework_detected: framework.map(|main| main.id),
        architecture_pattern: stack.architecture.map(str::to_owned),
        tech_stack: stack.ids(),
        indicators_found: indicators.names,
        documentation_used: excerpts.into_iter().map(|excerpt| excerpt.path).collect(),
        ..ProjectContext::default()
    };
    context.set_stance(stance);
    let lines = facts.stack_lines().into_iter();
    Ok(ProjectDescription {
        context,
        text,
        stance,
        stack: lines
            .map(|(label, words)| format!("{label}: {words}"))
            .collect(),
    })
}

/// What is known of a project.
struct Facts<'a> {
    root: &'a Path,
    rules: &'a Rules,
    tree: &'a Tree,
    manifests: &'a Manifests,
    stack: &'a Stack,
}

impl Facts<'_> {
    /// Returns the text, in which the documentation has what the rest leaves of the budget.
    fn text(&self, budget_tokens: u64) -> (String, Vec<Excerpt>) {
        let mut text = TextBudget::new(budget_tokens);
        let framework = self.stack.framework_line();
        if framework.is_none() {
            text.add("**Framework:** none detected");
        }
        for (label, words) in self.stack_lines() {
            text.add(&format!("**{label}:** {words}"));
        }
        self.add_structure(&mut text);
        self.add_key_files(&mut text);
        let left = text
            .left()
            .saturating_sub(estimate_tokens("\n**Documentation:**\n"));
        let excerpts = documents::excerpts(self.root, self.tree, left);
        if !excerpts.is_empty() {
            text.add("\n**Documentation:**");
        }
        let quoted = excerpts.into_iter();
        let quoted: Vec<Excerpt> = quoted
            .filter(|excerpt| text.add(&format!("\n#### {}\n\n{}", excerpt.path, excerpt.text)))
            .collect();
        (text.text, quoted)
    }

    /// Returns the stack in words, each line with its label.
    fn stack_lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        if let Some(framework) = self.stack.framework_line() {
            lines.push(("Framework".to_owned(), framework));
        }
        if let Some(languages) = structure::languages(self.tree) {
            lines.push(("Languages".to_owned(), languages));
        }
        lines.extend(self.stack.lines(&self.rules.technologies));
        lines
    }

    fn add_structure(&self, text: &mut TextBudget) {
        let folders = structure::folders(self.tree, self.rules, self.stack.architecture);
        if folders.is_empty() {
            text.add("**Structure:** no source files");
        } else {
            text.add("**Structure:**");
        }
        let most = text.left() / 3;
        text.add_within(folders, most);
        if !self.tree.is_complete {
            text.add(&format!(
                "(the scan ended after {} files; there are more)",
                self.tree.files
            ));
        }
        if self.tree.unreadable > 0 {
            text.add(&format!(
                "({} folders or files could not be read)",
                self.tree.unreadable
            ));
        }
    }

    fn add_key_files(&self, text: &mut TextBudget) {
        let mut lines = Vec::new();
        let mut documents = self.tree.documents.iter();
        let readme = documents
            .find(|path| !path.contains('/') && path.to_ascii_lowercase().starts_with("readme"));
        if let Some(readme) = readme
            && let Ok(content) = files::read_text(&self.root.join(readme), SizeLimit::SMALL)
        {
            let summary = documents::first_paragraph(&content, SUMMARY);
            if !summary.is_empty() {
                lines.push(format!("- {readme}: {summary}"));
            }
        }
        let manifests = self.manifests.own.iter();
        let own = manifests.filter(|manifest| !is_secondary(&manifest.path));
        lines.extend(
            own.filter_map(|manifest| self.summary(manifest))
                .take(MANIFESTS),
        );
        let configuration: Vec<&str> = self
            .tree
            .configuration
            .iter()
            .filter(|path| !path.contains('/'))
            .map(String::as_str)
            .take(DEPENDENCIES)
            .collect();
        if !configuration.is_empty() {
            lines.push(format!("- Configuration: {}", configuration.join(", ")));
        }
        if !lines.is_empty() && text.add("\n**Key Files:**") {
            let most = text.left() / 2;
            text.add_within(lines, most);
        }
    }

    /// Returns a line on a manifest: its name, description, keywords and dependencies.
    fn summary(&self, manifest: &Manifest) -> Option<String> {
        let content = &manifest.content;
        let mut parts = Vec::new();
        if let Some(name) = &content.name {
            parts.push(name.clone());
        }
        if let Some(description) = &content.description {
            parts.push(description.trim().to_owned());
        }
        if !content.keywords.is_empty() {
            parts.push(format!("keywords: {}", content.keywords.join(", ")));
        }
        let dependencies = self.manifests.dependencies(manifest);
        let is_shown = |name: &str| !name.starts_with("sdk:") && !name.starts_with("libs.");
        // A feature of a crate stands beside the crate itself, and a dependency of several
        // platforms is listed for each.
        let mut listed = BTreeSet::new();
        let names: Vec<String> = dependencies
            .iter()
            .filter(|used| used.scope == Scope::Runtime && is_shown(&used.name))
            .filter(|used| name_of(&manifest.path) != "Cargo.toml" || !used.name.contains('/'))
            .filter(|used| listed.insert(used.name.as_str()))
            .map(|used| match &used.requirement {
                Some(requirement) => format!("{} {requirement}", used.name),
                None => used.name.clone(),
            })
            .collect();
        if !names.is_empty() {
            let list = names.get(..DEPENDENCIES).unwrap_or(&names).join(", ");
            let more = match names.len().saturating_sub(DEPENDENCIES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            parts.push(format!("dependencies: {list}{more}"));
        }
        let line = documents::one_line(&parts.join("; "), 4 * SUMMARY);
        (!line.is_empty()).then(|| format!("- {}: {line}", manifest.path))
    }
}

/// A text that does not exceed a number of tokens.
struct TextBudget {
    text: String,
    tokens: u64,
}

impl TextBudget {
    fn new(tokens: u64) -> Self {
        Self {
            text: String::new(),
            tokens,
        }
    }

    fn left(&self) -> u64 {
        self.tokens.saturating_sub(estimate_tokens(&self.text))
    }

    /// Adds lines if they fit, and returns whether they did.
    fn add(&mut self, lines: &str) -> bool {
        if estimate_tokens(lines) + 1 > self.left() {
            return false;
        }
        self.text.push_str(lines);
        self.text.push('\n');
        true
    }

    /// Adds the first lines that together have at most so many tokens.
    fn add_within(&mut self, lines: Vec<String>, tokens: u64) {
        let least = self.left().saturating_sub(tokens);
        for line in lines {
            if self.left().saturating_sub(estimate_tokens(&line)) < least || !self.add(&line) {
                return;
            }
        }
    }
}

fn check_folder(root: &Path) -> Result<(), ProjectError> {
    match root.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(ProjectError::NotAFolder(root.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(ProjectError::NotFound(root.to_owned()))
        }
        Err(error) => Err(ProjectError::Unreadable {
            folder: root.to_owned(),
            error,
        }),
    }
}
