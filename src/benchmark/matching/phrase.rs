//! Reads a text as one number phrase: `-7 km/h`, "7 hundred apples", "3 + 4 = 7, not 8".
//!
//! - The phrase may follow an equation or the subject of a sentence ("the total is"), and a remark
//!   may follow it: in brackets, after a mark, or after a word such as "because".
//! - A number is read as a whole or not at all: a second number, an operator, and a letter or a sign
//!   that touches it make it another number or none.
//! - A word after it is its unit, if it is known as one or the case names it. In a text that states
//!   no answer any word may stand there that does not change a number.

use super::numeral::Quantity;
use super::text::words;
use super::token::{CaseTerms, Token, places, stem, tokens};

/// The most parts of a phrase that are read: what follows is a remark.
const MAX_TOKENS: usize = 120;

const CURRENCIES: &str = "$€£¥₹₽₩¢";

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhraseReading {
    /// It states an answer, and has to be a number phrase as a whole.
    Statement,
    /// A clause of a text that states no answer.
    Clause,
    /// A remark on an answer, which is read without its own remarks.
    Remark,
}

/// Returns the number that a text is, or that it says something is, with the words for it.
pub(super) fn phrase(
    text: &str,
    mark: char,
    terms: &CaseTerms,
    reading: PhraseReading,
) -> Option<(Quantity, String)> {
    let tokens = &tokens(text, mark, MAX_TOKENS);
    let reader = PhraseReader {
        tokens,
        terms,
        reading,
    };
    let (quantity, start, end) = reader.phrase()?;
    let (first, last) = (tokens.get(start)?, tokens.get(end.checked_sub(1)?)?);
    Some((quantity, text.get(first.start..last.end())?.to_owned()))
}

/// Reads tokens by their positions. A position after the last one has no token.
#[derive(Clone, Copy, Debug)]
struct PhraseReader<'r> {
    tokens: &'r [Token<'r>],
    terms: &'r CaseTerms,
    reading: PhraseReading,
}

impl<'r> PhraseReader<'r> {
    fn text(&self, at: usize) -> &'r str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    fn is_one_of(&self, at: usize, marks: &str) -> bool {
        let text = self.text(at);
        !text.is_empty() && marks.contains(text)
    }

    fn is(&self, at: usize, kind: impl Fn(&Token<'r>) -> bool) -> bool {
        self.tokens.get(at).is_some_and(kind)
    }

    /// Whether a token touches the one before it.
    fn touches(&self, at: usize) -> bool {
        let pair = self.tokens.get(at.wrapping_sub(1)).zip(self.tokens.get(at));
        pair.is_some_and(|(before, token)| before.end() == token.start)
    }

    /// Returns the end of the longest phrase of a list that begins here.
    fn listed(&self, list: &str, at: usize) -> Option<usize> {
        let rest = self.tokens.get(at..).unwrap_or_default();
        let end = |phrase: &String| {
            let words = phrase.split(' ').count();
            let own = rest.iter().zip(phrase.split(' '));
            (own.filter(|(token, word)| token.is(word)).count() == words).then_some(at + words)
        };
        words(list).iter().filter_map(end).max()
    }

    fn is_in(&self, lists: &[&str], at: usize) -> bool {
        lists.iter().any(|list| self.listed(list, at).is_some())
    }

    fn any(&self, is: impl Fn(usize) -> bool) -> bool {
        (0..self.tokens.len()).any(is)
    }

    fn part(&self, from: usize, to: usize, reading: PhraseReading) -> Self {
        Self {
            tokens: self.tokens.get(from..to).unwrap_or_default(),
            reading,
            ..*self
        }
    }

    /// Returns the quantity with the position of its first token, and that after its last one. The
    /// text may state it after an equals sign, a colon or a verb, of which the last one counts, or
    /// begin with it.
    fn phrase(&self) -> Option<(Quantity, usize, usize)> {
        let signs = (0..self.tokens.len()).rev();
        let stated = signs.filter_map(|sign| Some((sign, self.statement(sign)?)));
        stated.chain([(0, 0)]).find_map(|(sign, start)| {
            let (quantity, begin, end) = self.value(self.lead(start)?)?;
            let is_whole = self.ends(end, &quantity) && self.introduces(sign);
            is_whole.then_some((quantity, begin, end))
        })
    }

    /// Returns the end of what states a number here.
    fn statement(&self, at: usize) -> Option<usize> {
        let sign = self.is_one_of(at, "=≈≃:").then_some(at + 1);
        let has_deeds = self.reading != PhraseReading::Remark;
        let deed = || self.listed("deeds", at).filter(|_| has_deeds);
        sign.or_else(|| self.listed("results", at)).or_else(deed)
    }

    /// Whether what stands before a sign or a verb is its subject: one clause without a doubt, a
    /// single statement, and no expression but one of numbers or one that the case asks for.
    fn introduces(&self, sign: usize) -> bool {
        let left = self.part(0, sign, self.reading);
        let is_related = left.any(|at| left.statement(at).is_some());
        let is_open = left.any(|at| {
            left.is_one_of(at, ".;!?≠<>≤≥")
                || left.is_denial(at)
                || left.is_in(&["doubts"], at)
                || left.is_in(&["errors"], at) && !left.is_named(at)
                // "So it is" gives no reason.
                || at > 0 && left.is_in(&["reasons"], at)
                || is_related && left.is_in(&["conjunctions"], at)
        });
        let is_letter = |token: &Token<'_>| token.is_short() && token.is_word();
        let is_variable = |at| left.is(at, is_letter) && !left.is_one_of(at, "aAI");
        let is_factor = |at| left.touches(at) && left.is_digits(at - 1) && is_variable(at);
        let is_expression = left.any(|at| left.is_one_of(at, "+-−*×·/^|√") || is_factor(at));
        let expression: String = left.tokens.iter().map(|token| token.text).collect();
        let count = |mark| expression.chars().skip(1).filter(|c| *c == mark).count();
        !is_open
            && count('(') <= count(')')
            && (self.text(sign) != ":" || !left.has_numbers())
            && (!is_expression || !left.any(is_variable) || self.terms.text.contains(&expression))
    }

    fn is_denial(&self, at: usize) -> bool {
        self.text(at).ends_with("n't")
            || self.text(at).ends_with("n’t")
            || self.is_in(&["denials"], at)
    }

    /// Returns where a value begins, after words and marks that leave it as it is.
    fn lead(&self, from: usize) -> Option<usize> {
        let mut at = from;
        while self.value(at).is_none() {
            let is_open = self.is_one_of(at, "([{\"'“„‘«「,~•*_`→⇒");
            let is_known = is_open || self.is_plain(at, "preceding");
            at = self.listed("leads", at).or(is_known.then_some(at + 1))?;
        }
        Some(at)
    }

    /// Whether a clause may have this word beside its number.
    fn is_plain(&self, at: usize, others: &str) -> bool {
        self.reading == PhraseReading::Clause
            && self.is(at, Token::is_word)
            && (!self.is(at, Token::is_short) || self.is_one_of(at, "aI"))
            && !self.is_denial(at)
            && !self.is_in(&["changers", "refutations", "doubts", "errors", others], at)
    }

    /// A number with sign, currency and what multiplies it.
    fn value(&self, from: usize) -> Option<(Quantity, usize, usize)> {
        let (mut at, mut sign) = (from, None);
        loop {
            let is_sign = self.touches(at + 1);
            let is_minus = is_sign && self.is_one_of(at, "-−–") || self.is_in(&["minus"], at);
            let is_currency = self.is_one_of(at, CURRENCIES) || self.is_in(&["currency_codes"], at);
            if is_minus && sign.is_none() {
                sign = Some(at);
            } else if !(is_currency || is_sign && self.text(at) == "+") {
                break;
            }
            at += 1;
        }
        let (value, _) = self.tokens.get(at)?.literal.as_ref()?;
        let (mut value, mut end) = (value.clone().negated_if(sign.is_some()), at + 1);
        while let Some((places, next)) = self.scale(end) {
            (value, end) = (value.shifted(places), next);
        }
        let percent = self.listed("percent", end);
        let quantity = Quantity {
            value,
            is_percent: percent.is_some(),
        };
        Some((quantity, sign.unwrap_or(at), percent.unwrap_or(end)))
    }

    /// "million", also as in "half a million". What the case asks in is a unit.
    fn scale(&self, at: usize) -> Option<(i64, usize)> {
        let at = at + usize::from(self.text(at) == "a");
        let word = stem(self.text(at));
        let places = places("scales", &word).filter(|_| !self.terms.words.contains(&word));
        Some((places?, at + 1))
    }

    /// Whether nothing from here on changes the value that is read.
    fn ends(&self, from: usize, quantity: &Quantity) -> bool {
        let mut at = from;
        while let Some(token) = self.tokens.get(at) {
            let next = match token.text {
                _ if token.has_digits() => None,
                // "0.5 or 50%"
                "or" if self.is_again(at + 1, quantity) => return true,
                _ if token.is_word() && !self.touches(at) && self.is_reason(at) => return true,
                _ if token.is_word() => self.after_word(at, at == from),
                // `42 = 6 * 7`
                "=" | "≈" | "≃" => return self.rest(at).is_calculation(),
                mark if self.begins_remark(mark, at + 1) => return self.leaves(at, quantity),
                "(" | "[" if !self.touches(at) => self.bracket(at, quantity),
                _ => self.after_mark(at, at == from),
            };
            let Some(next) = next else { return false };
            at = next;
        }
        true
    }

    fn is_again(&self, at: usize, quantity: &Quantity) -> bool {
        self.reading != PhraseReading::Remark && self.rest(at).states(quantity) == Some(true)
    }

    /// A dash before a letter or a digit is a minus.
    fn begins_remark(&self, mark: &str, next: usize) -> bool {
        let is_long = self.is(next, |token| !token.is_short());
        let is_mark = ".。,;:".contains(mark) || "-–".contains(mark) && is_long;
        mark == "—" || is_mark && !self.touches(next)
    }

    /// Returns what follows a mark after the number that is part of its unit, or closes something.
    fn after_mark(&self, at: usize, is_first: bool) -> Option<usize> {
        let is_unit = |at| !is_first && self.is_unit(at);
        match self.text(at) {
            "/" | "·" | "-" if is_unit(at - 1) && is_unit(at + 1) => Some(at + 2),
            "^" if is_unit(at - 1) => Some(at + 2 + usize::from(self.is_one_of(at + 1, "-−"))),
            mark if CURRENCIES.contains(mark) => is_first.then_some(at + 1),
            mark => "°)]}\"'”“’»」".contains(mark).then_some(at + 1),
        }
    }

    fn is_unit(&self, at: usize) -> bool {
        let is_known = words("units").iter().any(|unit| unit == self.text(at));
        is_known || !self.is(at, Token::is_short) && self.is_in(&["units"], at)
    }

    /// Whether the case has this word.
    fn is_named(&self, at: usize) -> bool {
        !self.is(at, Token::is_short) && self.terms.words.contains(&stem(self.text(at)))
    }

    fn is_reason(&self, at: usize) -> bool {
        self.is_in(&["reasons"], at) && !self.is_in(&["changers"], at)
    }

    /// Returns what follows a word after the number: a unit, one that the case names, or one that
    /// says nothing else of it.
    fn after_word(&self, at: usize, is_first: bool) -> Option<usize> {
        let is_touching = is_first && self.touches(at);
        let is_named = self.is_named(at) && !self.is_in(&["neighbours"], at);
        let is_known = is_named || self.is_plain(at, "neighbours");
        let word = || self.listed("closings", at).or(is_known.then_some(at + 1));
        let is_other = is_touching || self.is_in(&["changers"], at);
        let unit = self.is_unit(at).then_some(at + 1);
        unit.or_else(|| word().filter(|_| !is_other))
    }

    /// The text from here to the end of the sentence.
    fn rest(&self, at: usize) -> Self {
        let end = (at..self.tokens.len()).find(|at| self.text(*at) == ".");
        self.part(at, end.unwrap_or(self.tokens.len()), PhraseReading::Remark)
    }

    /// Whether the words after a mark leave the number alone: they give a reason, have no other
    /// number, or are a sentence that states no other one.
    fn leaves(&self, mark: usize, quantity: &Quantity) -> bool {
        let rest = self.rest(mark + 1);
        let is_sentence = self.is_one_of(mark, ".。");
        let is_free = || !rest.has_numbers() || is_sentence && !rest.has_doubts();
        self.reading == PhraseReading::Remark
            || !is_sentence && rest.is_in(&["reasons"], 0)
            || rest.is_apart() && rest.states(quantity).unwrap_or_else(is_free)
    }

    /// Returns what follows a remark in brackets that leaves the number alone. It may show how the
    /// number is calculated, or its parts.
    fn bracket(&self, at: usize, quantity: &Quantity) -> Option<usize> {
        let end = (at + 1..self.tokens.len()).find(|at| self.is_one_of(*at, ")]"))?;
        let is_again = self.text(at + 1) == "or" && self.is_again(at + 2, quantity);
        let inner = self.part(at + 1, end, PhraseReading::Remark);
        let is_sign = |at| inner.is_one_of(at, "+-−×*·/÷=") || inner.is_in(&["calculations"], at);
        let number = |token: &Token<'_>| token.text.parse::<u64>().map_or(0, u128::from);
        let is_sum = quantity
            .value
            .is_whole(inner.tokens.iter().map(number).sum());
        let is_begun = !inner.is_digits(0) || inner.any(is_sign) || is_sum;
        let is_apart = inner.is_apart() && !inner.has_doubts();
        let fits = || inner.states(quantity).unwrap_or(is_apart && is_begun);
        (self.reading == PhraseReading::Remark || is_again || fits()).then_some(end + 1)
    }

    fn is_digits(&self, at: usize) -> bool {
        self.is(at, Token::has_digits)
    }

    fn has_numbers(&self) -> bool {
        self.any(|at| self.is_digits(at))
    }

    fn is_calculation(&self) -> bool {
        self.tokens.iter().all(|token| {
            let is_part = token.is_word() || "=+-−–*×·/÷^()≈".contains(token.text);
            token.literal.is_some() || token.is_short() && is_part
        })
    }

    fn has_doubts(&self) -> bool {
        self.has_numbers() && self.any(|at| self.is_in(&["doubts"], at))
    }

    fn is_apart(&self) -> bool {
        !self.is_one_of(0, "±+-−<>≤≥√&") && !self.is_in(&["changers", "neighbours"], 0)
    }

    /// Whether a remark states the same number, as far as it states one.
    fn states(&self, quantity: &Quantity) -> Option<bool> {
        /// A rounded number is the same.
        const ROUNDING: f64 = 0.002;
        let (stated, ..) = self
            .phrase()
            .filter(|_| self.reading == PhraseReading::Remark)?;
        Some(stated.is(quantity, 0.0, ROUNDING))
    }
}
