//! Templates of the user in the place of the built-in ones, checked when they are loaded.

use std::collections::BTreeSet;

use super::templates::{PERSONAS, Parts, PromptError, PromptHeader, Templates};

/// The values that a template must use: without them a model does not learn what it is asked, or
/// its answer cannot be read.
const NEEDED: [(&str, &str, &str); 8] = [
    ("question", "question", QUESTION),
    ("follow_up", "question", QUESTION),
    ("small/follow_up", "question", QUESTION),
    ("follow_up", "prior.text", PRIOR),
    ("small/follow_up", "prior.text", PRIOR),
    ("refine/questions", "questions", QUESTIONS),
    ("refine/questions", "claims", "the claims: `{{ claims }}`"),
    ("refine/small/questions", "questions", QUESTIONS),
];
const QUESTION: &str = "the question: `{{ question }}`";
const PRIOR: &str = "the earlier consultation: `{{ prior.text }}`";
const QUESTIONS: &str = "the questions: `{{ questions }}`";

impl Templates {
    /// Overrides a template, or adds a persona. A template must be complete, and may use only
    /// values that a built-in template of this name uses, in whatever mode and for models of
    /// whatever size. An error leaves the templates as they were.
    pub fn override_with(&mut self, name: &str, text: &str) -> Result<(), PromptError> {
        let is_persona = name.starts_with(PERSONAS);
        if !self.contains(name) && !is_persona {
            return Err(PromptError::Unknown(name.to_owned()));
        }
        let candidate = self.with(name, text);
        candidate.check(name)?;
        if !is_persona {
            candidate.check_values(name)?;
        }
        *self = candidate;
        Ok(())
    }

    fn check_values(&self, name: &str) -> Result<(), PromptError> {
        let used = self.values(name, &mut BTreeSet::new())?;
        let is_missing = |(template, value, _): &&(&str, &str, &str)| {
            *template == name && !used.contains(*value)
        };
        let file = |name: &str| name.rsplit('/').next().map(ToOwned::to_owned);
        let own = file(name);
        let name = name.to_owned();
        if let Some(&(_, _, what)) = NEEDED.iter().find(is_missing) {
            return Err(PromptError::Lacks { name, what });
        }
        let builtin = Self::builtin();
        let same = builtin.texts.keys().filter(|other| file(other) == own);
        let known: Vec<String> = same
            .flat_map(|name| builtin.values(name, &mut BTreeSet::new()))
            .flatten()
            .collect();
        let is_part = |part: &str, whole: &str| {
            let rest = whole.strip_prefix(part);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_known = |value: &String| {
            let mut known = known.iter();
            known.any(|known| is_part(known, value) || is_part(value, known))
        };
        match used.into_iter().find(|value| !is_known(value)) {
            Some(value) => Err(PromptError::UnknownValue { name, value }),
            None => Ok(()),
        }
    }

    /// Returns the values that a template uses, those of the templates that it includes with them.
    /// `seen` has the templates that include it.
    fn values(
        &self,
        name: &str,
        seen: &mut BTreeSet<String>,
    ) -> Result<BTreeSet<String>, PromptError> {
        seen.insert(name.to_owned());
        let environment = self.compile(name)?.environment;
        let part = format!("{name}: ");
        let parts = environment.templates();
        let parts = parts.filter(|(other, _)| *other == name || other.starts_with(&part));
        let mut values: BTreeSet<String> = parts
            .flat_map(|(_, template)| template.undeclared_variables(true))
            .filter(|value| environment.globals().all(|(global, _)| global != value))
            .collect();
        let text = self.texts.get(name).map(String::as_str).unwrap_or_default();
        let includes = |other: &str| {
            ['"', '\'']
                .iter()
                .any(|quote| text.contains(&format!("include {quote}{other}{quote}")))
        };
        for other in self.texts.keys().filter(|other| includes(other)) {
            if !seen.contains(other) {
                values.extend(self.values(other, seen)?);
            }
        }
        Ok(values)
    }

    fn check(&self, name: &str) -> Result<(), PromptError> {
        let lacks = |what| {
            Err(PromptError::Lacks {
                name: name.to_owned(),
                what,
            })
        };
        let front = PromptHeader::of(self.texts.get(name).map(String::as_str).unwrap_or_default());
        let needed: &[(&str, &'static str)] = if name.starts_with(PERSONAS) {
            &[
                ("version", "a `version` in its front matter"),
                ("id", "an `id` in its front matter"),
                ("name", "a `name` in its front matter"),
            ]
        } else {
            &[("version", "a `version` in its front matter")]
        };
        if let Some((_, what)) = needed
            .iter()
            .find(|(key, _)| front.get(key).is_none_or(str::is_empty))
        {
            return lacks(what);
        }
        if let Some(parts) = Parts::of(name).filter(|parts| !front.body.contains(parts.separator()))
        {
            return lacks(match parts {
                Parts::Task => "the line `=== task ===`",
                Parts::Context => "the line `=== context ===`",
            });
        }
        if front.body.trim().is_empty() {
            return lacks("text");
        }
        Ok(())
    }
}
