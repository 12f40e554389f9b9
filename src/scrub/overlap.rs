//! Overlapping spans become one, named by the more specific rule.

use std::cmp::Reverse;

/// A secret in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) rule: RuleIndex,
    pub(super) specificity: Specificity,
    /// Whether the value is a secret wherever it stands.
    pub(super) is_certain: bool,
}

/// The position of a rule among all rules; `None` for a key that this program holds.
pub(super) type RuleIndex = Option<usize>;

/// How much a match says about what it is. The later, the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Specificity {
    /// The name of a variable.
    Name,
    /// What stands around the value, such as a header or an address.
    Context,
    /// A value that is one of this program's keys, whichever vendor's.
    OwnKey,
    /// The form of the value itself.
    Form,
}

/// Joins overlapping spans, so that nothing of either secret remains, and sorts them.
pub(super) fn join(mut spans: Vec<SecretSpan>) -> Vec<SecretSpan> {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut joined: Vec<SecretSpan> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start < last.end => {
                if rank(&span) > rank(last) {
                    last.rule = span.rule;
                    last.specificity = span.specificity;
                }
                last.end = last.end.max(span.end);
                last.is_certain &= span.is_certain;
            }
            _ => joined.push(span),
        }
    }
    joined
}

/// Among equals, the longer span says more, then the earlier rule.
fn rank(span: &SecretSpan) -> (Specificity, usize, Reverse<RuleIndex>) {
    let length = span.end - span.start;
    (span.specificity, length, Reverse(span.rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize, specificity: Specificity) -> SecretSpan {
        SecretSpan {
            start,
            end,
            rule: Some(start),
            specificity,
            is_certain: false,
        }
    }

    #[test]
    fn overlapping_spans_join_under_the_more_specific_rule() {
        let spans = vec![
            span(5, 9, Specificity::Form),
            span(0, 8, Specificity::Name),
            span(9, 12, Specificity::Name),
        ];
        let joined = join(spans);
        assert_eq!(
            joined,
            [
                SecretSpan {
                    start: 0,
                    end: 9,
                    rule: Some(5),
                    specificity: Specificity::Form,
                    is_certain: false,
                },
                span(9, 12, Specificity::Name),
            ]
        );
    }
}
