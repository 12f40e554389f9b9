//! Finds secrets in one text: one pass over the keywords of all rules, and a closer look at the
//! places that have one.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::allowlist::Allowlist;
use super::compiled_rule::CompiledRule;
use super::overlap::{SecretSpan, Specificity, join};
use super::place::{KeywordPlace, RuleMatch};
use super::rules::{RuleError, UserRules, built_in};

#[derive(Debug)]
pub(super) struct Detector {
    rules: Vec<CompiledRule>,
    prefilter: AhoCorasick,
    /// The rules of each keyword of the prefilter.
    keyword_rules: Vec<Vec<KeywordRule>>,
    allowed: Allowlist,
}

#[derive(Clone, Copy, Debug)]
struct KeywordRule {
    rule: usize,
    /// Whether the case of the keyword counts.
    is_exact: bool,
}

impl Detector {
    pub(super) fn new(user: &UserRules) -> Result<Self, RuleError> {
        let mut rules = Vec::new();
        for rule in built_in()? {
            rules.push(CompiledRule::new(rule)?);
        }
        for rule in &user.rules {
            rules.push(CompiledRule::checked(rule.clone())?);
        }
        let mut keywords = Keywords::default();
        for (index, rule) in rules.iter().enumerate() {
            keywords.add(index, rule);
        }
        let prefilter = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(&keywords.literals)
            .map_err(|error| RuleError::Keywords(Box::new(error)))?;
        let allowed = Allowlist::new(&user.allow)
            .map_err(|error| RuleError::AllowedPattern(Box::new(error)))?;
        Ok(Self {
            rules,
            prefilter,
            keyword_rules: keywords.keyword_rules,
            allowed,
        })
    }

    pub(super) fn rule(&self, index: usize) -> Option<&CompiledRule> {
        self.rules.get(index)
    }

    /// Returns the secrets of a text in order, without overlaps.
    pub(super) fn find(&self, text: &str) -> Vec<SecretSpan> {
        let mut spans = Vec::new();
        // What is inside of a known form, such as a private key, is not looked at.
        let mut covered = (0, 0);
        for found in self.prefilter.find_overlapping_iter(text) {
            if covered.0 < found.start() && found.start() < covered.1 {
                continue;
            }
            let place = KeywordPlace {
                text,
                start: found.start(),
                end: found.end(),
            };
            let keyword_rules = self.keyword_rules.get(found.pattern().as_usize());
            for keyword_rule in keyword_rules.into_iter().flatten() {
                let Some(rule) = self.rules.get(keyword_rule.rule) else {
                    continue;
                };
                if keyword_rule.is_exact && !rule.has_keyword(place.keyword()) {
                    continue;
                }
                for RuleMatch {
                    start,
                    end,
                    is_certain,
                } in rule.find(place)
                {
                    if self.is_allowed(text, start, end) {
                        continue;
                    }
                    let specificity = rule.specificity();
                    if specificity == Specificity::Form && end > covered.1 {
                        covered = (start, end);
                    }
                    spans.push(SecretSpan {
                        start,
                        end,
                        rule: Some(keyword_rule.rule),
                        specificity,
                        is_certain,
                    });
                }
            }
        }
        join(spans)
    }

    fn is_allowed(&self, text: &str, start: usize, end: usize) -> bool {
        text.get(start..end)
            .is_none_or(|value| value.is_empty() || self.allowed.contains(value))
    }
}

/// The keywords of all rules, each once.
#[derive(Debug, Default)]
struct Keywords {
    literals: Vec<String>,
    keyword_rules: Vec<Vec<KeywordRule>>,
}

impl Keywords {
    fn add(&mut self, index: usize, rule: &CompiledRule) {
        for keyword in &rule.rule.keywords {
            let literal = keyword.to_ascii_lowercase();
            let keyword_rule = KeywordRule {
                rule: index,
                is_exact: rule.is_exact(),
            };
            let known = self.literals.iter().position(|other| *other == literal);
            let known = known.and_then(|position| self.keyword_rules.get_mut(position));
            if let Some(keyword_rules) = known {
                if !keyword_rules.iter().any(|other| other.rule == index) {
                    keyword_rules.push(keyword_rule);
                }
            } else {
                self.literals.push(literal);
                self.keyword_rules.push(vec![keyword_rule]);
            }
        }
    }
}
