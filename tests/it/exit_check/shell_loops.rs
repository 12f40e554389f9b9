//! The loop of the README, run by a shell with programs that play the agents.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::Project;

const README: &str = include_str!("../../../README.md");

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
    let lines = README.lines().filter_map(|line| line.strip_prefix("    "));
    let lines = lines.skip_while(|line| !line.starts_with("agent() {"));
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

fn ends_with(turn: &str, tests: &str, code: i32, turns: usize) {
    for agent in [Agent::Claude, Agent::Codex] {
        let (ended, taken, shown) = run(agent, turn, tests);
        assert_eq!(ended, Some(code), "{}: {shown}", agent.name());
        assert_eq!(taken, turns, "{}: {shown}", agent.name());
    }
}

#[test]
fn agent_that_finishes_ends_the_loop_with_10() {
    let turn = format!("{NEXT_TASK} say 'One more task is done.'");
    ends_with(&turn, "exit 0", 10, 3);
}

#[test]
fn agent_that_is_finished_continues_until_the_tests_pass() {
    let turn = format!("{NEXT_TASK} say 'One more task is done.'");
    ends_with(&turn, "[ $(wc -l < turns) -ge 5 ]", 10, 5);
}

#[test]
fn agent_that_is_blocked_ends_the_loop_with_11() {
    ends_with("say 'STATUS: BLOCKED'", "exit 0", 11, 1);
}

#[test]
fn agent_without_a_login_ends_the_loop_with_12() {
    let claude = r#"echo '{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login","session_id":"s","num_turns":1}'; exit 1"#;
    let (code, turns, shown) = run(Agent::Claude, claude, "exit 0");
    assert_eq!(code, Some(12), "{shown}");
    assert_eq!(turns, 1);
}

#[test]
fn agent_that_changes_nothing_ends_the_loop_with_13() {
    ends_with("say 'I am making great progress.'", "exit 0", 13, 4);
}

#[test]
fn agent_that_dies_ends_the_loop_with_12() {
    let (code, turns, shown) = run(Agent::Claude, "exit 1", "exit 0");
    assert_eq!(code, Some(12), "{shown}");
    assert!(turns <= 4, "{shown}");
}
