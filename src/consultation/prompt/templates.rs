//! The template files: compiled in, overridable one by one, each with a version in its front
//! matter. This module does not know their purpose.
//!
//! The text is stored, and compiled when it is first filled, because the machine that holds it must
//! be serializable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::{Deserialize, Serialize, Serializer};

use super::Size;
use crate::domain::hash::sha256;
use crate::domain::panel::Persona;

/// The templates of the context, for a model of each size.
pub const CONTEXT: &str = "context";
pub const SMALL_CONTEXT: &str = "small/context";

/// The template for the open questions of a document.
pub const REFINE_QUESTIONS: &str = "refine/questions";
/// The template for the claims and questions of a plain document.
pub const REFINE_EXTRACTION: &str = "refine/extraction";

pub(super) const PERSONAS: &str = "personas/";

/// Folders whose templates have two parts: one that is the same for every call of a kind, and one
/// that is specific to a call.
const FOLDERS_OF_TASKS: [&str; 3] = ["converge/", "explore/", "helper/"];

macro_rules! builtin {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("../../../prompts/", $name, ".md")))),*] };
}

const BUILTIN: [(&str, &str); 46] = builtin![
    "question",
    "context",
    "small/context",
    "follow_up",
    "small/follow_up",
    "material",
    "small/material",
    "repair",
    "converge/independent",
    "converge/synthesis",
    "converge/revision",
    "converge/cross_exam",
    "converge/verdict",
    "converge/small/independent",
    "converge/small/synthesis",
    "converge/small/revision",
    "converge/small/cross_exam",
    "converge/small/verdict",
    "explore/independent",
    "explore/synthesis",
    "explore/revision",
    "explore/cross_exam",
    "explore/verdict",
    "explore/small/independent",
    "explore/small/synthesis",
    "explore/small/revision",
    "explore/small/cross_exam",
    "explore/small/verdict",
    "helper/persona_selection",
    "helper/comparison",
    "helper/small/persona_selection",
    "helper/small/comparison",
    "refine/questions",
    "refine/extraction",
    "refine/small/questions",
    "refine/small/extraction",
    "personas/accessibility",
    "personas/architecture",
    "personas/creative",
    "personas/devops",
    "personas/documentation",
    "personas/performance",
    "personas/pragmatic",
    "personas/security",
    "personas/skeptic",
    "personas/testing",
];

/// The templates in force, by path without the extension: `converge/independent`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<String, String>")]
pub struct Templates {
    pub(super) texts: Arc<BTreeMap<String, String>>,
    derived: Arc<Derived>,
}

impl From<BTreeMap<String, String>> for Templates {
    /// Takes templates from a journal.
    fn from(texts: BTreeMap<String, String>) -> Self {
        Self::of(texts)
    }
}

impl Serialize for Templates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.texts.serialize(serializer)
    }
}

/// A template in use. Its hash shows whether it was edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptUsed {
    /// Its file's path without the extension: `converge/independent`.
    pub name: String,
    pub version: String,
    pub sha256: String,
}

/// What follows from the texts, shared by every copy: all seats of a round fill the same template,
/// and many consultations can share one set. Two sets with equal texts are equal whatever of this
/// was made.
#[derive(Debug, Default)]
struct Derived {
    /// By the name that was asked for.
    compiled: Mutex<BTreeMap<String, Compiled>>,
    used: OnceLock<Vec<PromptUsed>>,
    /// Those that are not built in.
    own: OnceLock<BTreeSet<String>>,
}

impl PartialEq for Derived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Derived {}

impl Templates {
    pub fn builtin() -> Self {
        Self::of(
            BUILTIN
                .iter()
                .map(|(name, text)| ((*name).to_owned(), normal(text)))
                .collect(),
        )
    }

    fn of(texts: BTreeMap<String, String>) -> Self {
        Self {
            texts: Arc::new(texts),
            derived: Arc::default(),
        }
    }

    pub(super) fn with(&self, name: &str, text: &str) -> Self {
        let mut texts = self.texts.as_ref().clone();
        texts.insert(name.to_owned(), normal(text));
        Self::of(texts)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.texts.contains_key(name)
    }

    /// Keeps only the templates that a consultation needs, because its log stores all of them. The
    /// function gets a template's name, and the persona's id for a persona's file.
    #[must_use]
    pub fn only(&self, needed: impl Fn(&str, Option<&str>) -> bool) -> Self {
        let persona = |name: &str, text: &str| {
            name.starts_with(PERSONAS)
                .then(|| PromptHeader::of(text).get("id").map(ToOwned::to_owned))
                .flatten()
        };
        let kept = self
            .texts
            .iter()
            .filter(|(name, text)| needed(name, persona(name, text).as_deref()))
            .map(|(name, text)| (name.clone(), text.clone()));
        Self::of(kept.collect())
    }

    /// Edits the templates that are not those of this version of the program; the first argument
    /// is a template's name.
    pub fn edit_own(&mut self, edit: &mut dyn FnMut(&str, &mut String)) {
        if self.own().is_empty() {
            return;
        }
        let derived = std::mem::take(&mut self.derived);
        let texts = Arc::make_mut(&mut self.texts);
        for name in derived.own.get().into_iter().flatten() {
            if let Some(text) = texts.get_mut(name) {
                edit(name, text);
            }
        }
    }

    /// With its version and the SHA-256 of its text.
    pub fn used(&self) -> &[PromptUsed] {
        let used = |(name, text): (&String, &String)| PromptUsed {
            name: name.clone(),
            version: PromptHeader::of(text)
                .get("version")
                .unwrap_or_default()
                .to_owned(),
            sha256: sha256(text),
        };
        let all = || self.texts.iter().map(used).collect();
        self.derived.used.get_or_init(all)
    }

    pub fn is_builtin(&self, name: &str) -> bool {
        self.texts.contains_key(name) && !self.own().contains(name)
    }

    fn own(&self) -> &BTreeSet<String> {
        let is_builtin = |name: &str, own: &str| {
            let mut builtin = BUILTIN.iter().filter(|(known, _)| *known == name);
            builtin.any(|(_, text)| own == normal(text))
        };
        let own =
            |(name, text): (&String, &String)| (!is_builtin(name, text)).then(|| name.clone());
        let all = || self.texts.iter().filter_map(own).collect();
        self.derived.own.get_or_init(all)
    }

    /// Returns the text of a template that differs from the built-in one. A missing template, as in
    /// a journal of an earlier version, has none.
    pub(super) fn own_text(&self, name: &str) -> Option<&str> {
        let text = self.texts.get(name)?;
        (!self.is_builtin(name)).then_some(text)
    }

    /// Returns each persona with the name of its template.
    pub fn persona_files(&self) -> impl Iterator<Item = (&str, Persona)> {
        self.texts
            .iter()
            .filter(|(name, _)| name.starts_with(PERSONAS))
            .filter_map(|(file, text)| {
                let front = PromptHeader::of(text);
                let aliases = front
                    .get("aliases")
                    .unwrap_or_default()
                    .split(',')
                    .map(str::trim)
                    .filter(|alias| !alias.is_empty());
                let field = |name: &str| front.get(name).map(ToOwned::to_owned);
                let persona = Persona {
                    id: field("id")?,
                    name: field("name")?,
                    prompt: front.body.trim().to_owned(),
                    brief: field("brief").unwrap_or_default(),
                    aliases: aliases.map(ToOwned::to_owned).collect(),
                };
                Some((file.as_str(), persona))
            })
    }

    /// Renders the template of a whole question, for consultations whose question a program writes,
    /// in the form for models of a size.
    pub fn question(
        &self,
        name: &str,
        size: Size,
        values: &BTreeMap<&'static str, String>,
    ) -> Result<String, PromptError> {
        let (folder, file) = name.split_once('/').unwrap_or_default();
        let name = size.template(folder, file);
        let values = Value::from(Serde(values));
        self.compiled(&name)?.fill(&name, &values)
    }

    /// Returns a template and those that it can include, compiled: each under its name, or its
    /// parts under [`protocol`] and [`task`].
    ///
    /// Other templates with parts are left out: compiling them all takes longer than filling one.
    pub(super) fn compiled(&self, wanted: &str) -> Result<Compiled, PromptError> {
        let compiled = self.derived.compiled.lock();
        let mut compiled_by_name = compiled.unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = compiled_by_name.get(wanted) {
            return Ok(compiled.clone());
        }
        let compiled = self.compile(wanted)?;
        compiled_by_name.insert(wanted.to_owned(), compiled.clone());
        Ok(compiled)
    }

    pub(super) fn compile(&self, wanted: &str) -> Result<Compiled, PromptError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        for (name, text) in self
            .texts
            .iter()
            .filter(|(name, _)| !name.starts_with(PERSONAS))
        {
            let body = PromptHeader::of(text).body;
            let parts = match Parts::of(name).and_then(|parts| parts.split(name, body)) {
                Some(_) if name != wanted => continue,
                None => vec![(name.clone(), body)],
                Some(parts) => parts.into(),
            };
            for (part, text) in parts {
                environment
                    .add_template_owned(part.clone(), text.to_owned())
                    .map_err(|source| cannot_fill(&part, source))?;
            }
        }
        Ok(Compiled {
            environment: Arc::new(environment),
        })
    }
}

/// Compiled templates.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) environment: Arc<Environment<'static>>,
}

impl Compiled {
    pub(super) fn fill(&self, part: &str, values: &Value) -> Result<String, PromptError> {
        let text = self
            .environment
            .get_template(part)
            .and_then(|template| template.render(values));
        Ok(text
            .map_err(|source| cannot_fill(part, source))?
            .trim()
            .to_owned())
    }
}

fn cannot_fill(part: &str, source: minijinja::Error) -> PromptError {
    PromptError::Fill {
        name: source.name().unwrap_or(part).to_owned(),
        line: source.line(),
        source,
    }
}

/// The two parts of a template.
#[derive(Clone, Copy)]
pub(super) enum Parts {
    /// `protocol` and `task`.
    Task,
    /// `preamble` and `context`.
    Context,
}

impl Parts {
    pub(super) fn of(name: &str) -> Option<Self> {
        if [CONTEXT, SMALL_CONTEXT].contains(&name) {
            return Some(Self::Context);
        }
        let mut folders = FOLDERS_OF_TASKS.iter();
        folders
            .any(|folder| name.starts_with(folder))
            .then_some(Self::Task)
    }

    pub(super) fn separator(self) -> &'static str {
        match self {
            Self::Task => "\n=== task ===\n",
            Self::Context => "\n=== context ===\n",
        }
    }

    /// `None` without the line between them.
    fn split<'a>(self, name: &str, body: &'a str) -> Option<[(String, &'a str); 2]> {
        let (first, second) = body.split_once(self.separator())?;
        Some(match self {
            Self::Task => [(protocol(name), first), (task(name), second)],
            Self::Context => [(preamble(name), first), (context(name), second)],
        })
    }
}

pub(super) fn protocol(name: &str) -> String {
    format!("{name}: protocol")
}

pub(super) fn task(name: &str) -> String {
    format!("{name}: task")
}

pub(super) fn preamble(name: &str) -> String {
    format!("{name}: preamble")
}

pub(super) fn context(name: &str) -> String {
    format!("{name}: context")
}

/// `key: value` lines between two lines `---`, and the body after them.
pub(super) struct PromptHeader<'a> {
    lines: &'a str,
    pub(super) body: &'a str,
}

impl<'a> PromptHeader<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        match text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
        {
            Some((lines, body)) => Self { lines, body },
            None => Self {
                lines: "",
                body: text,
            },
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.lines.lines().find_map(|line| {
            Some(
                line.split_once(':')
                    .filter(|(name, _)| name.trim() == key)?
                    .1
                    .trim(),
            )
        })
    }
}

/// Returns a file's text without a byte order mark and with plain line breaks.
fn normal(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    // The built-in ones have none, and each start takes all of them.
    if !text.contains('\r') {
        return text.to_owned();
    }
    text.replace("\r\n", "\n")
}

/// A template is missing, incomplete or cannot be filled.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("there is no prompt template `{0}`")]
    Unknown(String),
    #[error("prompt template `{name}` lacks {what}")]
    Lacks { name: String, what: &'static str },
    #[error("prompt template `{name}` uses `{value}`, which this template does not get")]
    UnknownValue { name: String, value: String },
    #[error("the text of the context is not loaded")]
    ContextNotLoaded,
    #[error(
        "prompt template `{name}` cannot be filled{}",
        line.map(|line| format!(": line {line}")).unwrap_or_default()
    )]
    Fill {
        name: String,
        /// The line, counted from the first line of the part, not of the file.
        line: Option<usize>,
        #[source]
        source: minijinja::Error,
    },
}
