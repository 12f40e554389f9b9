//! The loop of the README, run by a shell with programs that play the agents.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use serde_json::{Value, json};

use super::Project;

const README: &str = include_str!("../../../../README.md");

/// A loop that does not stop by itself is ended after this many turns.
const MAX_TURNS: usize = 12;

/// The agent programs of the README.
#[derive(Clone, Copy)]
enum Agent {
    Claude,
    Codex,
}

impl Agent {
    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    /// Returns a line of the shell that prints a message as the program does.
    fn print(self, message: &str) -> String {
        match self {
            Self::Claude => format!(
                r#"printf '{{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"s","num_turns":1}}\n' '{message}'"#
            ),
            Self::Codex => format!(
                r#"printf '{{"type":"thread.started","thread_id":"t"}}\n{{"type":"turn.started"}}\n{{"type":"item.completed","item":{{"id":"i","type":"agent_message","text":"%s"}}}}\n{{"type":"turn.completed","usage":{{"input_tokens":1,"output_tokens":1}}}}\n' '{message}'"#
            ),
        }
    }
}

/// Returns the loop of the README for this agent; it exits with the last code.
fn script(agent: Agent) -> String {
    let lines = README
        .lines()
        .skip_while(|line| !line.starts_with("agent() {"));
    let mut script: Vec<String> = Vec::new();
    for line in lines {
        let is_agent = line.trim_start_matches("# ").starts_with("agent() {");
        if !is_agent {
            script.push(line.to_owned());
        } else if line.contains(agent.name()) {
            script.push(line.trim_start_matches("# ").to_owned());
        }
        if line == "done" {
            break;
        }
    }
    assert!(script.len() >= 7, "{script:?}");
    script.push("exit $code".to_owned());
    script.join("\n")
}

/// Runs the loop of the README in a repository with three tasks. `turn` is what the agent does in
/// each turn; `say MESSAGE` prints as the program does.
fn run(agent: Agent, turn: &str, tests: &str) -> (Option<i32>, usize, String) {
    let project = Project::new();
    project.git(&["init", "--quiet"]);
    project.write(".gitignore", "bin/\nturns\n");
    project.plan(0, 3);
    project.write(
        "PROMPT.md",
        "Do the next open task of PLAN.md. The secret word is xyzzy.\n",
    );
    project.git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "-m", "begin"]);
    let say = agent.print("'\"$1\"'");
    program(
        &project,
        agent.name(),
        &format!(
            "grep -q xyzzy || exit 9\n\
             echo turn >> turns\n\
             [ $(wc -l < turns) -le {MAX_TURNS} ] || kill $PPID\n\
             say() {{ {say}; }}\n\
             {turn}\n"
        ),
    );
    program(&project, "cargo", tests);
    symlink(
        project.command(&[]).get_program(),
        project.path("bin/conclave"),
    )
    .unwrap();
    let path = &project.conclave.variables()["PATH"];
    let mut folders = vec![project.path("bin")];
    folders.extend(std::env::split_paths(path));
    let output = Command::new("sh")
        .args(["-c", &script(agent)])
        .env_clear()
        .envs(project.conclave.variables())
        .env("PATH", std::env::join_paths(folders).unwrap())
        .current_dir(project.path(""))
        .output()
        .unwrap();
    let turns = fs::read_to_string(project.path("turns")).unwrap_or_default();
    let shown = [output.stdout, output.stderr].concat();
    let shown = String::from_utf8_lossy(&shown).into_owned();
    (output.status.code(), turns.lines().count(), shown)
}

/// Writes a program of the shell into the folder of programs.
fn program(project: &Project, name: &str, text: &str) {
    let name = format!("bin/{name}");
    project.write(&name, format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(project.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
}

const NEXT_TASK: &str = "sed -i '0,/\\[ \\]/s//[x]/' PLAN.md; echo x >> code.rs; ";

#[test]
fn agent_that_finishes_ends_the_loop_when_the_tests_pass() {
    let turn = format!("{NEXT_TASK} say 'One more task is done.'");
    for (agent, tests, expected) in [
        (Agent::Claude, "exit 0", 3),
        (Agent::Codex, "[ $(wc -l < turns) -ge 5 ]", 5),
    ] {
        let (ended, turns, shown) = run(agent, &turn, tests);
        assert_eq!(ended, Some(10), "{}: {shown}", agent.name());
        assert_eq!(turns, expected, "{}: {shown}", agent.name());
    }
}

#[test]
fn agent_that_does_not_finish_ends_the_loop() {
    let signed_out = r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login","session_id":"s","num_turns":1}'; exit 1"#;
    for (agent, turn, code, expected) in [
        (Agent::Codex, "say 'STATUS: BLOCKED'", 11, 1),
        (Agent::Claude, signed_out, 12, 1),
        (Agent::Claude, "exit 1", 12, 3),
        (Agent::Codex, "say 'I am making great progress.'", 13, 4),
    ] {
        let (ended, turns, shown) = run(agent, turn, "exit 0");
        assert_eq!(ended, Some(code), "{turn}: {shown}");
        assert_eq!(turns, expected, "{turn}: {shown}");
    }
}

/// The loop of the original's documentation, with this program in place of the script.
#[test]
fn loop_of_the_original_ends_with_its_reason() {
    let project = Project::new();
    project.write(".ralph/@fix_plan.md", "- [ ] one\n- [ ] two\n");
    let mut bash = project.bash(
        "conclave() { \"$0\" \"$@\"; }
        while true; do
            sed -i '0,/\\[ \\]/s//[x]/' .ralph/@fix_plan.md
            echo 'One more task.' > .ralph/last-response.md
            if ! conclave exit-check \\
                .ralph/last-response.md \\
                .ralph/@fix_plan.md > /dev/null; then
                reason='s/.*\"decision_reason\": \"\\(.*\\)\".*/\\1/p'
                echo \"Exiting: $(sed -n \"$reason\" .ralph/exit-state.json)\"
                break
            fi
        done",
    );
    let stdout = String::from_utf8(bash.output().unwrap().stdout).unwrap();
    assert!(stdout.starts_with("Exiting: "), "{stdout}");
    assert!(stdout.trim_end().len() > "Exiting: ".len(), "{stdout}");
    let state: Value = serde_json::from_str(&project.read(".ralph/exit-state.json")).unwrap();
    assert_eq!(state["decision"], "EXIT");
    assert_eq!(state["total_decisions"], 2);
    assert_eq!(state["continue_count"], 1);
    assert_eq!(state["exit_count"], 1);
    assert_eq!(state["completion_history"], json!([50, 100]));
    let log = project.path(".ralph/logs/exit-decisions_conclave.log");
    assert!(log.exists() && !project.path(".conclave").exists());
    // The files of that folder are read unnamed.
    let json = project
        .run(&["exit-check", "--json", "--strict-seed"])
        .json();
    assert_eq!(json["evidence"]["checklist"]["completed"], 2);
    assert_eq!(json["policy"], "strict_seed");
}
