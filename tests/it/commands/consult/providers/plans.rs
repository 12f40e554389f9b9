//! Plans that pay for the calls of a program, from what it writes to what people see.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use conclave::engine::clock::Clock;
use serde_json::{Value, json};

use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

const TWO_HOURS: Duration = Duration::from_secs(2 * 60 * 60);

fn in_two_hours() -> u64 {
    let reset = Clock::system().now().after(TWO_HOURS);
    u64::try_from(reset.0 / 1000).unwrap()
}

/// Allowed, logged in, and writing these lines at each call.
fn with_claude(server: &ProviderServer, lines: &[Value]) -> Conclave {
    let allowed = r#"{"programs": {"claude-code": {"allowed": true}}}"#;
    let conclave = Conclave::at(server).config(allowed);
    let init = json!({"type": "system", "subtype": "init", "tools": ["StructuredOutput"],
        "mcp_servers": [], "apiKeySource": "none"});
    let lines: Vec<String> = [&init]
        .into_iter()
        .chain(lines)
        .map(Value::to_string)
        .collect();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n--version) echo 2.1.330;;\n\"auth status\") echo \
         '{{\"loggedIn\":true,\"planTier\":\"max_5x\"}}';;\n*) echo >> {calls}\n/bin/cat \
         <<'END'\n{}\nEND\n;;\nesac\n",
        lines.join("\n"),
        calls = conclave.folder().join("calls").display(),
    );
    let folder = conclave.folder().join("programs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("claude"), script).unwrap();
    fs::set_permissions(folder.join("claude"), Permissions::from_mode(0o700)).unwrap();
    // With the shell that leads the group of a program.
    let path = format!("{}:/usr/bin:/bin", folder.display());
    conclave.variable("PATH", path)
}

fn calls(conclave: &Conclave) -> usize {
    fs::read_to_string(conclave.folder().join("calls"))
        .unwrap()
        .lines()
        .count()
}

fn consult<'a>(panel: &'a str, judge: &'a str) -> [&'a str; 9] {
    [
        "consult",
        "Shall we?",
        "--panel",
        panel,
        "--judge",
        judge,
        "--rounds",
        "1",
        "--yes",
    ]
}

const ALONE: &str = "security=claude-code:sonnet";
const BESIDE_GPT: &str = "security=claude-code:sonnet,architect=gpt-6.1-sol";

fn limits(info: &Value) -> Value {
    json!({"type": "rate_limit_event", "rate_limit_info": info})
}

fn used_up() -> [Value; 2] {
    let limit = json!({"status": "rejected", "resetsAt": in_two_hours(),
        "rateLimitType": "five_hour", "isUsingOverage": false});
    let result = json!({"type": "result", "subtype": "success", "is_error": true,
        "api_error_status": 429, "result": "You've hit your 5-hour limit"});
    [limits(&limit), result]
}

#[test]
fn seat_whose_plan_is_used_up_is_out_and_a_fallback_takes_over() {
    let server = ProviderServer::start();
    let conclave = with_claude(&server, &used_up());
    let ran = conclave
        .run(&consult(BESIDE_GPT, "gpt-6.1-sol"))
        .ends_with(0);
    ran.assert_stderr_contains("You've hit your 5-hour limit");
    ran.assert_stderr_contains("openai:gpt-6.1-sol takes over as Security Expert.");
    assert_eq!(calls(&conclave), 1);
    assert_eq!(conclave.record()["plans"]["claude-code"]["calls"], 1);
}

#[test]
fn resume_before_the_reset_asks_nothing() {
    let server = ProviderServer::start();
    let conclave = with_claude(&server, &used_up());
    let ran = conclave
        .run(&consult(ALONE, "claude-code:opus"))
        .ends_with(1);
    ran.assert_stderr_contains("`claude-code` takes calls again at ");
    conclave.run(&["resume", "--yes"]).ends_with(1);
    assert_eq!(calls(&conclave), 1);
}

#[test]
fn summary_and_record_say_what_is_used_of_the_plan() {
    let server = ProviderServer::start();
    let answer = json!({"position": "Start small.", "key_points": ["Small steps are safe"],
        "rationale": "They can be undone.", "confidence": 0.7});
    let limit = json!({"status": "allowed", "isUsingOverage": false,
        "unifiedWindows": {"five_hour": {"utilization": 0.41, "resetsAt": in_two_hours()}}});
    let result = json!({"type": "result", "subtype": "success", "result": answer.to_string(),
        "modelUsage": {"claude-sonnet-5-5": {"inputTokens": 1_100, "outputTokens": 100}}});
    let conclave = with_claude(&server, &[limits(&limit), result]);
    let ran = conclave
        .run(&consult(BESIDE_GPT, "gpt-6.1-sol"))
        .ends_with(0);
    let line = ran
        .stdout
        .lines()
        .find(|line| line.contains("claude-code · plan"));
    let line = line.unwrap_or_else(|| panic!("{}", ran.stdout));
    assert!(
        line.contains(" · 1.2k tokens · 5 h window 41 % used · resets "),
        "{line}"
    );
    let plan = conclave.record()["plans"]["claude-code"].clone();
    assert_eq!(
        (&plan["calls"], &plan["tokens"]),
        (&json!(1), &json!(1_200))
    );
    assert_eq!(plan["window"]["used_percent"], 41);
}

#[test]
fn call_that_would_be_billed_beside_the_plan_is_refused() {
    let server = ProviderServer::start();
    let overage = json!({"status": "allowed", "resetsAt": in_two_hours(), "isUsingOverage": true});
    let conclave = with_claude(&server, &[limits(&overage)]);
    let ran = conclave
        .run(&consult(ALONE, "claude-code:opus"))
        .ends_with(1);
    ran.assert_stderr_contains(
        "has used up the plan, and the call would be billed beside it; if that is wanted, set \
         `programs.claude-code.overage` to `allow`",
    );
    assert_eq!(calls(&conclave), 1);
}
