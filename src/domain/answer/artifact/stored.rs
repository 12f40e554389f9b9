//! The stored form of an artifact: its content with version, round number and time. Data without a
//! version is refused.

use serde::{Deserialize, Serialize};

use super::Content;
use crate::domain::time::Timestamp;

/// The version of all artifact formats.
pub const SCHEMA_VERSION: &str = "1.0";

/// An artifact as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "StoredArtifact")]
pub struct Artifact {
    pub schema_version: String,
    pub round_number: u8,
    pub created_at: Timestamp,
    /// True if the answer could not be read as asked and its prose was saved instead.
    pub degraded: bool,
    #[serde(flatten)]
    pub content: Content,
}

/// An artifact before its version is checked.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct StoredArtifact {
    schema_version: Option<String>,
    round_number: u8,
    created_at: Timestamp,
    #[serde(default)]
    degraded: bool,
    #[serde(flatten)]
    content: Content,
}

impl TryFrom<StoredArtifact> for Artifact {
    type Error = MissingFieldError;

    fn try_from(stored: StoredArtifact) -> Result<Self, MissingFieldError> {
        Ok(Self {
            schema_version: stored.schema_version.ok_or(MissingFieldError::VERSION)?,
            round_number: stored.round_number,
            created_at: stored.created_at,
            degraded: stored.degraded,
            content: stored.content,
        })
    }
}

/// Error for stored data without a field that it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Missing required field: {0}")]
pub struct MissingFieldError(&'static str);

impl MissingFieldError {
    /// Stored data without a version is refused, because its meaning is unknown.
    pub const VERSION: Self = Self("schema_version");
}

impl Artifact {
    /// Adds version, round number and time to content from a model.
    pub fn stamp(content: Content, created_at: Timestamp, degraded: bool) -> Self {
        let round_number = match &content {
            Content::Independent(_) | Content::PersonaSelection(_) => 1,
            Content::Synthesis(_) => 2,
            Content::Revision(_) | Content::CrossExam(_) | Content::Comparison(_) => 3,
            Content::Verdict(_) => 4,
        };
        Self {
            schema_version: SCHEMA_VERSION.to_owned(),
            round_number,
            created_at,
            degraded,
            content,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answer::artifact::Verdict;
    use crate::domain::answer::confidence::Confidence;

    #[test]
    fn an_artifact_survives_storing_and_needs_its_version() {
        let content = Content::Verdict(Verdict {
            recommendation: "x".into(),
            confidence: Confidence::new(0.5),
            evidence: vec![],
            dissent: vec![],
            summary: String::new(),
            recommendations: vec![],
            findings: None,
        });
        let artifact = Artifact::stamp(content, Timestamp(0), false);
        let mut stored = serde_json::to_value(&artifact).unwrap();
        assert_eq!(stored["artifact_type"], "verdict");
        assert_eq!(stored["round_number"], 4);
        let read: Artifact = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!(read, artifact);
        stored.as_object_mut().unwrap().remove("schema_version");
        assert_eq!(
            serde_json::from_value::<Artifact>(stored)
                .unwrap_err()
                .to_string(),
            "Missing required field: schema_version"
        );
    }
}
