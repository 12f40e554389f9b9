//! The section that an answered question moves to.

use crate::domain::confidence::Confidence;

use super::document::{SectionKind, Tag};
use super::finding::FindingSource;

/// Returns the section of an answer to a question with these tags. High Confidence needs a known
/// confidence of at least `high_from` and no dissent from this answer. A blocker moves only there:
/// its answer is what work begins on. `None` if the question stays open: the answer is a proposal
/// for a person.
pub fn answer_section(
    source: &FindingSource,
    dissent: Option<&str>,
    tags: &[Tag],
    high_from: Confidence,
) -> Option<SectionKind> {
    let known = source.confidence.and_then(Confidence::new);
    let is_sure = known.is_some_and(|known| known.millionths() >= high_from.millionths());
    let is_disputed = dissent.is_some_and(|dissent| !dissent.trim().is_empty());
    if is_sure && !is_disputed {
        Some(SectionKind::High)
    } else if tags.contains(&Tag::Blocker) {
        None
    } else {
        Some(SectionKind::Medium)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ConsultationId;

    fn source(confidence: Option<f64>) -> FindingSource {
        FindingSource {
            consultation: ConsultationId::from_unique("one"),
            confidence,
            calibrated: false,
            dissent: Vec::new(),
            degradations: Vec::new(),
        }
    }

    fn placed(confidence: Option<f64>, dissent: Option<&str>, tags: &[Tag]) -> Option<SectionKind> {
        let high_from = Confidence::new(0.8).unwrap();
        answer_section(&source(confidence), dissent, tags, high_from)
    }

    #[test]
    fn a_confident_undisputed_answer_is_of_high_confidence() {
        assert_eq!(placed(Some(0.8), None, &[]), Some(SectionKind::High));
        assert_eq!(
            placed(Some(0.93), None, &[Tag::New]),
            Some(SectionKind::High)
        );
        assert_eq!(placed(Some(0.8), Some(" "), &[]), Some(SectionKind::High));
    }

    #[test]
    fn doubt_dissent_or_an_unknown_confidence_is_medium() {
        assert_eq!(placed(Some(0.799), None, &[]), Some(SectionKind::Medium));
        assert_eq!(placed(None, None, &[]), Some(SectionKind::Medium));
        assert_eq!(placed(Some(f64::NAN), None, &[]), Some(SectionKind::Medium));
        let disputed = placed(Some(0.99), Some("Rust differs"), &[]);
        assert_eq!(disputed, Some(SectionKind::Medium));
    }

    #[test]
    fn a_blocker_moves_only_to_high_confidence() {
        let blocker = [Tag::Blocker];
        assert_eq!(placed(Some(0.9), None, &blocker), Some(SectionKind::High));
        assert_eq!(placed(Some(0.5), None, &blocker), None);
        assert_eq!(placed(None, None, &blocker), None);
        let disputed = placed(Some(0.9), Some("no"), &blocker);
        assert_eq!(disputed, None);
    }
}
