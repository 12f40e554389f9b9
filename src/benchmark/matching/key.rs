//! The answer key of a case: finds the final answer in a text and compares it with the expected
//! ones.

use regex::Regex;

use crate::benchmark::case::{Case, ErrorRate, Matcher};
use crate::benchmark::result::GradedAnswer;

use super::choice::Options;
use super::number;
use super::numeral::Quantity;
use super::question::LETTERS;
use super::statement::{Extent, final_statement};
use super::text::{composed, core, folded, positions_of_words};
use super::token::CaseTerms;
use super::transcription::{error_rate, normalized, transcription};

/// The longest expected transcription, in characters: comparing takes steps by the product of both
/// lengths.
const LONGEST_TRANSCRIPTION: usize = 100_000;

/// What the answers to a case are compared with.
#[derive(Clone, Debug)]
pub struct AnswerKey {
    rule: Rule,
    /// The expected answers, as answers are compared with them. Empty for patterns.
    expected: Vec<Value>,
}

#[derive(Clone, Debug)]
enum Rule {
    Exact {
        /// Characters of a text that can be an answer without a statement.
        longest: usize,
        extent: Extent,
    },
    Choice(Options),
    Contains,
    Patterns {
        any: Vec<Regex>,
        all: Vec<Regex>,
        none: Vec<Regex>,
    },
    Numeric {
        absolute: f64,
        relative: f64,
        terms: CaseTerms,
    },
    Similarity {
        measure: ErrorRate,
        at_most: f64,
    },
    Judge,
}

/// A final answer as a text states it.
#[derive(Clone, Debug)]
pub struct FinalAnswer {
    pub(super) text: String,
    value: Value,
}

/// An answer as it is compared.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Option(usize),
    Quantity(Quantity),
    /// Folded or normalized.
    Text(String),
}

impl AnswerKey {
    /// Prepares the comparison.
    ///
    /// # Errors
    ///
    /// Why an expected answer does not fit the matcher.
    pub fn for_case(case: &Case) -> Result<Self, String> {
        if case.expected.is_empty() && !case.matcher.needs_no_answer() {
            return Err("there is no expected answer".to_owned());
        }
        let mut texts = case.expected.iter().map(|text| text.trim());
        if texts.any(str::is_empty) {
            return Err("an expected answer is empty".to_owned());
        }
        let texts = |value: fn(&str) -> String| -> Vec<Value> {
            let expected = case.expected.iter();
            expected.map(|text| Value::Text(value(text))).collect()
        };
        let (rule, expected) = match &case.matcher {
            Matcher::Exact => (Rule::exact(&case.expected), texts(folded)),
            Matcher::Choice { options } => choice(case, options)?,
            Matcher::Contains => (Rule::Contains, texts(folded)),
            Matcher::Regex => (Rule::patterns(&case.expected, &[], &[])?, Vec::new()),
            Matcher::All { none } => (Rule::patterns(&[], &case.expected, none)?, Vec::new()),
            Matcher::Numeric { absolute, relative } => numeric(case, *absolute, *relative)?,
            Matcher::Similarity { measure, at_most } => {
                let (measure, at_most) = (*measure, tolerance(*at_most)?);
                let lengths = case.expected.iter().map(|text| text.chars().count());
                if let Some(length) = lengths.max().filter(|most| *most > LONGEST_TRANSCRIPTION) {
                    return Err(format!(
                        "an expected transcription has {length} characters, more than \
                         {LONGEST_TRANSCRIPTION}"
                    ));
                }
                (Rule::Similarity { measure, at_most }, texts(normalized))
            }
            Matcher::Judge { .. } => (Rule::Judge, Vec::new()),
        };
        Ok(Self { rule, expected })
    }

    pub fn needs_grader(&self) -> bool {
        matches!(self.rule, Rule::Judge)
    }

    pub fn right_letters(&self) -> Option<Vec<String>> {
        let letter = |value: &Value| match value {
            Value::Option(option) => LETTERS.clone().nth(*option).map(String::from),
            _ => None,
        };
        let is_choice = matches!(self.rule, Rule::Choice(_));
        is_choice.then(|| self.expected.iter().filter_map(letter).collect())
    }

    /// `None` if it states none.
    pub fn extract(&self, text: &str) -> Option<FinalAnswer> {
        let text = composed(text);
        let paragraph = || final_statement(&text, Extent::Paragraph).unwrap_or(text.clone());
        let (text, value) = match &self.rule {
            Rule::Choice(options) => {
                let option = options.taken_by(&text)?;
                let letter = LETTERS.clone().nth(option)?;
                (letter.to_string(), Value::Option(option))
            }
            Rule::Numeric { terms, .. } => {
                let (quantity, words) = number::answer(&text, terms)?;
                (words, Value::Quantity(quantity))
            }
            Rule::Exact { longest, extent } => {
                let is_short = text.chars().count() <= *longest;
                let stated = final_statement(&text, *extent);
                let stated = stated.or_else(|| is_short.then(|| text.clone()))?;
                let answer = self.exact_answer(&stated);
                (bare(answer), Value::Text(folded(answer)))
            }
            Rule::Contains => (bare(&paragraph()), Value::Text(folded(&paragraph()))),
            Rule::Patterns { .. } => {
                let stated = paragraph().trim().to_owned();
                (stated.clone(), Value::Text(stated))
            }
            Rule::Similarity { .. } => {
                let transcription = transcription(&text);
                let value = Value::Text(normalized(&transcription));
                (transcription, value)
            }
            Rule::Judge => (text.trim().to_owned(), Value::Text(folded(&text))),
        };
        (!text.is_empty()).then_some(FinalAnswer { text, value })
    }

    /// A text without a statement may have it in `more`.
    pub fn extract_with(&self, text: &str, more: &str) -> Option<FinalAnswer> {
        let is_stated = |text: &str| final_statement(text, Extent::Line).is_some();
        if !is_stated(text) && is_stated(more) {
            self.extract(more)
        } else {
            self.extract(text).or_else(|| self.extract(more))
        }
    }

    /// `None` if a model decides.
    pub fn is_right(&self, answer: &FinalAnswer) -> Option<bool> {
        let mut expected = self.expected.iter();
        Some(match (&self.rule, &answer.value) {
            (Rule::Judge, _) => return None,
            (Rule::Contains, Value::Text(text)) => expected
                .any(|expected| matches!(expected, Value::Text(words) if !positions_of_words(text, words).is_empty())),
            (Rule::Patterns { any, all, none }, Value::Text(text)) => {
                let is_in = |pattern: &Regex| pattern.is_match(text);
                let has_any = any.is_empty() || any.iter().any(is_in);
                has_any && all.iter().all(is_in) && !none.iter().any(is_in)
            }
            (_, value) => expected.any(|expected| self.are_same(value, expected)),
        })
    }

    /// The lowest if several are expected.
    fn error_rate(&self, answer: &FinalAnswer) -> Option<f64> {
        let rate = |expected: &Value| match (&self.rule, &answer.value, expected) {
            (Rule::Similarity { measure, .. }, Value::Text(text), Value::Text(expected)) => {
                Some(error_rate(*measure, text, expected))
            }
            _ => None,
        };
        let rates = self.expected.iter().filter_map(rate);
        rates.min_by(f64::total_cmp)
    }

    /// The same option, numbers within the tolerance, transcriptions within the error rate, else
    /// the same text.
    pub fn is_same(&self, one: &FinalAnswer, other: &FinalAnswer) -> bool {
        self.are_same(&one.value, &other.value)
    }

    fn are_same(&self, one: &Value, other: &Value) -> bool {
        match (&self.rule, one, other) {
            (
                Rule::Numeric {
                    absolute, relative, ..
                },
                Value::Quantity(one),
                Value::Quantity(other),
            ) => one.is(other, *absolute, *relative),
            (Rule::Similarity { measure, at_most }, Value::Text(one), Value::Text(other)) => {
                error_rate(*measure, one, other) <= *at_most
            }
            (Rule::Patterns { .. }, Value::Text(one), Value::Text(other)) => {
                folded(one) == folded(other)
            }
            (_, one, other) => one == other,
        }
    }

    /// The first sentence if that is expected, so that reasons may follow, else everything.
    fn exact_answer<'a>(&self, stated: &'a str) -> &'a str {
        let first = stated.split_once(". ").map(|(first, _)| first);
        // "St. Lucia" and "U.S. Virgin Islands" have no sentence's end.
        let first = first.filter(|sentence| {
            let last = sentence.split([' ', '.']).next_back().unwrap_or_default();
            last.chars().count() >= 3
        });
        let is_expected = |text: &&str| self.expected.contains(&Value::Text(folded(text)));
        let first = first.filter(|first| !is_expected(&stated) && is_expected(first));
        first.unwrap_or(stated)
    }

    /// A text that states none is wrong. `None` if a model decides.
    #[cfg(test)]
    pub fn grade(&self, text: &str) -> Option<GradedAnswer> {
        self.grade_with(text, "")
    }

    /// The answer may be in `more` instead.
    pub fn grade_with(&self, text: &str, more: &str) -> Option<GradedAnswer> {
        let Some(answer) = self.extract_with(text, more) else {
            return self.without_answer(text);
        };
        Some(GradedAnswer {
            is_right: self.is_right(&answer)?,
            error_rate: self.error_rate(&answer),
            text: answer.text,
        })
    }

    /// Returns the grade of words that state no answer: they are wrong. `None` if a model decides.
    pub fn without_answer(&self, words: &str) -> Option<GradedAnswer> {
        (!self.needs_grader()).then(|| GradedAnswer {
            text: words.trim().to_owned(),
            is_right: false,
            error_rate: None,
        })
    }
}

impl Rule {
    fn patterns(any: &[String], all: &[String], none: &[String]) -> Result<Self, String> {
        let (any, all, none) = (patterns(any)?, patterns(all)?, patterns(none)?);
        Ok(Self::Patterns { any, all, none })
    }

    fn exact(expected: &[String]) -> Self {
        /// Characters of a short text.
        const SHORT: usize = 80;
        let lengths = expected.iter().map(|text| text.chars().count());
        let longest = lengths.max().unwrap_or_default();
        let has_lines = expected.iter().any(|text| text.trim().contains('\n'));
        Self::Exact {
            longest: SHORT.max(longest.saturating_mul(2)),
            extent: if has_lines {
                Extent::Rest
            } else {
                Extent::Line
            },
        }
    }
}

fn choice(case: &Case, texts: &[String]) -> Result<(Rule, Vec<Value>), String> {
    if !(2..=LETTERS.count()).contains(&texts.len()) {
        return Err(format!(
            "a choice has from 2 to 26 options, not {}",
            texts.len()
        ));
    }
    let options = Options::new(texts, terms_of(case));
    for (at, text) in texts.iter().enumerate() {
        if options.with_text(text) != Some(at) {
            return Err(format!("option `{text}` occurs twice"));
        }
    }
    let option =
        |expected: &String| match (options.with_letter(expected), options.with_text(expected)) {
            (Some(letter), Some(text)) if letter != text => Err(format!(
                "`{expected}` is the letter of one option and the text of another"
            )),
            (Some(option), _) | (None, Some(option)) => Ok(Value::Option(option)),
            (None, None) => {
                // `B. Mars`: both of the same option.
                let (letter, text) = expected.split_once([')', '.', ':']).unwrap_or_default();
                let option = options.with_letter(letter);
                let is_same = text.trim().is_empty() || options.with_text(text) == option;
                let both = option.filter(|_| is_same).map(Value::Option);
                both.ok_or_else(|| {
                    format!("`{expected}` is neither the letter of an option nor its text")
                })
            }
        };
    let right: Result<Vec<Value>, _> = case.expected.iter().map(option).collect();
    Ok((Rule::Choice(options), right?))
}

fn numeric(case: &Case, absolute: f64, relative: f64) -> Result<(Rule, Vec<Value>), String> {
    let terms = terms_of(case);
    let number = |text: &String| {
        let number = number::only_number(text, &terms).map(Value::Quantity);
        number.ok_or_else(|| format!("`{text}` is not one number"))
    };
    let expected: Result<Vec<Value>, _> = case.expected.iter().map(number).collect();
    let rule = Rule::Numeric {
        absolute: tolerance(absolute)?,
        relative: tolerance(relative)?,
        terms,
    };
    Ok((rule, expected?))
}

fn terms_of(case: &Case) -> CaseTerms {
    let texts = std::iter::once(&case.question).chain(&case.context);
    let texts: Vec<&str> = texts.chain(&case.expected).map(String::as_str).collect();
    number::case_terms(&texts.join("\n"))
}

fn tolerance(number: f64) -> Result<f64, String> {
    let is_usable = number.is_finite() && number >= 0.0;
    let problem = || "a tolerance must be a number from 0 up".to_owned();
    is_usable.then_some(number).ok_or_else(problem)
}

fn patterns(expected: &[String]) -> Result<Vec<Regex>, String> {
    let patterns = expected.iter().map(|pattern| {
        Regex::new(pattern).map_err(|error| {
            // The lines before the last one show the pattern again.
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default();
            let why = why.trim_start_matches("error: ");
            format!("`{pattern}` is not a regular expression: {why}")
        })
    });
    patterns.collect()
}

/// Returns an answer without the marks around it, unless it consists of marks.
fn bare(answer: &str) -> String {
    let core = core(answer);
    let bare = if core.is_empty() { answer.trim() } else { core };
    bare.to_owned()
}
