//! The project of a question: reads its description before anything is asked or spent, and decides
//! whether answers follow its patterns.

use super::request::ContextRequest;
use crate::context::project::{ProjectDescription, ProjectError, describe};
use crate::context::sources::SourceText;
use crate::domain::context::{ProjectContext, ProjectStance, SourceKind};
use crate::engine::ports::Face;
use crate::error::Error;

const BROWNFIELD: &str = "🏗️ Brownfield project detected. Biasing toward existing patterns.";
const GREENFIELD: &str = "🆕 Greenfield project. Recommendations based on current best practices.";
const IGNORED: &str = "🔧 Ignoring existing patterns (--greenfield mode)";

/// What a plan takes from the project of its question.
#[derive(Clone, Debug, Default)]
pub struct ProjectTerms {
    pub context: Option<Box<ProjectContext>>,
    /// Whether answers follow the patterns of the project.
    pub stance: Option<ProjectStance>,
    /// The stack in words, one line each: `Framework: Next.js 14 App Router`.
    pub stack: Vec<String>,
}

/// Describes the project that a person names, adds the description to the sources, and prints what
/// follows for the answers.
///
/// # Errors
///
/// When the folder cannot be read.
pub(super) fn read_project(
    request: &ContextRequest,
    sources: &mut Vec<SourceText>,
    face: &dyn Face,
) -> Result<ProjectTerms, Error> {
    let stance = request.stance;
    let Some(request) = &request.project else {
        if stance.is_some() {
            face.note(IGNORED);
        }
        return Ok(ProjectTerms {
            stance,
            ..ProjectTerms::default()
        });
    };
    let described = describe(&request.folder, request.tokens).map_err(explain)?;
    let ProjectDescription {
        mut context,
        text,
        stance: detected,
        stack,
    } = described;
    let stance = stance.unwrap_or(detected);
    face.note(match (stance, detected) {
        (ProjectStance::Brownfield, _) => BROWNFIELD,
        (ProjectStance::Greenfield, ProjectStance::Brownfield) => IGNORED,
        (ProjectStance::Greenfield, ProjectStance::Greenfield) => GREENFIELD,
    });
    context.set_stance(stance);
    sources.push(SourceText {
        kind: SourceKind::Project,
        name: request.folder.display().to_string(),
        text,
    });
    Ok(ProjectTerms {
        context: Some(Box::new(context)),
        stance: Some(stance),
        stack,
    })
}

fn explain(error: ProjectError) -> Error {
    let hint = match &error {
        ProjectError::NotFound(_) => {
            "`--project` takes the next word as its folder: `--project . \"…\"`, or `--project` \
             after the question"
        }
        ProjectError::NotAFolder(_) => "name its folder, or send a single file with `--file`",
        ProjectError::Unreadable { .. } => "check the permissions of the folder",
        ProjectError::Rules(_) => return Error::failed(error),
    };
    Error::usage(error).hint(hint)
}
