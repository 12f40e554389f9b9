//! Experience from the index: only from enough calls, only of the requested models, and only from
//! complete answers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use conclave::consultation::plan::OutputTokens;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::domain::ids::ModelRef;
use conclave::records::index::Index;
use conclave::records::statistics::experience::Experience;
use rusqlite::params;

fn model() -> ModelRef {
    ModelRef::new("openai", "gpt-6.1-sol")
}

/// The columns of a call that experience reads.
#[derive(Clone)]
struct CallRow {
    answer: Option<&'static str>,
    purpose: &'static str,
    model: &'static str,
    stop: Option<&'static str>,
    output_tokens: u64,
    tokens_estimated: bool,
    first_token_ms: u64,
}

fn call(output_tokens: u64, first_token_ms: u64) -> CallRow {
    CallRow {
        answer: Some("independent"),
        purpose: "answer",
        model: "gpt-6.1-sol",
        stop: Some("end"),
        output_tokens,
        tokens_estimated: false,
        first_token_ms,
    }
}

/// Returns an index with these calls, oldest first.
fn index(calls: impl IntoIterator<Item = CallRow>) -> Index {
    let index = Index::in_memory().unwrap();
    index
        .connection
        .pragma_update(None, "foreign_keys", false)
        .unwrap();
    for (at, row) in calls.into_iter().enumerate() {
        let values = params![
            i64::try_from(at).unwrap(),
            row.answer,
            row.purpose,
            "openai",
            row.model,
            row.stop,
            row.output_tokens,
            row.tokens_estimated,
            row.first_token_ms
        ];
        let insert = "INSERT INTO calls (number, call, round_number, agent_id, failed, micro_usd, lower_bound, input_tokens,
            answer, purpose, provider, model, stop, output_tokens, tokens_estimated, first_token_ms)
            VALUES (?1, 1, 1, 'a', 0, 0, 0, 9, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        index.connection.execute(insert, values).unwrap();
    }
    index
}

fn read(calls: impl IntoIterator<Item = CallRow>) -> Experience {
    Experience::read(&index(calls).connection, &BTreeSet::from([&model()])).unwrap()
}

fn learnt(calls: impl IntoIterator<Item = CallRow>) -> Option<OutputTokens> {
    read(calls)
        .learnt_output()
        .remove(&model())
        .map(|by_answer| by_answer[&AnswerKind::Independent])
}

fn tokens(low: u64, expected: u64, high: u64) -> OutputTokens {
    OutputTokens {
        low,
        expected,
        high,
    }
}

#[test]
fn five_answers_predict_the_length_of_the_next() {
    for (lengths, expected) in [
        (vec![], None),
        (vec![100, 400, 200, 300], None),
        (
            vec![100, 400, 200, 300, 1_000],
            Some(tokens(100, 300, 1_000)),
        ),
        // Half as much again is possible.
        (vec![100, 400, 200, 300, 310], Some(tokens(100, 300, 450))),
    ] {
        let calls: Vec<_> = lengths.iter().map(|output| call(*output, 0)).collect();
        assert_eq!(learnt(calls), expected, "{lengths:?}");
    }
}

#[test]
fn only_complete_answers_with_reported_tokens_are_samples() {
    let changes: [fn(&mut CallRow); 9] = [
        |row| row.stop = Some("length"),
        |row| row.stop = Some("refused"),
        |row| row.stop = None,
        |row| row.purpose = "repair",
        |row| row.model = "other",
        |row| row.tokens_estimated = true,
        |row| row.answer = Some("a kind of a later version"),
        |row| row.answer = None,
        |row| row.output_tokens = 0,
    ];
    let odd = changes.map(|change| {
        let mut row = call(9, 1);
        change(&mut row);
        row
    });
    let calls = odd.into_iter().chain([70; 5].map(|output| call(output, 1)));
    let mut learnt = read(calls).learnt_output();
    assert_eq!(learnt.len(), 1);
    let expected = BTreeMap::from([(AnswerKind::Independent, tokens(70, 70, 105))]);
    assert_eq!(learnt.remove(&model()), Some(expected));
}

#[test]
fn only_the_newest_calls_count() {
    let calls = [9_000; 200].into_iter().chain(vec![50; 3_000]);
    let calls = calls.map(|output| call(output, 1));
    assert_eq!(learnt(calls), Some(tokens(50, 50, 75)));
}

#[test]
fn twenty_first_tokens_define_when_a_call_is_late() {
    let beginnings = |from: u64| read((from..=20).map(|at| call(1, at * 100))).hedge_delays();
    assert_eq!(beginnings(2), BTreeMap::new());
    let late = BTreeMap::from([(model(), Duration::from_millis(1_900))]);
    assert_eq!(beginnings(1), late);
}
