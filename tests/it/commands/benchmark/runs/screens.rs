//! A run on a terminal: the question about its cost, its row, and its report.

use serde_json::json;

use super::{Bench, MODEL, ONE_BY_ONE, answer, case};
use crate::support::provider_server::{Hold, On};
use crate::support::pty::{Output, Terminal};

#[test]
fn row_and_report_fit_a_narrow_terminal() {
    let bench = Bench::of(6).wrong(&[2]);
    let hold = Hold::new();
    bench.on(4, answer("B").held_by(&hold));
    let conclave = Bench {
        conclave: bench.conclave.without("NO_COLOR"),
        ..bench
    };
    let arguments = [&ONE_BY_ONE[..], &["-v"]].concat();
    let terminal = Terminal::start(&conclave.conclave, 50, Output::Terminal, &arguments);
    terminal.wait_for_sight("benchmark 3/6");
    terminal.wait_for_sight("67% right");
    hold.release();
    let (output, transcript) = terminal.end();
    output.ends_with(0);
    let text = transcript.text();
    assert!(text.contains("q02: wrong, A instead of B"), "{text}");
    assert!(transcript.has_restored_modes());
    // Commands are there to be copied, and stay on one line.
    let mut too_wide = transcript.too_wide(50);
    too_wide.retain(|line| !line.contains("conclave "));
    assert_eq!(too_wide, Vec::<String>::new());
}

#[test]
fn person_is_asked_once_for_the_whole_run() {
    let bench = Bench::of(3);
    bench.server.on(On::any(), answer("B"));
    let arguments = [
        "benchmark",
        "suite.jsonl",
        "--rounds",
        "1",
        "--judge",
        MODEL,
    ];
    let bench = Bench {
        conclave: bench.conclave.variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "0"),
        ..bench
    };
    let mut terminal = Terminal::start(&bench.conclave, 80, Output::Terminal, &arguments);
    terminal.wait_for_sight("Go on?");
    terminal.type_in("n");
    let (output, _) = terminal.end();
    output.ends_with(3);
    assert_eq!(bench.server.requests().len(), 0);

    let mut terminal = Terminal::start(&bench.conclave, 80, Output::Terminal, &arguments);
    terminal.wait_for_sight("Go on?");
    terminal.type_in("y");
    let (output, transcript) = terminal.end();
    output.ends_with(0);
    assert_eq!(transcript.text().matches("Go on?").count(), 1);
    assert_eq!(bench.server.requests().len(), 9);
}

#[test]
fn dry_run_and_announcement_wrap_between_words() {
    let bench = Bench::of(1);
    let of = |id: &str, expected: serde_json::Value, matcher: serde_json::Value| json!({"id": id, "question": "Which?", "expected": expected, "match": matcher});
    bench.write(&[
        case(1),
        of("numeric", json!(4), json!("numeric")),
        of("exact", json!("Oslo"), json!("exact")),
        of("contains", json!("Oslo"), json!("contains")),
        of("regex", json!("O.*"), json!("regex")),
        of("all", json!(["O", "s"]), json!("all")),
        of("read", json!("One text"), json!("cer")),
        of("prose", json!("A reason"), json!("judge")),
    ]);
    let compared = "1 numeric, 1 choice, 1 exact, 1 contains, 1 regex, 1 all of several patterns, \
                    1 transcription, 1 judge";
    for columns in [80, 50] {
        for last in ["--dry-run", "--yes"] {
            let more = ["--grader", MODEL, "--max-attempts", "1", last];
            let arguments = [&ONE_BY_ONE[..6], &more].concat();
            let terminal = Terminal::start(&bench.conclave, columns, Output::Terminal, &arguments);
            let (_, transcript) = terminal.end();
            let text = transcript.text();
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.join(" ").contains(compared), "{text}");
            let mut too_wide = transcript.too_wide(columns.into());
            too_wide.retain(|line| !line.contains("conclave "));
            assert_eq!(too_wide, Vec::<String>::new(), "{columns} columns: {text}");
        }
    }
}
