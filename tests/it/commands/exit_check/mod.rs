//! `conclave exit-check` as a process in a project of its own: every exit code, each flag,
//! configuration files, loops of a shell, and the state. The corpus decides hundreds of turns.

mod agent_loops;
mod circuit;
mod configuration;
mod corpus;
mod exit_codes;
mod hostile;
mod shell_loops;
mod state;
mod store;
mod test_command;
mod usage;
mod working_tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::git::git;

/// A status block that says done.
const DONE: &str = "All work is finished.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n\
    ---END_RALPH_STATUS---\n";

/// A message that says nothing about an end.
const WORKING: &str = "I moved the parser to its own module.\n";

/// A project whose agent runs in a loop.
struct Project {
    conclave: Conclave,
}

impl Project {
    fn new() -> Self {
        let conclave = Conclave::new();
        let project = Self { conclave };
        fs::create_dir(project.path("")).unwrap();
        project
    }

    /// Returns a path in the project.
    fn path(&self, name: &str) -> PathBuf {
        self.conclave.folder().join("project").join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a plan with this many completed tasks and open ones.
    fn plan(&self, completed: usize, open: usize) {
        let numbered = |mark: char| move |number| format!("- [{mark}] task {number}\n");
        let completed = (0..completed).map(numbered('x'));
        let tasks = completed.chain((0..open).map(numbered(' ')));
        self.write("PLAN.md", tasks.collect::<String>());
    }

    /// Returns the command in the project's folder.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.conclave.command();
        command
            .args(arguments)
            .current_dir(self.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> RunOutput {
        RunningProcess::of(self.command(arguments).spawn().unwrap()).wait()
    }

    /// Runs with a file on standard input.
    fn run_piped(&self, arguments: &[&str], input: impl AsRef<Path>) -> RunOutput {
        let mut command = self.command(arguments);
        command.stdin(fs::File::open(self.path("").join(input)).unwrap());
        RunningProcess::of(command.spawn().unwrap()).wait()
    }

    /// Returns a script of bash in the project's folder, to which `$0` is the program.
    fn bash(&self, script: &str) -> Command {
        let mut bash = Command::new("bash");
        bash.args(["-c", script])
            .arg(self.command(&[]).get_program())
            .env_clear()
            .envs(self.conclave.variables())
            .current_dir(self.path(""));
        bash
    }

    /// Checks a response with a plan, if there is one.
    fn check(&self, response: &str, flags: &[&str]) -> RunOutput {
        self.write("response.md", response);
        let mut arguments = vec!["exit-check", "response.md"];
        if self.path("PLAN.md").exists() {
            arguments.push("PLAN.md");
        }
        arguments.extend(flags);
        self.run(&arguments)
    }

    /// Checks a response; returns the decision as JSON. The exit code agrees with it.
    fn decision(&self, response: &str, flags: &[&str]) -> Value {
        let output = self.check(response, &[flags, &["--json"]].concat());
        let json = output.json();
        assert_eq!(json["exit_code"].as_i64(), output.code.map(i64::from));
        json
    }

    /// Checks a response; returns the class of the decision and the rule that made it.
    fn decided(&self, response: &str, flags: &[&str]) -> String {
        let json = self.decision(response, flags);
        let decision = json["decision"].as_str().unwrap();
        match json["evaluation"]["decision"]["stop"]["rule"].as_str() {
            Some(rule) => format!("{decision} by {rule}"),
            None => decision.to_owned(),
        }
    }

    fn git(&self, arguments: &[&str]) {
        git(&self.path(""), arguments);
    }

    fn events(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.path(".conclave/exit-log.jsonl")).unwrap_or_default();
        log.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}
