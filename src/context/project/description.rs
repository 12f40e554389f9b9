//! The description of a project: what the record says of it, and the text for the models.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::context::{ProjectContext, ProjectStance};

use super::history;
use super::indicators::Indicators;
use super::rules::Rules;
use super::structure;
use super::tree::Tree;

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
    let has_history = repository.as_deref().is_some_and(history::has_history);
    let indicators = Indicators::of(&tree, has_history);
    let stance = if indicators.is_brownfield {
        ProjectStance::Brownfield
    } else {
        ProjectStance::Greenfield
    };
    let mut context = ProjectContext {
        indicators_found: indicators.names,
        ..ProjectContext::default()
    };
    context.set_stance(stance);
    let mut text = format!(
        "**Languages:** {}\n\n**Structure:**\n{}",
        structure::languages(&tree),
        structure::folders(&tree)
    );
    text.truncate(
        text.floor_char_boundary(usize::try_from(budget_tokens * 4).unwrap_or(usize::MAX)),
    );
    Ok(ProjectDescription {
        context,
        text,
        stance,
        stack: Vec::new(),
    })
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
