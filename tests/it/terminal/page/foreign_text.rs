//! All foreign text of a page is shown as text.

use std::collections::BTreeMap;

use conclave::domain::answer::artifact::{
    Artifact, Because, Challenge, ConsensusPoint, Content, CrossExam, Dissent, Evidence,
    Independent, MenuOption, ProvisionalAnswer, Rebuttal, Revision, Severity, Synthesis, Tension,
    Verdict, Viewpoint,
};
use conclave::domain::answer::confidence::Confidence;
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::ids::SeatId;
use conclave::domain::record::stored_record::{
    Amount, StoredAgent, StoredModel, StoredRecord, StoredRound,
};
use conclave::domain::time::Timestamp;
use conclave::terminal::report::page;
use conclave::text::clean::clean;
use proptest::prelude::*;
use serde_json::json;

use crate::support::html::{ScannedPage, scan};

/// The seat of the expert whose answers are shown.
const SEAT: &str = "seat";

/// Returns an answer of each kind.
fn contents(next: &mut dyn FnMut() -> String) -> Vec<Content> {
    let stated = Confidence::new(0.5);
    let mut challenge = |severity| Challenge {
        challenger: next(),
        target_agent: next(),
        challenge: next(),
        evidence: vec![next(), next()],
        severity,
    };
    let challenges = vec![challenge(Severity::High), challenge(Severity::Low)];
    let independents = vec![
        Independent {
            agent_id: SeatId::new(SEAT),
            position: next(),
            key_points: vec![next(), next()],
            rationale: next(),
            confidence: stated,
            prose_excerpt: next(),
            findings: None,
        },
        Independent {
            agent_id: SeatId::new(next()),
            position: next(),
            ..Independent::default()
        },
    ];
    let synthesis = Synthesis {
        consensus_points: vec![ConsensusPoint {
            point: next(),
            supporting_agents: vec![next(), next()],
            confidence: stated,
        }],
        tensions: vec![Tension {
            topic: next(),
            viewpoints: vec![Viewpoint {
                agent: next(),
                viewpoint: next(),
            }],
            severity: Severity::Medium,
        }],
        priority_order: vec![next()],
        provisional_answer: Some(Box::new(ProvisionalAnswer {
            answer: next(),
            confidence: stated,
            would_change_it: next(),
        })),
        prose_excerpt: next(),
        findings: None,
    };
    let revision = Revision {
        revised_position: next(),
        revised_confidence: stated,
        changed: Some(true),
        because_of: vec![Because {
            agent: next(),
            argument: next(),
        }],
        ..Revision::unanswered(&SeatId::new(SEAT))
    };
    let cross_exam = CrossExam {
        challenges,
        rebuttals: vec![Rebuttal {
            agent: next(),
            rebuttal: next(),
        }],
        unresolved: vec![next()],
        positions: vec![],
        provisional_answer: Some(Box::new(ProvisionalAnswer {
            answer: next(),
            confidence: stated,
            would_change_it: next(),
        })),
        prose_excerpt: next(),
    };
    let verdict = Verdict {
        recommendations: vec![MenuOption {
            option: next(),
            description: next(),
            pros: vec![next(), next()],
            cons: vec![next()],
            best_when: next(),
            confidence: stated,
        }],
        recommendation: String::new(),
        confidence: None,
        evidence: vec![Evidence {
            claim: next(),
            agent: next(),
            quote: next(),
        }],
        dissent: vec![Dissent {
            agent: next(),
            concern: next(),
            severity: Severity::High,
        }],
        summary: String::new(),
        findings: None,
    };
    let independents = independents.into_iter().map(Content::Independent);
    let others = [
        Content::Synthesis(synthesis),
        Content::Revision(revision),
        Content::CrossExam(cross_exam),
        Content::Verdict(verdict),
    ];
    independents.chain(others).collect()
}

/// Returns a consultation with every kind of content, in which `say` returns the text for each
/// number.
pub(super) fn consultation(say: &dyn Fn(usize) -> String) -> StoredRecord {
    let mut at = 0;
    let mut next = || {
        at += 1;
        say(at)
    };
    let contents = contents(&mut next).into_iter();
    let failed = json!({
        "agent_id": "failed",
        "agent": next(),
        "served_model": next(),
        "tokens": { "total": 12_453 },
        "cost": Amount::from(Cost::at_least(MicroUsd(1))),
        "attempts": [{}],
        "error": { "message": next() },
    });
    let first = StoredRound {
        complete: false,
        artifacts: contents
            .map(|content| Artifact::stamp(content, Timestamp(0), false))
            .collect(),
        agents: vec![serde_json::from_value(failed).unwrap()],
        ..StoredRound::default()
    };
    let ninth = StoredRound {
        complete: true,
        ..StoredRound::default()
    };
    let agent = |id: SeatId, name, model: Option<String>| StoredAgent {
        id,
        name,
        persona: None,
        provider: Some("acme".to_owned()),
        model,
        demonstration: false,
    };
    let cost = json!({
        "micro_usd": 5,
        "lower_bound": true,
        "tokens": { "total": 7 },
        "by_provider": { next(): { "micro_usd": 0 } },
    });
    let prompts = json!({ "templates": { next(): { "version": next() } } });
    StoredRecord {
        schema_version: Some(next()),
        id: next(),
        at: Some(Timestamp(1_795_252_598_042)),
        question: next(),
        mode: Some(next()),
        state: Some(next()),
        status: Some("degraded".to_owned()),
        degradations: vec![next(), next()],
        agents: vec![
            agent(SeatId::new(SEAT), next(), Some(next())),
            agent(SeatId::new("failed"), next(), None),
        ],
        judge: Some(StoredModel {
            provider: "acme".to_owned(),
            model: next(),
        }),
        responses: BTreeMap::from([("round_1".to_owned(), first), ("round_9".to_owned(), ninth)]),
        recommendation: Some(next()),
        summary: Some(next()),
        confidence: Confidence::new(0.5),
        agreement: Some(1.0 / 3.0),
        concerns: vec![next()],
        cost: Some(serde_json::from_value(cost).unwrap()),
        early_termination: true,
        early_termination_reason: Some(next()),
        prompt_versions: serde_json::from_value(prompts).unwrap(),
        tool_version: Some(next()),
        ..StoredRecord::default()
    }
}

/// The same consultation after it was cut off.
fn aborted(record: StoredRecord, say: &dyn Fn(usize) -> String) -> StoredRecord {
    StoredRecord {
        state: Some("Aborted".to_owned()),
        status: None,
        aborted_during: Some(say(900)),
        abort_message: Some(say(901)),
        recommendation: None,
        partial_consensus: Some(say(902)),
        ..record
    }
}

pub(super) fn name(at: usize) -> String {
    format!("«{at}»")
}

/// Replaces each name in the text by its shown content.
fn filled(text: &str, say: &dyn Fn(usize) -> String) -> String {
    let mut parts = text.split('«');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |filled, part| {
        let (at, rest) = part.split_once('»').unwrap();
        filled + &clean(&say(at.parse().unwrap())) + rest
    })
}

/// Returns the tags and the visible text of a page, without the title, which is cut.
fn apart(page: &str) -> (Vec<String>, String) {
    let ScannedPage { mut tags, text, .. } = scan(page);
    // A long text has another class, which is not part of the structure.
    for tag in &mut tags {
        *tag = tag.replace("class=\"said long\"", "class=\"said\"");
    }
    (tags, text)
}

/// Proves that texts change nothing of a page but its text.
fn shows_as_text(say: &dyn Fn(usize) -> String) {
    let pairs = vec![
        (consultation(say), consultation(&name)),
        (
            aborted(consultation(say), say),
            aborted(consultation(&name), &name),
        ),
    ];
    for (hostile, plain) in pairs {
        let (tags, text) = apart(&page(&hostile));
        let (plain_tags, plain_text) = apart(&page(&plain));
        assert_eq!(tags, plain_tags);
        assert_eq!(text, filled(&plain_text, say));
    }
}

/// Proves that texts add nothing to a page but themselves, bold words and code.
fn adds_only_text_and_marks(say: &dyn Fn(usize) -> String) {
    let is_mark = |tag: &String| tag.contains("strong") || tag.contains("code");
    let unmarked = |text: &str| text.replace(['*', '`'], "").replace('•', "");
    let (mut tags, text) = apart(&page(&consultation(say)));
    let (mut plain_tags, plain_text) = apart(&page(&consultation(&name)));
    tags.retain(|tag| !is_mark(tag));
    plain_tags.retain(|tag| !is_mark(tag));
    assert_eq!(tags, plain_tags);
    // A bullet stands for `-` or `*`.
    let dashless = |text: &str| unmarked(text).replace('-', "");
    assert_eq!(dashless(&text), dashless(&filled(&plain_text, say)));
}

#[test]
fn foreign_text_is_shown_verbatim() {
    let attacks = [
        "<script>alert(1)</script>",
        "</style></title></main><script src='//x.example/a.js'></script>",
        "\" onmouseover=\"alert(1)\" x=\"",
        "' autofocus onfocus='alert(1)",
        "<img src=x onerror=alert(1)><svg/onload=alert(1)>",
        "--><!--<![CDATA[ ]]><?php ?>",
        "&lt;b&gt; &amp;amp; &#60;script&#62; &NotAnEntity; &",
        "<meta http-equiv=refresh content='0;url=//x.example'><base href=//x.example><link rel=stylesheet href=//x.example>",
        "a\u{0}b\u{1b}[31mc\u{7}d\u{9b}e\u{7f}f",
        "\u{202e}gnp.exe\u{202c}\u{2066}\u{2067}\u{2068}\u{2069}\u{202a}x",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} <b>\u{645}\u{631}\u{62d}\u{628}\u{627}</b>",
        "javascript:alert(1) data:text/html,<script>x</script> url(//x.example) @import '//x.example'",
        "{{ 7*7 }} ${7*7} <%= 7 %> {% raw %}",
        "\u{feff}\u{fffe}\u{10ffff}\u{e0001}x",
    ];
    for attack in attacks {
        shows_as_text(&|at| format!("{at} {attack} {at}"));
    }
}

#[test]
fn line_breaks_of_every_kind_stay_line_breaks() {
    shows_as_text(&|at| format!("{at} a\r\n  b\rc\n\n\td\u{2028}e\u{85}f"));
}

#[test]
fn very_long_answers_are_shown_whole() {
    let long = "<&>\"' \u{202e}".repeat(10_000);
    shows_as_text(&|at| {
        if at % 7 == 0 {
            format!("{at}{long}x")
        } else {
            name(at).replace(['«', '»'], "")
        }
    });
    let question = StoredRecord {
        question: "y".repeat(1 << 20),
        ..StoredRecord::default()
    };
    assert!(page(&question).contains(&question.question));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn text_never_changes_the_markup(
        texts in proptest::collection::vec(
            r#"(\PC|[\u{0}-\u{20}<>&"'=/!\-\u{202e}]|</|<!--|&#|&lt;|script|style){0,30}"#,
            1..8,
        ),
    ) {
        // The texts are not empty: an empty text has its own markup.
        let say = |at: usize| format!("{at}x{}x", texts[at % texts.len()]);
        adds_only_text_and_marks(&say);
        shows_as_text(&|at| say(at).replace(['*', '`', '-'], "_"));
    }

    #[test]
    fn marks_of_models_add_only_bold_words_and_code(
        texts in proptest::collection::vec(
            r"([*`_\-<>&\n\t #>\[\]()\\~|a-c1.]|\*\*|\n[*-] |```){0,40}",
            1..8,
        ),
    ) {
        adds_only_text_and_marks(&|at| format!("{at}x{}x", texts[at % texts.len()]));
    }
}
