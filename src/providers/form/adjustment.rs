//! The adjustment of a request's form after a refusal, from the server's message and the fields it
//! names.

use std::fmt;

use crate::consultation::protocol::call::{Ask, FailureClass};
use crate::domain::answer::body_fields::{
    OWN, STRUCTURE, holds_reserved, is_inside_reserved, is_reserved,
};

use super::limits::{Limit, limit};
use super::{Form, MIN_OUTPUT_TOKENS, Structure, SystemPlace, Window};
use crate::domain::model::dialect::{Dialect, JsonMode, TokensField};
use crate::providers::errors::wording::TABLES;

/// The details of a refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub class: FailureClass,
    /// The server's message.
    pub words: String,
    /// The fields that the error names apart from its message.
    pub fields: Vec<String>,
}

/// The change for the next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Adjustment {
    /// The answer's structure is requested by weaker means.
    Structure {
        without: &'static str,
        now: Structure,
    },
    TokensField(TokensField),
    /// Moves the system prompt into the user's message.
    NoSystem,
    /// Leaves out this field.
    Without(String),
    /// Limits the answer to this many tokens.
    OutputLimit(u64),
    /// None is possible: the prompt leaves too few tokens for an answer.
    PromptTooLong,
}

/// For messages, as the end of `asking again …`.
impl fmt::Display for Adjustment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Structure {
                without,
                now: Structure::Schema | Structure::Prompt,
            } => write!(f, "without `{without}`"),
            Self::Structure {
                without,
                now: Structure::JsonObject,
            } => write!(f, "without a schema in `{without}`"),
            Self::TokensField(field) => write!(
                f,
                "with `{}` instead of `{}`",
                field.name(),
                field.other().name()
            ),
            Self::NoSystem => f.write_str("with the system prompt inside the user's message"),
            Self::Without(path) => write!(f, "without `{path}`"),
            Self::OutputLimit(tokens) => write!(f, "with at most {tokens} output tokens"),
            Self::PromptTooLong => f.write_str("is of no use"),
        }
    }
}

impl Form {
    /// `parts` are the paths of the sent body.
    pub fn adjustment(
        &self,
        dialect: Dialect,
        ask: &Ask,
        parts: &[String],
        refusal: &Refusal,
    ) -> Option<Adjustment> {
        let words = refusal.words.to_lowercase();
        let is = |class| refusal.class == class;
        if is(FailureClass::BadRequest) {
            self.output_limit_adjustment(ask, &words)
                .or_else(|| self.cache_mark_adjustment(dialect, ask, refusal))
                .or_else(|| self.field_adjustment(dialect, parts, refusal, &words))
        } else if is(FailureClass::Context) {
            self.output_limit_adjustment(ask, &words)
        } else if is(FailureClass::Overload) && is_about_system(&words) {
            // Some servers report an error in a template, or a grammar that does not compile, as
            // their own failure.
            self.without_system()
        } else if is(FailureClass::Overload) && words.contains("grammar")
            // A router without a provider for all parameters answers as if there were no such
            // model.
            || is(FailureClass::ModelMissing) && words.contains("requested parameters")
        {
            self.lesser_structure(dialect)
        } else {
            None
        }
    }

    pub fn learn(&mut self, ask: &Ask, refusal: &Refusal, adjustment: &Adjustment) {
        match adjustment {
            Adjustment::Structure { now, .. } => self.structure = self.structure.max(*now),
            Adjustment::TokensField(field) => {
                self.tokens_field = *field;
                self.tokens_field_swapped = true;
            }
            Adjustment::NoSystem => self.system = SystemPlace::UserMessage,
            Adjustment::Without(path) => _ = self.left_out.insert(path.clone()),
            Adjustment::OutputLimit(_) => match limit(&refusal.words.to_lowercase()) {
                Some(Limit::Answer(most)) => {
                    self.output_limit = Some(self.output_limit.unwrap_or(most).min(most));
                }
                Some(Limit::Context { context, prompt }) => {
                    self.window = Some(Window::reported(context, prompt, ask, self.window));
                }
                None => {}
            },
            Adjustment::PromptTooLong => {}
        }
    }

    fn output_limit_adjustment(&self, ask: &Ask, words: &str) -> Option<Adjustment> {
        let tokens = match limit(words)? {
            Limit::Answer(most) => most,
            Limit::Context { context, prompt } => {
                Window::reported(context, prompt, ask, self.window).output_tokens(ask)
            }
        };
        match tokens {
            0..MIN_OUTPUT_TOKENS => Some(Adjustment::PromptTooLong),
            // A limit that the request respected is not the reason.
            tokens => {
                (tokens < self.max_output_tokens(ask)).then_some(Adjustment::OutputLimit(tokens))
            }
        }
    }

    fn cache_mark_adjustment(
        &self,
        dialect: Dialect,
        ask: &Ask,
        refusal: &Refusal,
    ) -> Option<Adjustment> {
        let field = self.cache_mark(ask, dialect)?.field();
        let mut names = refusal.fields.iter().chain([&refusal.words]);
        names
            .any(|name| name.contains(field))
            .then(|| Adjustment::Without(field.to_owned()))
    }

    fn field_adjustment(
        &self,
        dialect: Dialect,
        parts: &[String],
        refusal: &Refusal,
        words: &str,
    ) -> Option<Adjustment> {
        if is_about_system(words) {
            return self.without_system();
        }
        let fields: Vec<Vec<String>> = refusal.fields.iter().map(|field| segments(field)).collect();
        let is_field = |path: &str| fields.iter().any(|field| is_part(field, path));
        if let Some(adjustment) = self.named(dialect, parts, &is_field) {
            return Some(adjustment);
        }
        // The error names a required field: other fields in its message are not the cause.
        if OWN.into_iter().any(is_field) {
            return None;
        }
        let names = names_in(&refusal.words);
        let is_named = |path: &str| names.iter().any(|name| name.stands_for(path));
        self.named(dialect, parts, &is_named).or_else(|| {
            // The message may be about the structure without naming a field.
            let is_about_structure = TABLES.about_structure.are_in(words)
                || dialect == Dialect::Ollama && words.contains("format");
            is_about_structure.then(|| self.lesser_structure(dialect))?
        })
    }

    fn named(
        &self,
        dialect: Dialect,
        parts: &[String],
        is_named: &dyn Fn(&str) -> bool,
    ) -> Option<Adjustment> {
        let own =
            |path: &str| is_reserved(path) || holds_reserved(path) || is_inside_reserved(path);
        let free = |path: &&String| !own(path) && !self.left_out.contains(*path);
        if let Some(path) = parts.iter().filter(free).find(|path| is_named(path)) {
            return Some(Adjustment::Without(path.clone()));
        }
        if matches!(dialect, Dialect::OpenAi(_))
            && !self.tokens_field_swapped
            && is_named(self.tokens_field.name())
        {
            return Some(Adjustment::TokensField(self.tokens_field.other()));
        }
        let structural = STRUCTURE
            .iter()
            .chain(&["output_config"])
            .any(|path| is_named(path));
        structural.then(|| self.lesser_structure(dialect)).flatten()
    }

    fn lesser_structure(&self, dialect: Dialect) -> Option<Adjustment> {
        let now = match (self.structure, self.json_mode) {
            (Structure::Schema, JsonMode::Supported) => Structure::JsonObject,
            (Structure::Schema, JsonMode::Unsupported) | (Structure::JsonObject, _) => {
                Structure::Prompt
            }
            (Structure::Prompt, _) => return None,
        };
        let without = match dialect {
            Dialect::Anthropic => "output_config",
            Dialect::OpenAi(_) => "response_format",
            Dialect::Responses => "text",
            Dialect::Gemini if self.structure == Structure::Schema => "generationConfig",
            Dialect::Gemini => "responseMimeType",
            Dialect::Ollama => "format",
        };
        Some(Adjustment::Structure { without, now })
    }

    fn without_system(&self) -> Option<Adjustment> {
        (self.system == SystemPlace::Own).then_some(Adjustment::NoSystem)
    }
}

fn is_about_system(words: &str) -> bool {
    let plain = words.replace(['\'', '"', '`'], "");
    TABLES.no_system_role.are_in(&plain)
        || TABLES.about_system.are_in(&plain) && TABLES.refused.are_in(&plain)
}

/// A name in a server's message.
struct Name {
    segments: Vec<String>,
    /// Whether it cannot be an ordinary word: it is quoted, follows a word such as `parameter`, or
    /// has the spelling of a name.
    certain: bool,
}

impl Name {
    fn stands_for(&self, path: &str) -> bool {
        // Ollama's errors say `thinking` for the field `think`.
        let thinking = path == "think" && self.segments.iter().any(|segment| segment == "thinking");
        thinking || (self.certain && is_part(&self.segments, path))
    }
}

fn names_in(words: &str) -> Vec<Name> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
    let mut names = Vec::new();
    let mut announced = false;
    let mut rest = words;
    while let Some(start) = rest.find(is_name) {
        let (before, from) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let end = from.find(|c| !is_name(c)).unwrap_or(from.len());
        let (token, after) = from.split_at_checked(end).unwrap_or((from, ""));
        let name = token.trim_matches('.');
        let quoted = before.ends_with(['\'', '"', '`']) && after.starts_with(['\'', '"', '`']);
        let written_so = name.contains(['_', '.'])
            || name.chars().skip(1).any(|c| c.is_ascii_uppercase())
                && name.chars().any(|c| c.is_ascii_lowercase());
        // Messages of FastAPI and Anthropic begin with the name: `temperature: Extra inputs are not
        // permitted`.
        let leading = names.is_empty() && after.starts_with(':');
        names.push(Name {
            segments: segments(name),
            certain: quoted || written_so || announced || leading,
        });
        announced = TABLES.before_names.has(&name.to_lowercase());
        // `the effort parameter` and `invalid think value` have the name before the noun.
        if let (true, [.., before, _]) = (announced, names.as_mut_slice()) {
            before.certain = true;
        }
        rest = after;
    }
    names
}

/// `generation_config.topK` becomes `generationconfig`, `topk`.
fn segments(name: &str) -> Vec<String> {
    let plain = |part: &str| {
        part.chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_lowercase()
    };
    name.split(['.', '[', '/'])
        .map(plain)
        .filter(|part| !part.is_empty())
        .collect()
}

/// The name contains the path's parts in sequence, or equals its last part.
fn is_part(name: &[String], path: &str) -> bool {
    let path = segments(path);
    name.windows(path.len().max(1)).any(|window| window == path)
        || (name.len() == 1 && name.last() == path.last())
}
