//! Programs whose output is read by the reader of Claude Code, while they run.

use std::fs;

use crate::consultation::protocol::call::FailureClass;

use super::*;

const BEGIN: &str = r#"
    init() { echo '{"type":"system","subtype":"init","tools":[],"mcp_servers":[],"apiKeySource":"none"}'; }
    event() { echo "{\"type\":\"stream_event\",\"event\":{\"type\":$1}}"; }
    piece() { event '"content_block_delta","delta":{"type":"text_delta","text":"Hi"}'; }
    answer() { init; event '"message_start"'; piece; echo '{"type":"result","result":"Hi"}'; }
"#;

/// `{out}` is the folder.
fn claude(out: &Path, script: &str) -> ProgramSeat {
    let script = format!("{BEGIN}\n{script}").replace("{out}", &out.display().to_string());
    let claude = program(AnswerReader::ClaudeCode, &["sh", "-c", &script]);
    seat(claude, out, &[])
}

#[tokio::test]
async fn a_login_that_is_refused_is_tried_once_more_alone() {
    let out = tempfile::tempdir().unwrap();
    let script = r#"
        echo call >> {out}/calls
        if [ -e {out}/refuse ]; then
            init; rm {out}/refuse
            echo '{"type":"result","is_error":true,"result":"Not logged in · Please run /login"}'
        else answer; fi"#;
    let seat = claude(out.path(), script);
    let calls = || {
        fs::read_to_string(out.path().join("calls"))
            .unwrap()
            .lines()
            .count()
    };
    let refuse = || fs::write(out.path().join("refuse"), "").unwrap();
    // The first call is alone: no other can have taken its login.
    refuse();
    let failure = asked(&seat, "?").await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Auth);
    assert_eq!(calls(), 1);
    assert_eq!(asked(&seat, "?").await.unwrap().text, "Hi");
    refuse();
    assert_eq!(asked(&seat, "?").await.unwrap().text, "Hi");
    assert_eq!(calls(), 4);
}

#[tokio::test]
async fn the_first_piece_of_an_answer_lets_others_start() {
    let out = tempfile::tempdir().unwrap();
    // The first ends only after the second has begun.
    let script = r#"
        if mkdir {out}/one 2> {out}/errors; then
            mkfifo {out}/second
            init; event '"message_start"'; piece
            read -r begun < {out}/second
            echo '{"type":"result","result":"Hi"}'
        else echo begun > {out}/second; answer; fi"#;
    let seat = claude(out.path(), script);
    let both = async { tokio::join!(asked(&seat, "?"), asked(&seat, "?")) };
    let both = tokio::time::timeout(Duration::from_secs(60), both).await;
    let (one, other) = both.expect("the second does not wait for the end");
    assert_eq!(
        (one.unwrap().text, other.unwrap().text),
        ("Hi".to_owned(), "Hi".to_owned())
    );
}

#[tokio::test]
async fn a_program_that_uses_a_tool_is_killed() {
    let out = tempfile::tempdir().unwrap();
    let mut life = LifeLine::new();
    let tool =
        r#"init; event '"content_block_start","content_block":{"type":"tool_use","name":"Bash"}'"#;
    let script = life.opened(&format!("{BEGIN}\n{tool}\n{FOR_EVER}"));
    let claude = program(AnswerReader::ClaudeCode, &["sh", "-c", &script]);
    let failure = asked(&seat(claude, out.path(), &[]), "?")
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Malformed);
    assert_eq!(
        failure.message,
        "Test used a tool (`Bash`), which no seat has"
    );
    life.ends().await;
}
