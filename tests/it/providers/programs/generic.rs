//! Any program: a text, one JSON value, or one on each line.

use conclave::consultation::protocol::call::{FailureClass, StopReason};
use conclave::domain::cost::tokens::UsageSource;
use conclave::domain::model::program::{AnswerPaths, AnswerReader, Program};
use conclave::providers::programs::reading::ProgramEnd;

use super::{CLEAN, FAILED, Read, own, read};

fn paths() -> AnswerPaths {
    AnswerPaths {
        answer: "/result/text".to_owned(),
        error: Some("/error".to_owned()),
        input_tokens: Some("/usage/in".to_owned()),
        output_tokens: Some("/usage/out".to_owned()),
    }
}

fn output(reader: AnswerReader, text: &str, end: ProgramEnd, stderr: &str) -> Read {
    let paths = match reader {
        AnswerReader::Text => AnswerPaths::default(),
        _ => paths(),
    };
    output_at(paths, reader, text, end, stderr)
}

fn output_at(
    paths: AnswerPaths,
    reader: AnswerReader,
    text: &str,
    end: ProgramEnd,
    stderr: &str,
) -> Read {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let program = Program {
        paths,
        ..own(reader)
    };
    read(&program, &lines, end, stderr)
}

#[test]
fn a_text_is_the_answer_without_colours_and_edges() {
    let read = output(
        AnswerReader::Text,
        "\n \u{1b}[1mTwo\u{1b}[0m\nlines\n\n",
        CLEAN,
        "a warning",
    );
    assert_eq!(read.heard, "\n Two\nlines\n\n");
    let reply = read.reply();
    assert_eq!(
        (reply.text.as_str(), reply.stop),
        ("Two\nlines", StopReason::End)
    );
    assert_eq!(reply.usage.source, UsageSource::Estimated);
    assert_eq!(reply.plan, None);
    let failure = output(AnswerReader::Text, " \n", CLEAN, "").failure();
    assert_eq!(failure.class, FailureClass::Empty);
}

#[test]
fn a_program_that_fails_says_why_in_its_last_lines() {
    use FailureClass::{Auth, Overload, Quota, RateLimit, Transport};
    let cases = [
        (
            "",
            "1\n2\n3\n\n4\n",
            Transport,
            "mine gave no answer (exit code 1): 2 3 4",
        ),
        (
            "half an answer",
            "",
            Transport,
            "mine gave no answer (exit code 1): half an answer",
        ),
        ("", "", Transport, "mine gave no answer (exit code 1)"),
        (
            "",
            "Error: No authentication information found.",
            Auth,
            "mine gave no answer (exit code 1): Error: No authentication information found.",
        ),
        (
            "",
            "HTTP 401 from the server",
            Auth,
            "mine gave no answer (exit code 1): HTTP 401 from the server",
        ),
        (
            "",
            "Quota exceeded, try again in 2 hours",
            Quota,
            "mine gave no answer (exit code 1): Quota exceeded, try again in 2 hours",
        ),
        (
            "",
            "Error: 429 Too Many Requests",
            RateLimit,
            "mine gave no answer (exit code 1): Error: 429 Too Many Requests",
        ),
        (
            "",
            "the model is overloaded",
            Overload,
            "mine gave no answer (exit code 1): the model is overloaded",
        ),
    ];
    for (text, stderr, class, message) in cases {
        let failure = output(AnswerReader::Text, text, FAILED, stderr).failure();
        assert_eq!((failure.class, failure.message.as_str()), (class, message));
        let wait = failure.retry_after.map(|wait| wait.as_secs());
        assert_eq!(wait, (class == Quota).then_some(7200));
    }
}

#[test]
fn one_json_value_has_the_answer_wherever_it_stands() {
    let value = r#"{"result": {"text": " yes "}, "error": null, "usage": {"in": 3, "out": 2}}"#;
    let spread = value.replace(", ", ",\n  ");
    let texts = [
        value.to_owned(),
        spread.clone(),
        format!("Welcome to mine {{1.0}}!\n\u{1b}[2m{value}\u{1b}[0m\n"),
        format!("```json\n{spread}\n```\n"),
        format!("{value}\nDone.\n"),
    ];
    for text in texts {
        let reply = output(AnswerReader::Json, &text, CLEAN, "").reply();
        assert_eq!(reply.text, "yes", "{text}");
        let usage = reply.usage;
        assert_eq!(
            (usage.input, usage.output, usage.source),
            (3, 2, UsageSource::Reported)
        );
    }
}

#[test]
fn an_answer_that_is_no_text_is_json() {
    let value = r#"{"result": {"text": {"position": "p"}}}"#;
    let reply = output(AnswerReader::Json, value, CLEAN, "").reply();
    assert_eq!(reply.text, r#"{"position":"p"}"#);
    let whole = AnswerPaths::default();
    let reply = output_at(whole, AnswerReader::Json, value, CLEAN, "").reply();
    assert_eq!(reply.text, r#"{"result":{"text":{"position":"p"}}}"#);
}

#[test]
fn an_error_in_the_output_outweighs_the_exit_code_and_the_answer() {
    use FailureClass::{Malformed, Quota, Transport};
    let cases = [
        (
            r#"{"error": "usage limit reached", "result": {"text": "x"}}"#,
            CLEAN,
            Quota,
            "usage limit reached",
        ),
        (
            r#"{"error": {"message": "hit your daily limit"}}"#,
            CLEAN,
            Quota,
            "hit your daily limit",
        ),
        (r#"{"error": "odd"}"#, FAILED, Transport, "odd"),
        (r#"{"error": true}"#, CLEAN, Transport, "true"),
        (
            r#"{"error": false}"#,
            CLEAN,
            Malformed,
            "mine gave no answer (exit code 0)",
        ),
        (
            r#"{"result": {"text": "x"}}"#,
            FAILED,
            Transport,
            "mine gave no answer (exit code 1)",
        ),
        (
            "no JSON",
            CLEAN,
            Transport,
            "mine gave no answer (exit code 0): no JSON",
        ),
    ];
    for (text, end, class, message) in cases {
        for reader in [AnswerReader::Json, AnswerReader::JsonLines] {
            let failure = output(reader, text, end, "").failure();
            assert_eq!((failure.class, failure.message.as_str()), (class, message));
        }
    }
}

#[test]
fn of_many_lines_the_last_that_has_a_path_counts() {
    let lines = r#"{"type": "start", "usage": {"in": 1}}
a banner
{"result": {"text": "one"}}
{"result": {"text": "two"}, "usage": {"out": 7}}
{"type": "end", "result": null}"#;
    let reply = output(AnswerReader::JsonLines, lines, CLEAN, "").reply();
    assert_eq!(reply.text, "two");
    assert_eq!((reply.usage.input, reply.usage.output), (1, 7));
    assert_eq!(reply.usage.source, UsageSource::Reported);
    // A count of the output alone says too little.
    let line = r#"{"result": {"text": "one"}, "usage": {"out": 7}}"#;
    let reply = output(AnswerReader::JsonLines, line, CLEAN, "").reply();
    assert_eq!(reply.usage.source, UsageSource::Estimated);
}
