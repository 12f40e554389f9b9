//! The context of a record in words, as report and page show it: sources with their tokens, the
//! project, what was masked, and whether the text is stored.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::StoredRecord;
use crate::domain::context::{
    Context, ContextSource, ContextStorage, ContextTokens, ProjectContext, ProjectStance,
    ScrubbingReport, SourceKind, TokenCounter,
};
use crate::domain::words::{secret_type, thousands};

/// Most sources that are listed.
const MAX_SOURCES: usize = 20;

/// Most sources that are named as those of masked values.
const MAX_MASKED_SOURCES: usize = 5;

/// The context of a record in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextWords {
    /// The first sources, each with its tokens in words.
    pub sources: Vec<(String, String)>,
    /// The other sources in a sentence; `None` if all are listed.
    pub others: Option<String>,
    /// Lines of label and value.
    pub facts: Vec<(&'static str, String)>,
}

impl StoredRecord {
    /// `None` if there was none and nothing was masked.
    pub fn context_in_words(&self) -> Option<ContextWords> {
        let context = self.context.as_ref();
        let sources = context.map_or(&[][..], |context| &context.sources);
        let rest = sources.get(MAX_SOURCES..).unwrap_or_default();
        let is_long = sources.len() > 1;
        let total = context
            .and_then(|context| context.tokens)
            .filter(|_| is_long);
        let has_project = context.is_some_and(|context| context.stance.is_some());
        let facts = [
            total.map(|total| ("Together", tokens(total))),
            (has_project || self.project_context.is_some())
                .then(|| ("Project", self.project_in_words())),
            masked(self.scrubbing_report.as_ref(), context.is_some()),
            context
                .filter(|context| context.bytes > Some(0))
                .and_then(|context| not_stored(context.storage)),
        ];
        let words = ContextWords {
            sources: sources
                .iter()
                .take(MAX_SOURCES)
                .map(source_in_words)
                .collect(),
            others: others(rest),
            facts: facts.into_iter().flatten().collect(),
        };
        (words != ContextWords::default()).then_some(words)
    }

    fn project_in_words(&self) -> String {
        let context = self.context.as_ref();
        let project = self.project_context.as_ref();
        let stance = context.and_then(|context| context.stance);
        let attitude = match stance {
            Some(ProjectStance::Brownfield) => "brownfield, existing patterns preferred".to_owned(),
            Some(ProjectStance::Greenfield) => "greenfield, current best practices".to_owned(),
            None => self.project_type().unwrap_or("of no known type").to_owned(),
        };
        let stack = context.map_or(&[][..], |context| &context.stack);
        let mut parts = vec![attitude];
        if stack.is_empty() {
            parts.extend(project.and_then(framework));
        } else {
            parts.extend(stack.iter().cloned());
        }
        let documents = project.map_or(&[][..], |project| &project.documentation_used);
        if !documents.is_empty() {
            parts.push(format!("Documents: {}", documents.join(", ")));
        }
        parts.join("; ")
    }
}

fn framework(project: &ProjectContext) -> Option<String> {
    let framework = project.framework_detected.as_ref()?;
    Some(match &project.framework_version {
        Some(version) => format!("Framework: {framework} {version}"),
        None => format!("Framework: {framework}"),
    })
}

pub fn source_in_words(source: &ContextSource) -> (String, String) {
    let name = match source.kind {
        SourceKind::Project => format!("project {}", source.name),
        SourceKind::Stdin => "standard input".to_owned(),
        SourceKind::File => source.name.clone(),
    };
    (name, tokens(source.tokens))
}

fn others(rest: &[ContextSource]) -> Option<String> {
    let sum = rest.iter().map(|source| source.tokens).sum();
    match rest.len() {
        0 => None,
        1 => Some(format!("and 1 more ({})", tokens(sum))),
        count => Some(format!(
            "and {} more ({})",
            thousands(u64::try_from(count).unwrap_or(u64::MAX)),
            tokens(sum)
        )),
    }
}

fn tokens(count: u64) -> String {
    match count {
        1 => "1 token".to_owned(),
        count => format!("{} tokens", thousands(count)),
    }
}

/// The most frequent type first.
fn masked(report: Option<&ScrubbingReport>, has_context: bool) -> Option<(&'static str, String)> {
    let report = report?;
    if !report.sensitive_data_scrubbed {
        let off = "nothing, because scrubbing was off (`--no-scrub`)";
        return (has_context && report.patterns_matched == 0)
            .then(|| ("Masked secrets", off.to_owned()));
    }
    let mut types: Vec<_> = report.by_type.iter().collect();
    types.sort_by_key(|(_, number)| Reverse(**number));
    let types: Vec<String> = types
        .into_iter()
        .map(|(id, number)| format!("{} {}", thousands(*number), secret_type(id, *number)))
        .collect();
    if types.is_empty() {
        return None;
    }
    let mut places: Vec<&str> = report.by_source.keys().map(String::as_str).collect();
    let more = places.len().saturating_sub(MAX_MASKED_SOURCES);
    places.truncate(MAX_MASKED_SOURCES);
    let places = match (places.join(", "), more) {
        (places, _) if places.is_empty() => String::new(),
        (places, 0) => format!(" (in {places})"),
        (places, more) => format!(" (in {places} and {more} more)"),
    };
    Some(("Masked secrets", types.join(", ") + &places))
}

fn not_stored(storage: ContextStorage) -> Option<(&'static str, String)> {
    let why = match storage {
        ContextStorage::Stored => return None,
        ContextStorage::Off => "not stored",
        ContextStorage::Failed => "could not be written",
    };
    Some(("Text", why.to_owned()))
}

/// The context of a question, in `context`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StoredContext {
    /// In the order of the prompt.
    pub sources: Vec<ContextSource>,
    /// The size of the whole text, headings included.
    pub bytes: Option<u64>,
    /// The expected tokens of the whole text.
    pub tokens: Option<u64>,
    /// The method of `tokens` and of those of the sources.
    pub counted_by: Option<TokenCounter>,
    /// SHA-256 of the whole text, in hexadecimal.
    pub sha256: Option<String>,
    /// Whether the answers follow the patterns of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stance: Option<ProjectStance>,
    /// The project's stack in words, as the prompts state it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// Whether the text is stored beside the record.
    pub storage: ContextStorage,
}

impl StoredContext {
    /// `None` if the record does not identify the text.
    pub fn context(&self) -> Option<Context> {
        Some(Context {
            sources: self.sources.clone(),
            bytes: self.bytes?,
            sha256: self.sha256.clone()?,
            tokens: ContextTokens {
                expected: self.tokens.unwrap_or_default(),
                ..ContextTokens::default()
            },
            stance: self.stance,
            stack: self.stack.clone(),
            storage: self.storage,
            ..Context::default()
        })
    }
}

impl From<&Context> for StoredContext {
    fn from(context: &Context) -> Self {
        Self {
            sources: context.sources.clone(),
            bytes: Some(context.bytes),
            tokens: Some(context.tokens.expected),
            counted_by: Some(context.tokens.counted_by),
            sha256: Some(context.sha256.clone()),
            stance: context.stance,
            stack: context.stack.clone(),
            storage: context.storage,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::record::stored_record::StoredContext;

    fn file(name: &str, tokens: u64) -> ContextSource {
        ContextSource {
            kind: SourceKind::File,
            name: name.to_owned(),
            bytes: 4 * tokens,
            tokens,
            sha256: String::new(),
        }
    }

    fn record(context: Option<StoredContext>) -> StoredRecord {
        StoredRecord {
            context,
            ..StoredRecord::default()
        }
    }

    fn fact(record: &StoredRecord, label: &str) -> Option<String> {
        let words = record.context_in_words()?;
        let mut facts = words.facts.into_iter();
        facts.find(|(of, _)| *of == label).map(|(_, value)| value)
    }

    #[test]
    fn sources_are_listed_with_their_tokens_and_their_sum() {
        let context = StoredContext {
            sources: vec![
                ContextSource {
                    kind: SourceKind::Project,
                    ..file(".", 1_204)
                },
                ContextSource {
                    kind: SourceKind::Stdin,
                    ..file("stdin", 1)
                },
                file("a.rs", 12),
            ],
            tokens: Some(1_230),
            ..StoredContext::default()
        };
        let words = record(Some(context)).context_in_words().unwrap();
        let sources = words.sources.iter();
        let sources: Vec<String> = sources
            .map(|(name, tokens)| format!("{name}: {tokens}"))
            .collect();
        assert_eq!(
            sources,
            [
                "project .: 1,204 tokens",
                "standard input: 1 token",
                "a.rs: 12 tokens"
            ]
        );
        assert_eq!(words.facts, [("Together", "1,230 tokens".to_owned())]);
    }

    #[test]
    fn long_list_of_sources_is_cut_with_a_count() {
        let files = (0..1_025).map(|at| file(&format!("{at}.rs"), 2));
        let context = StoredContext {
            sources: files.collect(),
            ..StoredContext::default()
        };
        let words = record(Some(context)).context_in_words().unwrap();
        assert_eq!(words.sources.len(), 20);
        assert_eq!(
            words.others.as_deref(),
            Some("and 1,005 more (2,010 tokens)")
        );
    }

    #[test]
    fn masked_secrets_are_counted_by_type_with_their_places() {
        let counts = |counts: &[(&str, u64)]| -> BTreeMap<String, u64> {
            let counts = counts.iter();
            counts
                .map(|(id, number)| ((*id).to_owned(), *number))
                .collect()
        };
        let mut record = record(None);
        record.scrubbing_report = Some(ScrubbingReport {
            sensitive_data_scrubbed: true,
            patterns_matched: 3,
            types_detected: vec!["api_key".to_owned(), "github_token".to_owned()],
            by_type: counts(&[("github_token", 1), ("api_key", 2)]),
            by_source: BTreeMap::from([
                ("question".to_owned(), counts(&[("github_token", 1)])),
                (".env".to_owned(), counts(&[("api_key", 2)])),
            ]),
        });
        assert_eq!(
            fact(&record, "Masked secrets").as_deref(),
            Some("2 API keys, 1 GitHub token (in .env, question)")
        );
        let report = record.scrubbing_report.as_mut().unwrap();
        *report = ScrubbingReport {
            sensitive_data_scrubbed: true,
            ..ScrubbingReport::default()
        };
        assert_eq!(record.context_in_words(), None, "nothing was found");
    }

    #[test]
    fn scrubbing_that_was_off_is_said_of_a_context() {
        let mut record = record(Some(StoredContext {
            sources: vec![file("a.rs", 3)],
            ..StoredContext::default()
        }));
        record.scrubbing_report = Some(ScrubbingReport::default());
        assert_eq!(
            fact(&record, "Masked secrets").as_deref(),
            Some("nothing, because scrubbing was off (`--no-scrub`)")
        );
        record.context = None;
        assert_eq!(record.context_in_words(), None);
    }

    #[test]
    fn project_is_named_with_its_stack_and_documents() {
        let mut record = record(Some(StoredContext {
            stance: Some(ProjectStance::Brownfield),
            stack: vec!["Framework: Next.js 14 App Router".to_owned()],
            ..StoredContext::default()
        }));
        record.project_context = Some(ProjectContext {
            documentation_used: vec!["README.md".to_owned()],
            ..ProjectContext::default()
        });
        assert_eq!(
            fact(&record, "Project").as_deref(),
            Some(
                "brownfield, existing patterns preferred; Framework: Next.js 14 App Router; \
                 Documents: README.md"
            )
        );
    }

    #[test]
    fn project_of_the_originals_record_is_named_by_its_type() {
        let mut record = record(None);
        record.project_context = Some(ProjectContext {
            project_type: "brownfield".to_owned(),
            framework_detected: Some("nextjs".to_owned()),
            framework_version: Some("14".to_owned()),
            ..ProjectContext::default()
        });
        assert_eq!(
            fact(&record, "Project").as_deref(),
            Some("brownfield; Framework: nextjs 14")
        );
    }

    #[test]
    fn text_that_is_not_stored_is_said() {
        let mut record = record(Some(StoredContext {
            sources: vec![file("a.rs", 3)],
            bytes: Some(12),
            storage: ContextStorage::Off,
            ..StoredContext::default()
        }));
        assert_eq!(fact(&record, "Text").as_deref(), Some("not stored"));
        record.context.as_mut().unwrap().storage = ContextStorage::Stored;
        assert_eq!(fact(&record, "Text"), None);
    }
}
