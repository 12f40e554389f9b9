//! The context of a question: what plan, journal and record say of it. They name the sources; the
//! text itself is stored once, beside the journal.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::cost::tokens::{Band, token_band, worst_tokens};
use super::hash::sha256;

/// The kind of a source. The order is that of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    Project,
    Stdin,
    File,
}

/// One source of context, as sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContextSource {
    pub kind: SourceKind,
    /// A file's path as given or found, a project's folder; `stdin`.
    pub name: String,
    /// The size of the text as sent.
    pub bytes: u64,
    /// The expected tokens of the text as sent.
    pub tokens: u64,
    /// SHA-256 of the text as sent, in hexadecimal.
    pub sha256: String,
}

/// The text of the context, shared by all prompts of a run. Plans are serialized without it.
///
/// A context may have 16 MB: copies share the text, and what is computed from it is computed once.
#[derive(Clone, Default)]
pub struct ContextText(Arc<SharedText>);

#[derive(Default)]
struct SharedText {
    text: String,
    tokens: OnceLock<ContextTokens>,
    sha256: OnceLock<String>,
}

impl ContextText {
    pub fn counted(text: String, tokens: ContextTokens) -> Self {
        Self(Arc::new(SharedText {
            text,
            tokens: OnceLock::from(tokens),
            sha256: OnceLock::new(),
        }))
    }

    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    pub fn is_empty(&self) -> bool {
        self.0.text.is_empty()
    }

    /// As counted by its maker, else by the documented ratio.
    pub fn tokens(&self) -> ContextTokens {
        let by_ratio = || ContextTokens::by_ratio(&self.0.text);
        *self.0.tokens.get_or_init(by_ratio)
    }

    /// In hexadecimal.
    pub fn sha256(&self) -> &str {
        self.0.sha256.get_or_init(|| sha256(&self.0.text))
    }
}

impl PartialEq for ContextText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.text == other.0.text
    }
}

impl Eq for ContextText {}

/// A failed assertion does not print the whole text.
impl fmt::Debug for ContextText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beginning: String = self.0.text.chars().take(200).collect();
        f.debug_struct("ContextText")
            .field("bytes", &self.0.text.len())
            .field("beginning", &beginning)
            .finish()
    }
}

impl Serialize for ContextText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_str().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ContextText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl From<String> for ContextText {
    fn from(text: String) -> Self {
        Self(Arc::new(SharedText {
            text,
            ..SharedText::default()
        }))
    }
}

/// The context of a consultation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// In the order of the text.
    pub sources: Vec<ContextSource>,
    /// The size of the whole text, headings included.
    pub bytes: u64,
    /// SHA-256 of the whole text, in hexadecimal.
    pub sha256: String,
    pub tokens: ContextTokens,
    /// Whether answers follow the patterns of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stance: Option<ProjectStance>,
    /// The project's stack in words, one line each: `Framework: Next.js 14 App Router`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    pub storage: ContextStorage,
    /// The text as sent: each source under its heading. Empty until it is loaded from its file.
    #[serde(skip)]
    pub text: ContextText,
}

impl Context {
    /// Returns whether a later run has the text.
    pub fn is_stored(&self) -> bool {
        self.bytes == 0 || self.storage == ContextStorage::Stored
    }
}

/// Whether the text is stored beside the journal. Without it, the consultation cannot be resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextStorage {
    #[default]
    Stored,
    /// The setting `log_context` is off, or nothing of the consultation is stored.
    Off,
    /// The file could not be written.
    Failed,
}

/// The tokens of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextTokens {
    pub low: u64,
    pub expected: u64,
    pub high: u64,
    /// The most that any vendor's tokenizer is taken to count; ceilings reserve this.
    pub worst: u64,
    pub counted_by: TokenCounter,
}

impl ContextTokens {
    /// Counts the tokens of a text by the documented ratio.
    pub fn by_ratio(text: &str) -> Self {
        let band = token_band(text);
        Self {
            low: band.low,
            expected: band.expected,
            high: band.high,
            worst: worst_tokens(text),
            counted_by: TokenCounter::Ratio,
        }
    }

    pub fn band(self) -> Band {
        Band {
            low: self.low,
            expected: self.expected,
            high: self.high,
        }
    }
}

impl Sum for ContextTokens {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, count| Self {
            low: sum.low.saturating_add(count.low),
            expected: sum.expected.saturating_add(count.expected),
            high: sum.high.saturating_add(count.high),
            worst: sum.worst.saturating_add(count.worst),
            counted_by: count.counted_by,
        })
    }
}

/// The method of a token count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TokenCounter {
    /// The documented ratio of characters to tokens.
    #[default]
    Ratio,
    /// OpenAI's tokenizer `o200k_base`.
    O200k,
}

/// The attitude of the answers to what exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProjectStance {
    /// An existing project: prefer its patterns.
    Brownfield,
    /// A new one, or the person said so: current best practices.
    Greenfield,
}

/// What was detected of a project; the record's `project_context`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ProjectContext {
    /// `brownfield` or `greenfield`.
    pub project_type: String,
    /// The id of the main framework: `nextjs`.
    pub framework_detected: Option<String>,
    /// Its version as the lock file or the manifest has it: `14`, `14.2.3`.
    pub framework_version: Option<String>,
    /// `app_router`, `pages_router`, `workspace`, …
    pub architecture_pattern: Option<String>,
    /// Ids by kind: a text, or a list of texts for kinds that may have several (`testing`).
    pub tech_stack: BTreeMap<String, Value>,
    /// `package.json`, `src/`, `git`, …
    pub indicators_found: Vec<String>,
    /// Paths of the documents that the excerpts are from.
    pub documentation_used: Vec<String>,
    /// Whether the prompts ask to prefer existing patterns.
    pub bias_applied: bool,
}

impl ProjectContext {
    pub fn set_stance(&mut self, stance: ProjectStance) {
        let (project_type, bias_applied) = match stance {
            ProjectStance::Brownfield => ("brownfield", true),
            ProjectStance::Greenfield => ("greenfield", false),
        };
        project_type.clone_into(&mut self.project_type);
        self.bias_applied = bias_applied;
    }
}

/// The secrets that were masked; the record's `scrubbing_report`. It holds nothing of a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ScrubbingReport {
    /// False with `--no-scrub`.
    pub sensitive_data_scrubbed: bool,
    /// The number of masked values; each occurrence counts.
    pub patterns_matched: u64,
    /// The types that were found, sorted: `api_key`, `github_token`.
    pub types_detected: Vec<String>,
    /// Masked values by type.
    pub by_type: BTreeMap<String, u64>,
    /// Masked values by source (`question`, `stdin`, a path) and type.
    pub by_source: BTreeMap<String, BTreeMap<String, u64>>,
}

impl ScrubbingReport {
    /// The sources of the report get the question's name.
    pub fn add(&mut self, name: &str, other: &Self) {
        self.sensitive_data_scrubbed |= other.sensitive_data_scrubbed;
        self.patterns_matched = self.patterns_matched.saturating_add(other.patterns_matched);
        for (kind, number) in &other.by_type {
            let sum = self.by_type.entry(kind.clone()).or_default();
            *sum = sum.saturating_add(*number);
        }
        self.types_detected = self.by_type.keys().cloned().collect();
        for (source, by_type) in &other.by_source {
            self.by_source
                .insert(format!("{name} {source}"), by_type.clone());
        }
    }
}
