//! One finding at a time, and findings that meet.

use crate::refinement::change::ChangeKind;
use crate::refinement::document::{SectionKind, Tag};

use super::*;

fn moved(from: SectionKind, to: SectionKind) -> ChangeKind {
    ChangeKind::Moved { from, to }
}

fn up(to: SectionKind) -> ChangeKind {
    moved(SectionKind::Open, to)
}

/// Merges one finding into the document.
fn found(confidence: Option<f64>, finding: PanelFinding) -> Integration {
    merged(DOCUMENT, &[of("a", confidence, vec![finding])])
}

fn kinds(merge: &Integration) -> Vec<ChangeKind> {
    merge.changes.iter().map(|change| change.kind).collect()
}

fn items(text: &str, section: SectionKind) -> Vec<String> {
    let document = SpecDocument::parse(text).unwrap();
    let items = document.items(section).iter();
    items.map(|item| item.text.clone()).collect()
}

fn tags(text: &str, question: &str) -> Vec<Tag> {
    let document = SpecDocument::parse(text).unwrap();
    document.find(&key(question)).unwrap().tags.clone()
}

#[test]
fn a_confident_answer_moves_to_high_confidence() {
    let merge = found(Some(0.86), answered("Which database?", "Postgres"));
    let change = only(&merge);
    assert_eq!(change.kind, up(SectionKind::High));
    assert_eq!(change.number, 1);
    let before = "- [NEW] Which database?\n  - it must be open source\n";
    assert_eq!(change.before.as_deref(), Some(before));
    let after = "- Which database?\n  - it must be open source\n  - Answer: Postgres (86%, \
                 consult-a)\n";
    assert_eq!(change.after.as_deref(), Some(after));
    assert!(merge.text.contains(after), "{}", merge.text);
    assert_eq!(items(&merge.text, SectionKind::Open).len(), 2);
}

#[test]
fn a_disputed_answer_names_who_disagrees() {
    let disputed = PanelFinding::Answered {
        question: key("Which cache?"),
        answer: "none".to_owned(),
        dissent: Some("performance wants one".to_owned()),
    };
    let merge = found(Some(0.95), disputed);
    assert_eq!(only(&merge).kind, up(SectionKind::Medium));
    let note = "Answer: none (95%, consult-a; dissent: performance wants one)";
    assert!(merge.text.contains(note), "{}", merge.text);
}

#[test]
fn a_blocker_with_a_doubtful_answer_stays_with_the_proposal_in_the_log() {
    let merge = found(Some(0.7), answered("Who pays?", "the buyer"));
    assert_eq!(merge.text, DOCUMENT);
    let change = only(&merge);
    assert_eq!(change.kind, ChangeKind::Kept);
    assert_eq!(change.reason, "the buyer");
    assert_eq!(change.after, None);
    let merge = found(Some(0.9), answered("Who pays?", "the buyer"));
    assert_eq!(only(&merge).kind, up(SectionKind::High));
}

#[test]
fn a_contradicted_claim_moves_down_one_section() {
    let [high, medium, open] = SectionKind::ALL;
    for (claim, from, to) in [
        ("Orders are kept for a year", high, medium),
        ("One region is enough", medium, open),
    ] {
        let merge = found(None, contradicted(claim, "the law says ten"));
        assert_eq!(only(&merge).kind, moved(from, to));
        assert!(items(&merge.text, to).contains(&claim.to_owned()));
        let note = "Contradicted: the law says ten (consult-a)";
        assert!(merge.text.contains(note), "{}", merge.text);
    }
}

#[test]
fn two_contradictions_of_one_claim_move_it_once() {
    let claim = "Orders are kept for a year";
    let first = of("a", None, vec![contradicted(claim, "one reason")]);
    let second = of("b", None, vec![contradicted(claim, "another reason")]);
    let merge = merged(DOCUMENT, &[first, second]);
    let down = moved(SectionKind::High, SectionKind::Medium);
    assert_eq!(kinds(&merge), [down, ChangeKind::Kept]);
    assert_eq!(merge.changes[1].reason, "another reason");
}

#[test]
fn an_answer_stands_against_a_contradiction_of_the_same_merge() {
    let question = "Which cache?";
    let answer = of("a", Some(0.9), vec![answered(question, "none")]);
    let contradiction = of("b", Some(0.9), vec![contradicted(question, "wrong")]);
    let merge = merged(DOCUMENT, &[contradiction, answer]);
    assert_eq!(kinds(&merge), [up(SectionKind::High), ChangeKind::Kept]);
}

#[test]
fn a_deferred_question_gets_its_tag_and_the_reason() {
    let merge = found(None, deferred("Which database?", "a contract"));
    assert_eq!(only(&merge).kind, ChangeKind::Deferred);
    assert_eq!(tags(&merge.text, "Which database?"), [Tag::Deferred]);
    let note = "Deferred: a contract (consult-a)";
    assert!(merge.text.contains(note), "{}", merge.text);
    let after = only(&merge).after.clone().unwrap();
    assert!(merge.text.contains(&after), "{after}");
}

#[test]
fn a_question_that_stays_is_no_longer_new() {
    let mut unread = of("a", None, Vec::new());
    unread.unread.push(key("Which database?"));
    let open = of("a", None, vec![still_open("Which database?", "no data")]);
    for findings in [open, unread] {
        let merge = merged(DOCUMENT, &[findings]);
        assert_eq!(only(&merge).kind, ChangeKind::Kept);
        assert_eq!(merge.text, DOCUMENT.replace("[NEW] ", ""));
        assert!(only(&merge).after.is_some());
    }
}

#[test]
fn an_answer_and_a_deferral_leave_the_question_open() {
    let answer = of("a", Some(0.9), vec![answered("Which cache?", "none")]);
    let deferral = of("b", Some(0.9), vec![deferred("Which cache?", "taste")]);
    let merge = merged(DOCUMENT, &[answer, deferral]);
    assert_eq!(merge.text, DOCUMENT);
    assert_eq!(only(&merge).kind, ChangeKind::Kept);
    assert!(only(&merge).reason.contains("taste"));
}

#[test]
fn the_more_confident_of_two_answers_is_used() {
    let low = of("a", Some(0.6), vec![answered("Which cache?", "none")]);
    let high = of("b", Some(0.9), vec![answered("Which cache?", "Redis")]);
    let unknown = of("c", None, vec![answered("Which cache?", "disk")]);
    let merge = merged(DOCUMENT, &[low, high, unknown]);
    assert_eq!(only(&merge).reason, "Redis");
}

#[test]
fn a_finding_about_a_missing_item_is_dropped() {
    for finding in [
        answered("Which queue?", "none"),
        still_open("Which queue?", "no data"),
        deferred("Which queue?", "taste"),
        contradicted("Two regions are enough", "no"),
        // A person has moved it up.
        answered("One region is enough", "yes"),
    ] {
        let merge = found(Some(0.9), finding);
        assert_eq!(merge.text, DOCUMENT);
        assert_eq!(only(&merge).kind, ChangeKind::Dropped);
    }
}

#[test]
fn new_questions_are_added_once_and_only_if_they_are_new() {
    let first = vec![
        new("Which queue?"),
        new("which CACHE"),
        new("One region is enough!"),
        new("Which cloud?"),
        new("…"),
    ];
    let second = vec![PanelFinding::NewQuestion {
        text: "Which queue".to_owned(),
        blocker: true,
    }];
    let known = [key("Which cloud?")].into();
    let findings = [of("a", None, first), of("b", None, second)];
    let merge = merged_with(DOCUMENT, &findings, &known);
    let to = SectionKind::Open;
    assert_eq!(only(&merge).kind, ChangeKind::Added { to });
    assert_eq!(tags(&merge.text, "Which queue?"), [Tag::New, Tag::Blocker]);
    let after = only(&merge).after.clone().unwrap();
    assert_eq!(after, "- [NEW] [BLOCKER] Which queue?\n");
}

#[test]
fn a_consultation_adds_five_questions_at_most() {
    let many = |from: u8| {
        (from..from + 7)
            .map(|n| new(&format!("New {n}?")))
            .collect()
    };
    let merge = merged(DOCUMENT, &[of("a", None, many(0)), of("b", None, many(10))]);
    assert_eq!(merge.changes.len(), 10);
}

#[test]
fn questions_of_the_same_words_are_one() {
    let twice = DOCUMENT.replace(
        "- Which cache?",
        "- Which cache?\n  - of ours\n- which CACHE",
    );
    let findings = of("a", Some(0.9), vec![answered("Which cache?", "none")]);
    let merge = merged(&twice, &[findings]);
    let afters = merge.changes.iter().filter_map(|c| c.after.as_deref());
    let note = "  - Answer: none (90%, consult-a)\n";
    let expected = [
        format!("- Which cache?\n  - of ours\n{note}"),
        format!("- which CACHE\n{note}"),
    ];
    assert_eq!(afters.collect::<Vec<_>>(), expected);
}

#[test]
fn the_order_of_consultations_means_nothing() {
    let pair = |id, confidence, one, new_question| of(id, confidence, vec![one, new(new_question)]);
    let claim = contradicted("One region is enough", "no");
    let findings = [
        pair(
            "z",
            Some(0.9),
            answered("Which database?", "Postgres"),
            "One?",
        ),
        pair("a", Some(0.9), answered("Which cache?", "none"), "Two?"),
        pair("m", None, claim, "one"),
    ];
    let expected = merged(DOCUMENT, &findings);
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let other = order.map(|at: usize| findings[at].clone());
        assert_eq!(merged(DOCUMENT, &other), expected);
    }
}

#[test]
fn changes_are_numbered_on() {
    let document = SpecDocument::parse(DOCUMENT).unwrap();
    let findings = of("a", None, vec![new("One?"), new("Two?")]);
    let merge = integrate(&document, &[findings], 7, high(), BTreeSet::new()).unwrap();
    let numbers: Vec<u64> = merge.changes.iter().map(|change| change.number).collect();
    assert_eq!(numbers, [7, 8]);
}

/// A contradiction and a deferral with reasons of a model.
fn noted(contradiction: &str, deferral: &str) -> [BatchFindings; 1] {
    let claim = contradicted("Orders are kept for a year", contradiction);
    [of(
        "a",
        None,
        vec![claim, deferred("Which cache?", deferral)],
    )]
}

#[track_caller]
fn assert_nothing_changes(text: &str, findings: &[BatchFindings]) {
    let again = merged(text, findings);
    assert_eq!(again.text, text);
    let is_kept = |change: &ItemChange| change.kind == ChangeKind::Kept;
    assert!(again.changes.iter().all(is_kept), "{:#?}", again.changes);
}

#[test]
fn a_merge_that_is_in_the_document_is_not_applied_again() {
    for (contradiction, deferral) in [
        ("the law says ten", "taste"),
        (
            "`law_1` says *ten* (or so)",
            "see [1], <b>, |a| and C:\\x\\",
        ),
        ("1. - # ```[NEW]", "- [ ] [x]: y [DEFERRED]"),
    ] {
        let findings = noted(contradiction, deferral);
        let once = merged(DOCUMENT, &findings).text;
        assert_ne!(once, DOCUMENT);
        assert_nothing_changes(&once, &findings);
    }
}

#[test]
fn notes_of_another_consultation_or_a_person_are_no_notes_of_this_one() {
    for note in [
        "Deferred: taste (consult-ab)",
        "Deferred: taste",
        "see: Deferred: x (consult-a)",
        "Deferred: taste (consult-a), says Ann",
    ] {
        let document = DOCUMENT.replace("cache?\n", &format!("cache?\n  - {note}\n"));
        let merge = merged(
            &document,
            &[of("a", None, vec![deferred("Which cache?", "taste")])],
        );
        assert_eq!(only(&merge).kind, ChangeKind::Deferred, "{note}");
    }
}

#[test]
fn an_answer_does_not_settle_the_words_of_a_contradicted_claim() {
    let claim = "One region is enough";
    let contradiction = of("a", Some(0.9), vec![contradicted(claim, "users are far")]);
    let open = merged(DOCUMENT, &[contradiction]).text;
    let new_form = "Contradicted: users are far (consult-a)";
    let answer = [of("b", Some(0.9), vec![answered(claim, "two are needed")])];
    for (note, section) in [
        (new_form, SectionKind::Medium),
        (
            "Contradicted: users are\n    far (consult-a)",
            SectionKind::Medium,
        ),
        ("Contradicted: (consult-a)", SectionKind::Medium),
        ("Contradicted: by my colleague (Ann)", SectionKind::High),
        ("Contradicted: see (consult-a) of Ann", SectionKind::High),
        ("Contradicted: ask (consult-a, Ann)", SectionKind::High),
        ("Contradicted: (consult-)", SectionKind::High),
    ] {
        let merge = merged(&open.replace(new_form, note), &answer);
        assert_eq!(only(&merge).kind, up(section), "{note}");
    }
}

#[test]
fn a_finding_about_a_masked_question_changes_the_unmasked_document() {
    let mask = TextMask::new(|texts| {
        for text in texts {
            *text = text.replace("hunter2", "[MASK]");
        }
    });
    let text = DOCUMENT.replace("Who pays?", "Who knows hunter2?");
    let document = SpecDocument::parse_masked(&text, mask).unwrap();
    let findings = [of(
        "a",
        Some(0.9),
        vec![answered("Who knows [MASK]?", "No one")],
    )];
    let merge = integrate(&document, &findings, 1, high(), BTreeSet::new()).unwrap();
    let after = "- Who knows hunter2?\n  - Answer: No one (90%, consult-a)\n";
    assert!(merge.text.contains(after), "{}", merge.text);
    let mut change = only(&merge).clone();
    assert_eq!(change.item, key("Who knows [MASK]?"));
    document.mask(change.before.iter_mut().collect());
    let before = "- [BLOCKER] Who knows [MASK]?\n";
    assert_eq!(change.before.as_deref(), Some(before));
    let plain = SpecDocument::parse(&text).unwrap();
    let expected = plain.fingerprint();
    assert_eq!(document.fingerprint(), expected, "it needs no mask");
}

#[test]
fn merge_takes_steps_by_the_number_of_questions() {
    let work = |questions: usize| {
        let all = || (0..questions).map(|number| format!("Question {number}?"));
        let items: Vec<String> = all().map(|question| format!("- {question}\n")).collect();
        let items = items.concat();
        let findings = all().map(|question| answered(&question, "Yes")).collect();
        let text = format!("## Open Questions\n\n{items}");
        let merge = merged(&text, &[of("a", Some(0.9), findings)]);
        assert_eq!(merge.changes.len(), questions);
    };
    steps::assert_linear(work, 50, "questions");
}
