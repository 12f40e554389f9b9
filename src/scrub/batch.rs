//! Masks the texts of a batch together: a secret found in one is masked in all of them.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};

use super::detector::Detector;
use super::overlap::{RuleIndex, SecretSpan, Specificity, join};
use super::own_keys::OwnKeys;
use super::placeholder::{Numbering, label, placeholder, places};
use super::value::random::is_random;
use super::{Finding, OutgoingText, Scrubbed};
use crate::domain::context::ScrubbingReport;
use crate::domain::steps;

/// A mask can bring two parts of a text closer, and so lead to another finding. Texts settle in the
/// second round; the limit is there for texts that are made for it.
const MAX_ROUNDS: usize = 16;

/// A shorter value could be a word of another text.
const SHORTEST_REPEATED: usize = 10;

/// The kind of a key that this program holds, and its name among the rules.
const OWN_KEY: (&str, &str) = ("own-key", "api_key");

pub(super) struct Batch<'s, 't> {
    detector: &'s Detector,
    own_keys: &'s OwnKeys,
    /// Those of the batch, then the names of their sources.
    texts: Vec<MaskedText<'t>>,
}

/// A text, and its secrets in order.
struct MaskedText<'t> {
    text: &'t str,
    spans: Vec<SecretSpan>,
    is_settled: bool,
}

impl<'s, 't> Batch<'s, 't> {
    pub(super) fn new(
        detector: &'s Detector,
        own_keys: &'s OwnKeys,
        texts: &[OutgoingText<'t>],
    ) -> Self {
        let sources = texts.iter().map(|outgoing| outgoing.source);
        let texts = texts.iter().map(|outgoing| outgoing.text).chain(sources);
        let texts = texts.map(|text| MaskedText {
            text,
            spans: Vec::new(),
            is_settled: false,
        });
        Self {
            detector,
            own_keys,
            texts: texts.collect(),
        }
    }

    pub(super) fn mask(mut self) -> Scrubbed<'t> {
        self.find();
        self.finish()
    }

    /// Masks every secret of a kind alike.
    pub(super) fn mask_alike(mut self) -> Vec<String> {
        self.find();
        self.texts.truncate(self.texts.len() / 2);
        let detector = self.detector;
        let masked = self
            .texts
            .iter()
            .map(|text| text.masked(detector).into_owned());
        masked.collect()
    }

    fn find(&mut self) {
        self.find_own_keys();
        for _ in 0..MAX_ROUNDS {
            for text in &mut self.texts {
                text.detect(self.detector);
            }
            if !self.find_repeats() && self.texts.iter().all(|text| text.is_settled) {
                break;
            }
        }
    }

    fn find_own_keys(&mut self) {
        for text in &mut self.texts {
            let keys = self.own_keys.find(text.text).into_iter();
            text.add(keys.map(|(start, end)| SecretSpan {
                start,
                end,
                rule: None,
                specificity: Specificity::OwnKey,
                is_certain: true,
            }));
        }
    }

    /// Masks strong secrets wherever they are repeated; returns whether there was any.
    fn find_repeats(&mut self) -> bool {
        let mut strong = Vec::new();
        for text in &self.texts {
            for span in &text.spans {
                let secret = text.secret(span);
                if span.is_certain && is_random(secret, SHORTEST_REPEATED) {
                    strong.push((secret, *span));
                }
            }
        }
        strong.sort_by_key(|(secret, span)| (*secret, std::cmp::Reverse(span.specificity)));
        strong.dedup_by_key(|(secret, _)| *secret);
        if strong.is_empty() {
            return false;
        }
        let mut finder = AhoCorasick::builder();
        finder.match_kind(MatchKind::LeftmostLongest);
        let Ok(finder) = finder.build(strong.iter().map(|(secret, _)| secret)) else {
            return false;
        };
        let mut is_any_new = false;
        for text in &mut self.texts {
            let mut repeated = Vec::new();
            for found in finder.find_iter(text.text) {
                let known = strong.get(found.pattern().as_usize());
                if let Some((_, span)) = known.filter(|_| !text.covers(found.range())) {
                    repeated.push(SecretSpan {
                        start: found.start(),
                        end: found.end(),
                        ..*span
                    });
                }
            }
            if !repeated.is_empty() {
                is_any_new = true;
                text.is_settled = false;
                text.add(repeated.into_iter());
            }
        }
        is_any_new
    }

    fn finish(self) -> Scrubbed<'t> {
        let detector = self.detector;
        let mut numbering = Numbering::default();
        for text in &self.texts {
            numbering.reserve(text.text);
        }
        for text in &self.texts {
            for span in &text.spans {
                numbering.add(&detector.label(span.rule), text.secret(span));
            }
        }
        let masked = self.texts.iter().map(|text| {
            text.with(|span, secret| numbering.placeholder(&detector.label(span.rule), secret))
        });
        let mut texts: Vec<Cow<'t, str>> = masked.collect();
        let sources = texts.split_off(self.texts.len() / 2);
        let mut findings = Vec::new();
        for (text, source) in self.texts.iter().zip(&sources) {
            text.collect_findings(detector, source, &mut findings);
        }
        Scrubbed {
            texts,
            report: report(&findings),
            findings,
        }
    }
}

impl<'t> MaskedText<'t> {
    fn detect(&mut self, detector: &Detector) {
        if self.is_settled {
            return;
        }
        let masked = self.masked(detector);
        let spans = without_placeholders(detector.find(&masked), &masked);
        self.is_settled = spans.is_empty();
        let spans = self.in_original(spans, detector);
        self.add(spans.into_iter());
    }

    fn add(&mut self, spans: impl Iterator<Item = SecretSpan>) {
        let mut all = std::mem::take(&mut self.spans);
        all.extend(spans);
        self.spans = join(all);
    }

    fn secret(&self, span: &SecretSpan) -> &'t str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    fn covers(&self, range: std::ops::Range<usize>) -> bool {
        let next = self.spans.partition_point(|span| span.end < range.end);
        let span = self.spans.get(next);
        span.is_some_and(|span| span.start <= range.start && range.end <= span.end)
    }

    fn masked(&self, detector: &Detector) -> Cow<'t, str> {
        self.with(|span, _| placeholder(&detector.label(span.rule), None))
    }

    fn with(&self, replacement: impl Fn(&SecretSpan, &'t str) -> String) -> Cow<'t, str> {
        if self.spans.is_empty() {
            return Cow::Borrowed(self.text);
        }
        let mut masked = String::with_capacity(self.text.len());
        let mut copied = 0;
        for span in &self.spans {
            masked.push_str(self.text.get(copied..span.start).unwrap_or_default());
            masked.push_str(&replacement(span, self.secret(span)));
            copied = span.end;
        }
        masked.push_str(self.text.get(copied..).unwrap_or_default());
        Cow::Owned(masked)
    }

    /// Moves spans of the masked text, which are outside of all placeholders, to the original. They
    /// are in order.
    fn in_original(&self, found: Vec<SecretSpan>, detector: &Detector) -> Vec<SecretSpan> {
        let mut known = self.spans.iter().peekable();
        let (mut in_masked, mut in_text) = (0, 0);
        let moved = found.into_iter().map(|span| {
            while let Some(next) =
                known.next_if(|next| in_masked + next.start - in_text <= span.start)
            {
                steps::count(1);
                in_masked +=
                    next.start - in_text + placeholder(&detector.label(next.rule), None).len();
                in_text = next.end;
            }
            SecretSpan {
                start: span.start - in_masked + in_text,
                end: span.end - in_masked + in_text,
                ..span
            }
        });
        moved.collect()
    }

    fn collect_findings(&self, detector: &Detector, source: &str, findings: &mut Vec<Finding>) {
        let mut line = 1;
        let mut counted = 0;
        for span in &self.spans {
            let before = self.text.get(counted..span.start).unwrap_or_default();
            line += before.bytes().filter(|byte| *byte == b'\n').count();
            counted = span.start;
            let (rule, kind) = detector.rule_and_kind(span.rule);
            findings.push(Finding {
                rule: rule.to_owned(),
                kind: kind.to_owned(),
                source: source.to_owned(),
                line,
            });
        }
    }
}

impl Detector {
    fn rule_and_kind(&self, rule: RuleIndex) -> (&str, &str) {
        let rule = rule.and_then(|index| self.rules.get(index));
        rule.map_or(OWN_KEY, |rule| (&rule.rule().id, &rule.rule().kind))
    }

    fn label(&self, rule: RuleIndex) -> String {
        label(self.rule_and_kind(rule).1)
    }
}

fn without_placeholders(spans: Vec<SecretSpan>, text: &str) -> Vec<SecretSpan> {
    if spans.is_empty() {
        return spans;
    }
    let places = places(text);
    let touches = |span: &SecretSpan| {
        let next = places.partition_point(|(_, end)| *end <= span.start);
        places.get(next).is_some_and(|(start, _)| *start < span.end)
    };
    spans.into_iter().filter(|span| !touches(span)).collect()
}

fn report(findings: &[Finding]) -> ScrubbingReport {
    let mut report = ScrubbingReport {
        sensitive_data_scrubbed: true,
        ..ScrubbingReport::default()
    };
    for finding in findings {
        report.patterns_matched += 1;
        *report.by_type.entry(finding.kind.clone()).or_default() += 1;
        let source = report.by_source.entry(finding.source.clone()).or_default();
        *source.entry(finding.kind.clone()).or_default() += 1;
    }
    report.types_detected = report.by_type.keys().cloned().collect();
    report
}
