//! The description of a project: what the record says of it, and the text for the models.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::locks::Locks;
use super::manifests::{self, Manifest};
use super::patterns::{Ecosystem, Scope};
use super::rules::Rules;
use super::stack::Stack;
use super::tree::Tree;
use super::{documents, indicators, structure};
use crate::domain::context::{ProjectContext, ProjectStance};
use crate::domain::cost::tokens::estimate_tokens;
use crate::files::{SizeLimit, resolved};
use crate::text::clean::{one_line, shortened};

/// So many manifests are summed up.
const MANIFESTS: usize = 8;
/// So many dependencies are named of each.
const DEPENDENCIES: usize = 20;
/// A summary has so many characters, without the mark of a cut.
const SUMMARY: usize = 239;

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
pub fn describe(named: &Path, budget_tokens: u64) -> Result<ProjectDescription, ProjectError> {
    let folder = named.to_owned();
    let root = &match named.canonicalize() {
        Ok(resolved) if resolved.is_dir() => resolved,
        Ok(_) => return Err(ProjectError::NotAFolder(folder)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ProjectError::NotFound(folder));
        }
        Err(error) => return Err(ProjectError::Unreadable { folder, error }),
    };
    let rules = Rules::builtin()?;
    let tree =
        Tree::walk(root, &rules).map_err(|error| ProjectError::Unreadable { folder, error })?;
    let repository = indicators::repository(root);
    let repository = repository.as_deref();
    let has_history = repository.is_some_and(indicators::has_history);
    let (indicators_found, is_brownfield) = indicators::find(&tree, has_history);
    let stance = if is_brownfield {
        ProjectStance::Brownfield
    } else {
        ProjectStance::Greenfield
    };
    let files = tree.manifests.iter().chain(&tree.configuration);
    let manifests = manifests::read_all(root, files, repository, &rules.formats);
    let locks = Locks::new(root, repository);
    let stack = Stack::of(root, &tree, &manifests, &rules, locks);
    let facts = Facts {
        root,
        rules: &rules,
        tree: &tree,
        manifests: &manifests,
        stack: &stack,
    };
    let lines = facts.stack_lines();
    let (text, documentation_used) = facts.text(&lines, budget_tokens);
    let framework = stack.framework.as_ref();
    let mut context = ProjectContext {
        framework_version: framework.and_then(|main| main.version.clone()),
        framework_detected: framework.map(|main| main.id.clone()),
        architecture_pattern: stack.architecture.map(str::to_owned),
        tech_stack: stack.ids(),
        indicators_found,
        documentation_used,
        ..ProjectContext::default()
    };
    context.set_stance(stance);
    Ok(ProjectDescription {
        context,
        text,
        stance,
        stack: lines,
    })
}

/// What is known of a project.
struct Facts<'a> {
    root: &'a Path,
    rules: &'a Rules,
    tree: &'a Tree,
    manifests: &'a [Manifest],
    stack: &'a Stack,
}

impl Facts<'_> {
    /// Returns the text, in which the documentation has what the rest leaves of the budget, and the
    /// documents that it quotes.
    fn text(&self, stack: &[String], budget_tokens: u64) -> (String, Vec<String>) {
        let mut text = TextBudget::new(budget_tokens);
        if self.stack.framework.is_none() {
            text.add("**Framework:** none detected");
        }
        for line in stack {
            text.add(&format!("**{}", line.replacen(':', ":**", 1)));
        }
        self.add_structure(&mut text);
        self.add_key_files(&mut text);
        let heading = "\n**Documentation:**";
        let left = text.left();
        let left = left.saturating_sub(estimate_tokens(&format!("{heading}\n")));
        let mut excerpts = documents::excerpts(self.root, self.tree, self.rules, left);
        if !excerpts.is_empty() {
            text.add(heading);
        }
        excerpts
            .retain(|excerpt| text.add(&format!("\n#### {}\n\n{}", excerpt.path, excerpt.text)));
        let quoted = excerpts.into_iter().map(|excerpt| excerpt.path);
        (text.text, quoted.collect())
    }

    fn stack_lines(&self) -> Vec<String> {
        let framework = self.stack.framework_line();
        let framework = framework.map(|words| format!("Framework: {words}"));
        let languages = structure::languages(self.tree);
        let languages = languages.map(|words| format!("Languages: {words}"));
        let lines = framework.into_iter().chain(languages);
        lines.chain(self.stack.lines(self.rules)).collect()
    }

    fn add_structure(&self, text: &mut TextBudget) {
        let folders = structure::folders(self.tree, self.rules, self.stack.architecture);
        text.add(match folders.as_slice() {
            [] => "**Structure:** no source files",
            _ => "**Structure:**",
        });
        text.add_within(folders, text.left() / 3);
        if !self.tree.is_complete {
            let files = self.tree.files;
            text.add(&format!(
                "(the scan ended after {files} files; there are more)"
            ));
        }
        if self.tree.unreadable > 0 {
            let unreadable = self.tree.unreadable;
            text.add(&format!(
                "({unreadable} folders or files could not be read)"
            ));
        }
    }

    fn add_key_files(&self, text: &mut TextBudget) {
        let is_at_top = |path: &&String| !path.contains('/');
        let mut documents = self.tree.documents.iter().filter(is_at_top);
        let readme = documents.find(|path| self.rules.documents.readmes.matches(path));
        let readme = readme.and_then(|path| {
            let content = resolved::read_text(&self.root.join(path), SizeLimit::SMALL).ok()?;
            let summary = documents::first_paragraph(&content, SUMMARY);
            (!summary.is_empty()).then(|| format!("- {path}: {summary}"))
        });
        let manifests = self.manifests.iter();
        let manifests = manifests
            .filter(|manifest| !self.rules.is_secondary(&manifest.path))
            .filter_map(summary)
            .take(MANIFESTS);
        let configuration = self.tree.configuration.iter().filter(is_at_top);
        let names: Vec<&str> = configuration
            .map(String::as_str)
            .take(DEPENDENCIES)
            .collect();
        let configuration =
            (!names.is_empty()).then(|| format!("- Configuration: {}", names.join(", ")));
        let lines: Vec<String> = readme
            .into_iter()
            .chain(manifests)
            .chain(configuration)
            .collect();
        if !lines.is_empty() && text.add("\n**Key Files:**") {
            text.add_within(lines, text.left() / 2);
        }
    }
}

/// Name, description, keywords and dependencies.
fn summary(manifest: &Manifest) -> Option<String> {
    let content = &manifest.content;
    let description = content.description.as_deref().map(str::trim);
    let head = [content.name.as_deref(), description].into_iter().flatten();
    let mut parts: Vec<String> = head.map(str::to_owned).collect();
    if !content.keywords.is_empty() {
        parts.push(format!("keywords: {}", content.keywords.join(", ")));
    }
    // A feature of a crate stands beside the crate itself, what a project of .NET switches on is no
    // package, and a dependency of several platforms is listed for each.
    let is_shown = |name: &str| {
        let ecosystem = manifest.ecosystem;
        let is_feature = ecosystem == Ecosystem::Cargo && name.contains('/');
        let is_switch = ecosystem == Ecosystem::Nuget && name.contains(':');
        !is_feature && !is_switch && !name.starts_with("libs.")
    };
    let mut listed = BTreeSet::new();
    let dependencies = content.dependencies.iter();
    let names: Vec<String> = dependencies
        .filter(|used| used.scope == Scope::Runtime && is_shown(&used.name))
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
    let line = shortened(&one_line(&parts.join("; ")), 4 * SUMMARY);
    (!line.is_empty()).then(|| format!("- {}: {line}", manifest.path))
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

    fn add(&mut self, lines: &str) -> bool {
        if estimate_tokens(lines) + 1 > self.left() {
            return false;
        }
        self.text.push_str(lines);
        self.text.push('\n');
        true
    }

    fn add_within(&mut self, lines: Vec<String>, tokens: u64) {
        let least = self.left().saturating_sub(tokens);
        for line in lines {
            if self.left().saturating_sub(estimate_tokens(&line)) < least || !self.add(&line) {
                return;
            }
        }
    }
}
