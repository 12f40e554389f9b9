//! Messages by the signal in them.

use super::read;
use crate::agent_loop::text::Message;
use crate::stopping::exit_check::evidence::StatedState::{self, Blocked, Done, NotDone};

fn state(message: &str, promise: Option<&str>) -> Option<StatedState> {
    read(&Message::read(message, None), promise)
        .signal
        .map(|signal| signal.state)
}

fn check(cases: &[(&str, Option<StatedState>)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(message, expected)| state(message, None) != *expected)
        .map(|(message, expected)| {
            format!("{expected:?}: {message:?} is {:?}", state(message, None))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const IN_PROGRESS: &str = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nTASKS_COMPLETED_THIS_LOOP: 1\n\
    EXIT_SIGNAL: false\nRECOMMENDATION: Continue with the lexer\n---END_RALPH_STATUS---";
const COMPLETE: &str = "---RALPH_STATUS---\nSTATUS: COMPLETE\nTESTS_STATUS: PASSING\n\
    EXIT_SIGNAL: true\nRECOMMENDATION: All requirements met\n---END_RALPH_STATUS---";

#[test]
fn status_blocks_are_read() {
    let fenced = |block: &str| format!("Text.\n\n```\n{block}\n```");
    check(&[
        (IN_PROGRESS, Some(NotDone)),
        (COMPLETE, Some(Done)),
        (&format!("All done.\n\n{COMPLETE}"), Some(Done)),
        (
            &format!("{IN_PROGRESS}\n\nMore work.\n\n{COMPLETE}"),
            Some(Done),
        ),
        (
            &format!("{COMPLETE}\n\nMore work.\n\n{IN_PROGRESS}"),
            Some(NotDone),
        ),
        (
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---",
            Some(NotDone),
        ),
        (
            "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---",
            Some(NotDone),
        ),
        (
            "---RALPH_STATUS---\nSTATUS: BLOCKED\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---",
            Some(Blocked),
        ),
        (
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nTESTS_STATUS: FAILING\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---",
            Some(NotDone),
        ),
        (
            "---RALPH_STATUS---\nSTATUS: COMPLETE\n---END_RALPH_STATUS---",
            Some(Done),
        ),
        (
            "---LOOP_STATUS---\nSTATUS: COMPLETE\n---END_LOOP_STATUS---",
            Some(Done),
        ),
        (
            "--- STATUS ---\n**STATUS:** complete ✅\n--- END STATUS ---",
            Some(Done),
        ),
        (
            "---RALPH_STATUS---\r\nSTATUS: COMPLETE\r\nEXIT_SIGNAL: true\r\n---END_RALPH_STATUS---\r\n",
            Some(Done),
        ),
        (
            "---RALPH_STATUS---\nEXIT_SIGNAL: false  # Set to true when ready\n---END_RALPH_STATUS---",
            Some(NotDone),
        ),
        // Cut off.
        ("---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_COMP", None),
        (
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true",
            Some(Done),
        ),
        ("---RALPH_STATUS---\nSTATUS: IN_PROGRESS\n", Some(NotDone)),
        // Fenced: an agent's own is the last block.
        (&fenced(COMPLETE), Some(Done)),
        (&fenced(IN_PROGRESS), Some(NotDone)),
        (&format!("{}\n\nNow I begin.", fenced(COMPLETE)), None),
        (
            &format!("When everything is done I will print:\n\n```\n{COMPLETE}\n```"),
            None,
        ),
        (
            &format!("The expected format:\n\n```\n{COMPLETE}\n```"),
            None,
        ),
        (
            &fenced(
                "---RALPH_STATUS---\nSTATUS: IN_PROGRESS | COMPLETE | BLOCKED\nEXIT_SIGNAL: false | true\n---END_RALPH_STATUS---",
            ),
            None,
        ),
        (
            &fenced(
                "---RALPH_STATUS---\nSTATUS: <status>\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---",
            ),
            None,
        ),
        (&format!("> {}", COMPLETE.replace('\n', "\n> ")), None),
        (
            "<!--\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n-->",
            None,
        ),
    ]);
}

#[test]
fn lines_of_their_own_are_read() {
    check(&[
        ("EXIT_SIGNAL: true", Some(Done)),
        ("EXIT_SIGNAL=false", Some(NotDone)),
        ("**EXIT_SIGNAL:** true", Some(Done)),
        ("- EXIT_SIGNAL: `true`", Some(Done)),
        ("exit_signal: TRUE", Some(Done)),
        ("All done.\n\n`EXIT_SIGNAL: true`", Some(Done)),
        ("STATUS: COMPLETE\nEXIT_SIGNAL: false", Some(NotDone)),
        ("EXIT_SIGNAL: false\n\nSTATUS: COMPLETE", Some(NotDone)),
        ("**Status:** Done", Some(Done)),
        ("**Status**: Complete ✅", Some(Done)),
        ("Status: In progress", Some(NotDone)),
        ("Status: Blocked", Some(Blocked)),
        ("Status: waiting for user input", Some(Blocked)),
        ("## Status: COMPLETE", Some(Done)),
        ("Status: 80% complete", Some(NotDone)),
        ("STATUS: COMPLETE (3/16 tasks)", Some(NotDone)),
        ("Statut : terminé", Some(Done)),
        ("状态：已完成", Some(Done)),
        ("LOOP_COMPLETE", Some(Done)),
        ("Everything is committed.\n\n**LOOP_COMPLETE**", Some(Done)),
        // Not signals.
        ("", None),
        ("Status: green", None),
        ("## Status: complete?", None),
        ("Status: Done with phase 1 of 3", None),
        ("The status: done flag is set.", None),
        ("I set EXIT_SIGNAL: true in the template.", None),
        ("EXIT_SIGNAL: true | false", None),
        ("EXIT_SIGNAL: <true or false>", None),
        ("`EXIT_SIGNAL: true` goes into the block.", None),
        ("## Task 1: Parser\n**Status:** Done", None),
        (
            "## Task 2\n**Status:** In progress\n## Task 1\n**Status:** Done",
            Some(NotDone),
        ),
        ("| Status: Done |\n|---|\n| Status: Done |", None),
        ("When finished, print:\nLOOP_COMPLETE", None),
        ("Do not output LOOP_COMPLETE.", None),
        ("The word is LOOP_COMPLETE", None),
    ]);
}

#[test]
fn tags_are_read_where_they_are_made() {
    check(&[
        ("<promise>DONE</promise>", Some(Done)),
        (
            "All tasks are complete.\n\n<promise>COMPLETE</promise>",
            Some(Done),
        ),
        (
            "All tasks are complete. <promise>done</promise>",
            Some(Done),
        ),
        (
            "All tasks are complete: <promise>DONE</promise>",
            Some(Done),
        ),
        ("<promise>\n  TASK_COMPLETE\n</promise>", Some(Done)),
        ("<PROMISE>LOOP COMPLETE</PROMISE>", Some(Done)),
        ("```\n<promise>DONE</promise>\n```", Some(Done)),
        ("Done.\n\n`<promise>DONE</promise>`", Some(Done)),
        ("<status>done</status>", Some(Done)),
        ("<status>in_progress</status>", Some(NotDone)),
        ("<status>blocked</status>", Some(Blocked)),
        ("<exit>true</exit>", Some(Done)),
        ("<exit_signal>false</exit_signal>", Some(NotDone)),
        (
            "<event topic=\"LOOP_COMPLETE\">all done</event>",
            Some(Done),
        ),
        ("<event topic=\"loop.complete\"></event>", Some(Done)),
        (
            "<event topic=\"build.blocked\">missing key</event>",
            Some(NotDone),
        ),
        (
            "<promise>DONE</promise>\n\n<promise>DONE</promise>",
            Some(Done),
        ),
        // Not signals.
        (
            "I will output <promise>DONE</promise> when all tests pass.",
            None,
        ),
        (
            "I will output `<promise>DONE</promise>` when all tests pass.",
            None,
        ),
        (
            "I will output\n<promise>DONE</promise>\nwhen all tests pass.",
            None,
        ),
        (
            "When all tests pass, output:\n\n<promise>DONE</promise>",
            None,
        ),
        ("I cannot output <promise>DONE</promise> yet.", None),
        ("The tag is \"<promise>DONE</promise>\".", None),
        ("> <promise>DONE</promise>", None),
        ("<!-- <promise>DONE</promise> -->", None),
        ("```\n<promise>DONE</promise>\n```\n\nNow I begin.", None),
        ("```python\nprint(\"<promise>DONE</promise>\")\n```", None),
        ("```\n<promise>DONE</promise>\n", None),
        ("```\necho \"<promise>DONE</promise>\"\n```", None),
        ("The output:\n\n    <promise>DONE</promise>", None),
        ("<promise></promise>", None),
        ("<promise>TEXT</promise>", None),
        ("<promise>NOT DONE</promise>", None),
        ("<promise>DONE", None),
        ("DONE</promise>", None),
        ("no tag at all", None),
        ("<event topic=\"task.complete\">LOOP_COMPLETE</event>", None),
        (
            "<event topic=\"build.done\"><promise>DONE</promise></event>",
            None,
        ),
        ("<status>ok</status>", None),
        ("<a href=\"x\"> <b", None),
    ]);
}

#[test]
fn a_given_promise_is_the_only_one() {
    let promise = Some("ALL_GREEN");
    assert_eq!(state("<promise>ALL_GREEN</promise>", promise), Some(Done));
    assert_eq!(state("<promise> all green </promise>", promise), Some(Done));
    assert_eq!(state("ALL_GREEN", promise), Some(Done));
    assert_eq!(state("<promise>DONE</promise>", promise), None);
    assert_eq!(state("LOOP_COMPLETE", promise), None);
    assert_eq!(state("<promise></promise>", Some("")), None);
    assert_eq!(state("<promise>DONE</promise>", Some("")), None);
    // A status block is no promise.
    assert_eq!(state("EXIT_SIGNAL: true", promise), Some(Done));
}

#[test]
fn json_is_read_as_a_line_or_as_the_last_block() {
    check(&[
        ("{\"exit_signal\": true}", Some(Done)),
        (
            "Text.\n{\"status\": \"in_progress\", \"exit_signal\": false}",
            Some(NotDone),
        ),
        (
            "{\"status\": \"COMPLETE\", \"exit_signal\": false}",
            Some(NotDone),
        ),
        (
            "{\n  \"status\": \"COMPLETE\",\n  \"exit_signal\": true\n}",
            Some(Done),
        ),
        (
            "Text.\n\n```json\n{\n  \"exit_signal\": true,\n  \"confidence\": 0.9\n}\n```",
            Some(Done),
        ),
        (
            "{\"RALPH_STATUS\": {\"STATUS\": \"BLOCKED\"}}",
            Some(Blocked),
        ),
        ("```json\n{\"exit_signal\": true}\n```\n\nText.", None),
        ("{\"status\": \"ok\"}", None),
        ("{\"exit_signal\": \"true | false\"}", None),
        ("{\"a\": 1}", None),
        ("{broken", None),
    ]);
}

#[test]
fn source_is_what_decides() {
    let signal = read(&Message::read(IN_PROGRESS, None), None)
        .signal
        .unwrap();
    assert_eq!(signal.source, "STATUS: IN_PROGRESS");
    let signal = read(&Message::read("x\n\n<promise>DONE</promise>", None), None)
        .signal
        .unwrap();
    assert_eq!(signal.source, "<promise>DONE</promise>");
}
