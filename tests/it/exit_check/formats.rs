//! The outputs of agent programs, through the binary.

use serde_json::json;

use super::{DONE, Project, WORKING};

fn claude(result: &str) -> String {
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 5, "num_turns": 3,
        "result": result, "session_id": "s", "total_cost_usd": 0.01,
    });
    format!("{result}\n")
}

fn claude_stream(result: &str) -> String {
    let lines = [
        json!({"type": "system", "subtype": "init", "session_id": "s", "tools": []}),
        json!({"type": "assistant", "session_id": "s", "message": {
            "role": "assistant", "content": [{"type": "text", "text": result}]}}),
    ];
    format!("{}\n{}\n{}", lines[0], lines[1], claude(result))
}

fn codex(message: &str) -> String {
    let lines = [
        json!({"type": "thread.started", "thread_id": "t"}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": {
            "id": "item_1", "type": "agent_message", "text": message}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

fn gemini(response: &str) -> String {
    json!({"response": response, "stats": {"models": {}}}).to_string()
}

#[test]
fn every_format_is_recognized_and_can_be_named() {
    type Wrap = fn(&str) -> String;
    let formats: [(&str, Wrap); 5] = [
        ("text", str::to_owned),
        ("claude", claude),
        ("claude", claude_stream),
        ("codex", codex),
        ("gemini", gemini),
    ];
    let project = Project::new();
    for (name, wrap) in formats {
        for flags in [vec![], vec!["--format", name]] {
            assert_eq!(
                project.decided(&wrap(DONE), &flags),
                "done by explicit_done",
                "{name}"
            );
            assert_eq!(
                project.decided(&wrap(WORKING), &flags),
                "continue",
                "{name}"
            );
        }
        project.run(&["exit-check", "reset"]);
    }
}

#[test]
fn wrong_format_is_an_error_of_use() {
    let project = Project::new();
    let output = project.check(WORKING, &["--format", "codex"]).ends_with(2);
    output.assert_stderr_contains("error: `response.md`: line 1 is not output of Codex");
    output.assert_stderr_contains("hint: leave out `--format`");
    assert!(project.events().is_empty());
}

#[test]
fn words_of_the_format_are_no_words_of_the_agent() {
    let project = Project::new();
    let json = project.decision(&claude(WORKING), &[]);
    assert_eq!(json["evidence"]["errors"], json!([]), "`is_error` is false");
}
