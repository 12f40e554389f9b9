//! A rule ready for use. A built-in rule is read, and a regex compiled, when its keyword is first
//! seen: most texts need few.

use std::sync::OnceLock;

use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder, RegexSet};

use super::assignment;
use super::block;
use super::overlap::{RuleIndex, SecretSpan, Specificity};
use super::place::{KeywordPlace, begins_token, character_end, character_start, is_token};
use super::rules::{RuleError, ScrubRule, byte_set, keywords};
use super::value::random::{is_filler, is_random, is_strong, shannon};
use crate::domain::steps;

/// A search ends this many bytes after its keyword, unless the rule says otherwise.
const DEFAULT_WINDOW: usize = 2048;

/// The groups of a regex of which the first that takes part is masked.
const SECRETS: [&str; 4] = ["secret", "secret_2", "secret_3", "secret_4"];

/// The group that is masked where a secret in quotes may have other signs.
const QUOTED: &str = "quoted";

/// How a regex begins that group.
const GROUP: &str = "(?<secret>";

#[derive(Debug)]
pub(super) struct CompiledRule {
    /// Literals of which one is in every match.
    pub(super) keywords: Vec<String>,
    /// The TOML of a built-in rule; empty for others.
    source: &'static str,
    rule: OnceLock<ScrubRule>,
    regex: OnceLock<Option<Regex>>,
    allow: OnceLock<RegexSet>,
}

impl CompiledRule {
    /// Takes the TOML of a built-in rule, which is known to be valid.
    pub(super) fn built_in(source: &'static str) -> Self {
        Self {
            keywords: keywords(source),
            source,
            rule: OnceLock::new(),
            regex: OnceLock::new(),
            allow: OnceLock::new(),
        }
    }

    /// Takes a rule that anyone may have written, and compiles it.
    pub(super) fn checked(rule: ScrubRule) -> Result<Self, RuleError> {
        if rule.keywords.is_empty() || rule.keywords.iter().any(String::is_empty) {
            return Err(RuleError::NoKeywords(rule.id));
        }
        if rule.regex.is_some() == rule.names.is_some() {
            return Err(RuleError::Matcher(rule.id));
        }
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if rule.kind.is_empty() || !rule.kind.bytes().all(is_name) {
            return Err(RuleError::Kind {
                rule: rule.id,
                kind: rule.kind,
            });
        }
        let id = rule.id.clone();
        let compiled = Self {
            keywords: rule.keywords.clone(),
            source: "",
            rule: rule.into(),
            regex: OnceLock::new(),
            allow: OnceLock::new(),
        };
        let invalid = |source| RuleError::Regex {
            rule: id.clone(),
            source: Box::new(source),
        };
        if let Some(regex) = &compiled.rule().regex {
            let regex = compiled.compile(regex).map_err(invalid)?;
            if regex.is_match(b"") {
                return Err(RuleError::EmptyMatch(id));
            }
        }
        byte_set(&compiled.rule().allow).map_err(invalid)?;
        Ok(compiled)
    }

    pub(super) fn rule(&self) -> &ScrubRule {
        let read = || toml::from_str(self.source).unwrap_or_default();
        self.rule.get_or_init(read)
    }

    /// In any case, unless the case counts.
    pub(super) fn takes(&self, literal: &[u8]) -> bool {
        let mut keywords = self.keywords.iter();
        keywords.any(|keyword| keyword.as_bytes() == literal)
            || self.rule().ignore_case
            || self.rule().names.is_some()
    }

    pub(super) fn specificity(&self) -> Specificity {
        match &self.rule().regex {
            None => Specificity::Name,
            Some(regex) if regex.contains(GROUP) => Specificity::Context,
            Some(_) => Specificity::Form,
        }
    }

    pub(super) fn find(&self, place: KeywordPlace<'_>, rule: RuleIndex) -> Vec<SecretSpan> {
        let span = |((start, end), is_certain)| SecretSpan {
            start,
            end,
            rule,
            specificity: self.specificity(),
            is_certain,
        };
        if let Some(policy) = self.rule().names {
            let secrets = assignment::find(place, policy).into_iter();
            let secrets = secrets.filter(|(found, _)| self.accepts(place.text, *found));
            return secrets.map(span).collect();
        }
        let is_certain = |(start, end): (usize, usize)| {
            let secret = place.text.get(start..end).unwrap_or_default();
            self.specificity() == Specificity::Form || is_random(secret, 16)
        };
        let found = self.find_by_regex(place).into_iter();
        found
            .map(|found| span((found, is_certain(found))))
            .collect()
    }

    /// From the keyword on, or around it.
    fn find_by_regex(&self, place: KeywordPlace<'_>) -> Vec<(usize, usize)> {
        let bytes = place.text.as_bytes();
        let is_word = place
            .keyword()
            .first()
            .is_some_and(u8::is_ascii_alphanumeric);
        let start = match self.rule().before {
            None if is_word && !begins_token(bytes, place.start) => return Vec::new(),
            None => place.start,
            Some(before) => place.start.saturating_sub(before).max(place.reach.0),
        };
        let after = self.rule().after.unwrap_or(DEFAULT_WINDOW);
        let end = place.reach.1.min(place.end.saturating_add(after));
        let Some(window) = bytes.get(start..end) else {
            return Vec::new();
        };
        steps::count(window.len());
        let needs = self.rule().needs.as_deref().unwrap_or_default();
        if memmem::find(window, needs.as_bytes()).is_none() {
            return Vec::new();
        }
        let Some(regex) = self.regex() else {
            return Vec::new();
        };
        let secrets = regex.captures_iter(window).filter_map(|captures| {
            let mut groups = SECRETS
                .iter()
                .chain([&QUOTED])
                .filter_map(|name| captures.name(name));
            groups.next().or_else(|| captures.get(0))
        });
        let spans = secrets.map(|secret| (start + secret.start(), start + secret.end()));
        if let Some(kind) = self.rule().block {
            let spans = spans.flat_map(|mark| block::find(kind, place, mark));
            return spans
                .filter(|span| self.accepts(place.text, *span))
                .collect();
        }
        spans
            .filter_map(|span| self.whole(place, span, end))
            .filter(|span| self.specificity() != Specificity::Form || is_token(bytes, *span))
            .collect()
    }

    /// Extends a secret to whole characters, and beyond the window if it has cut a token off.
    fn whole(
        &self,
        place: KeywordPlace<'_>,
        span: (usize, usize),
        window_end: usize,
    ) -> Option<(usize, usize)> {
        let (text, (start, mut end)) = (place.text, span);
        if end == window_end {
            let rest = text.as_bytes().get(end..place.reach.1).unwrap_or_default();
            let is_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_+/=.".contains(byte);
            end += rest.iter().take_while(is_token).count();
        }
        steps::count(end - start);
        let span = (character_start(text, start), character_end(text, end));
        self.accepts(text, span).then_some(span)
    }

    fn accepts(&self, text: &str, (start, end): (usize, usize)) -> bool {
        let Some(secret) = text.get(start..end).filter(|secret| !secret.is_empty()) else {
            return false;
        };
        let entropy = self.rule().entropy.unwrap_or(0.0);
        (entropy <= 0.0 || shannon(secret.as_bytes()) >= entropy)
            && (self.rule().names.is_some() || !is_filler(secret))
            && (!self.allow().is_match(secret.as_bytes()) || self.is_sure(secret))
    }

    /// Random letters or signs are a secret behind a word or a header that announces one, although
    /// a part of them looks like a template.
    fn is_sure(&self, secret: &str) -> bool {
        let is_built_in = !self.source.is_empty();
        let has_digit = secret.bytes().any(|byte| byte.is_ascii_digit());
        is_built_in
            && self.specificity() == Specificity::Context
            && (is_strong(secret) || !has_digit && is_random(secret, 16))
    }

    fn regex(&self) -> Option<&Regex> {
        let compile = || self.compile(self.rule().regex.as_deref()?).ok();
        self.regex.get_or_init(compile).as_ref()
    }

    fn compile(&self, regex: &str) -> Result<Regex, regex::Error> {
        let anchored = match self.rule().before {
            None => format!(r"\A(?:{regex})"),
            Some(_) => regex.to_owned(),
        };
        RegexBuilder::new(&anchored)
            .unicode(false)
            .case_insensitive(self.rule().ignore_case)
            .build()
    }

    fn allow(&self) -> &RegexSet {
        let compile = || byte_set(&self.rule().allow).unwrap_or_else(|_| RegexSet::empty());
        self.allow.get_or_init(compile)
    }
}
