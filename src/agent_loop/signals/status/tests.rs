//! Messages by the signal in them.

use super::read;
use crate::agent_loop::text::Message;
use crate::stopping::exit_check::evidence::StatedState::{self, Blocked, Done, NotDone};

fn state(message: &str, promise: Option<&str>) -> Option<StatedState> {
    read(&Message::read(message, None), promise)
        .signal
        .map(|signal| signal.state)
}

/// Checks messages that have the same signal.
fn check(expected: Option<StatedState>, messages: &[&str]) {
    for message in messages {
        assert_eq!(state(message, None), expected, "{message:?}");
    }
}

const IN_PROGRESS: &str = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nTASKS_COMPLETED_THIS_LOOP: 1\n\
    EXIT_SIGNAL: false\nRECOMMENDATION: Continue with the lexer\n---END_RALPH_STATUS---";
const COMPLETE: &str = "---RALPH_STATUS---\nSTATUS: COMPLETE\nTESTS_STATUS: PASSING\n\
    EXIT_SIGNAL: true\nRECOMMENDATION: All requirements met\n---END_RALPH_STATUS---";

fn block(fields: &str) -> String {
    format!("---RALPH_STATUS---\n{fields}\n---END_RALPH_STATUS---")
}

#[test]
fn status_blocks_are_read() {
    let fenced = |block: &str| format!("Text.\n\n```\n{block}\n```");
    check(
        Some(NotDone),
        &[
            IN_PROGRESS,
            &format!("{COMPLETE}\n\nMore work.\n\n{IN_PROGRESS}"),
            &block("STATUS: COMPLETE\nEXIT_SIGNAL: false"),
            &block("STATUS: IN_PROGRESS\nEXIT_SIGNAL: true"),
            &block("STATUS: COMPLETE\nTESTS_STATUS: FAILING\nEXIT_SIGNAL: true"),
            &block("EXIT_SIGNAL: false  # Set to true when ready"),
            "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\n",
            &fenced(IN_PROGRESS),
        ],
    );
    check(
        Some(Done),
        &[
            COMPLETE,
            &format!("All done.\n\n{COMPLETE}"),
            &format!("{IN_PROGRESS}\n\nMore work.\n\n{COMPLETE}"),
            &block("STATUS: COMPLETE"),
            "---LOOP_STATUS---\nSTATUS: COMPLETE\n---END_LOOP_STATUS---",
            "--- STATUS ---\n**STATUS:** complete ✅\n--- END STATUS ---",
            "---RALPH_STATUS---\r\nSTATUS: COMPLETE\r\nEXIT_SIGNAL: true\r\n---END_RALPH_STATUS---\r\n",
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true",
            &fenced(COMPLETE),
        ],
    );
    check(
        Some(Blocked),
        &[&block("STATUS: BLOCKED\nEXIT_SIGNAL: false")],
    );
    check(
        None,
        &[
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_COMP",
            &format!("{}\n\nNow I begin.", fenced(COMPLETE)),
            &format!("When everything is done I will print:\n\n```\n{COMPLETE}\n```"),
            &format!("The expected format:\n\n```\n{COMPLETE}\n```"),
            &fenced(&block(
                "STATUS: IN_PROGRESS | COMPLETE | BLOCKED\nEXIT_SIGNAL: false | true",
            )),
            &fenced(&block("STATUS: <status>\nEXIT_SIGNAL: true")),
            &format!("> {}", COMPLETE.replace('\n', "\n> ")),
            "<!--\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n-->",
        ],
    );
}

#[test]
fn lines_of_their_own_are_read() {
    check(
        Some(Done),
        &[
            "EXIT_SIGNAL: true",
            "**EXIT_SIGNAL:** true",
            "- EXIT_SIGNAL: `true`",
            "exit_signal: TRUE",
            "All done.\n\n`EXIT_SIGNAL: true`",
            "**Status:** Done",
            "**Status**: Complete ✅",
            "## Status: COMPLETE",
            "Statut : terminé",
            "状态：已完成",
            "LOOP_COMPLETE",
            "Everything is committed.\n\n**LOOP_COMPLETE**",
        ],
    );
    check(
        Some(NotDone),
        &[
            "EXIT_SIGNAL=false",
            "STATUS: COMPLETE\nEXIT_SIGNAL: false",
            "EXIT_SIGNAL: false\n\nSTATUS: COMPLETE",
            "Status: In progress",
            "Status: 80% complete",
            "STATUS: COMPLETE (3/16 tasks)",
            "## Task 2\n**Status:** In progress\n## Task 1\n**Status:** Done",
        ],
    );
    check(
        Some(Blocked),
        &["Status: Blocked", "Status: waiting for user input"],
    );
    check(
        None,
        &[
            "",
            "Status: green",
            "## Status: complete?",
            "Status: Done with phase 1 of 3",
            "The status: done flag is set.",
            "I set EXIT_SIGNAL: true in the template.",
            "EXIT_SIGNAL: true | false",
            "EXIT_SIGNAL: <true or false>",
            "`EXIT_SIGNAL: true` goes into the block.",
            "## Task 1: Parser\n**Status:** Done",
            "| Status: Done |\n|---|\n| Status: Done |",
            "When finished, print:\nLOOP_COMPLETE",
            "Do not output LOOP_COMPLETE.",
            "The word is LOOP_COMPLETE",
        ],
    );
}

#[test]
fn tags_are_read_where_they_are_made() {
    check(
        Some(Done),
        &[
            "<promise>DONE</promise>",
            "All tasks are complete.\n\n<promise>COMPLETE</promise>",
            "All tasks are complete. <promise>done</promise>",
            "All tasks are complete: <promise>DONE</promise>",
            "<promise>\n  TASK_COMPLETE\n</promise>",
            "<PROMISE>LOOP COMPLETE</PROMISE>",
            "```\n<promise>DONE</promise>\n```",
            "Done.\n\n`<promise>DONE</promise>`",
            "<status>done</status>",
            "<exit>true</exit>",
            "<event topic=\"LOOP_COMPLETE\">all done</event>",
            "<event topic=\"loop.complete\"></event>",
            "<promise>DONE</promise>\n\n<promise>DONE</promise>",
        ],
    );
    check(
        Some(NotDone),
        &[
            "<status>in_progress</status>",
            "<exit_signal>false</exit_signal>",
            "<event topic=\"build.blocked\">missing key</event>",
        ],
    );
    check(Some(Blocked), &["<status>blocked</status>"]);
    check(
        None,
        &[
            "I will output <promise>DONE</promise> when all tests pass.",
            "I will output `<promise>DONE</promise>` when all tests pass.",
            "I will output\n<promise>DONE</promise>\nwhen all tests pass.",
            "When all tests pass, output:\n\n<promise>DONE</promise>",
            "I cannot output <promise>DONE</promise> yet.",
            "The tag is \"<promise>DONE</promise>\".",
            "> <promise>DONE</promise>",
            "<!-- <promise>DONE</promise> -->",
            "```\n<promise>DONE</promise>\n```\n\nNow I begin.",
            "```python\nprint(\"<promise>DONE</promise>\")\n```",
            "```\n<promise>DONE</promise>\n",
            "```\necho \"<promise>DONE</promise>\"\n```",
            "The output:\n\n    <promise>DONE</promise>",
            "<promise></promise>",
            "<promise>TEXT</promise>",
            "<promise>NOT DONE</promise>",
            "<promise>DONE",
            "DONE</promise>",
            "no tag at all",
            "<event topic=\"task.complete\">LOOP_COMPLETE</event>",
            "<event topic=\"build.done\"><promise>DONE</promise></event>",
            "<status>ok</status>",
            "<a href=\"x\"> <b",
        ],
    );
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
    check(
        Some(Done),
        &[
            "{\"exit_signal\": true}",
            "{\n  \"status\": \"COMPLETE\",\n  \"exit_signal\": true\n}",
            "Text.\n\n```json\n{\n  \"exit_signal\": true,\n  \"confidence\": 0.9\n}\n```",
        ],
    );
    check(
        Some(NotDone),
        &[
            "Text.\n{\"status\": \"in_progress\", \"exit_signal\": false}",
            "{\"status\": \"COMPLETE\", \"exit_signal\": false}",
        ],
    );
    check(
        Some(Blocked),
        &["{\"RALPH_STATUS\": {\"STATUS\": \"BLOCKED\"}}"],
    );
    check(
        None,
        &[
            "```json\n{\"exit_signal\": true}\n```\n\nText.",
            "{\"status\": \"ok\"}",
            "{\"exit_signal\": \"true | false\"}",
            "{\"a\": 1}",
            "{broken",
        ],
    );
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
