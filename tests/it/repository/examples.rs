//! The examples of the README and of the pages in `docs` run, line by line, against the local
//! server: an indented block is what a shell runs, and a fenced one is something else, by its info
//! string: another format, or `sh no-run` for what needs another program, machine or build.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use conclave::domain::ids::short_id;
use serde_json::Value;

use super::docs::{pages, root};
use crate::support::binary::Conclave;
use crate::support::git::git;
use crate::support::provider_server::{Answer, On, ProviderServer};

/// The formats of blocks that are not run.
const NOT_RUN: [&str; 5] = ["sh no-run", "text", "toml", "yaml", "markdown"];

/// How commands end that do not succeed, and why.
const ENDINGS: [(&str, i32, &str); 5] = [
    ("conclave setup", 2, "a dialogue needs a terminal"),
    (
        "conclave benchmark --resume last",
        6,
        "its limit begins again, and still holds",
    ),
    (
        "conclave consult --model work:some-model \"Should we use OAuth or JWT?\"",
        3,
        "a model without a price is asked for on a terminal",
    ),
    (
        "conclave consult --panel fast \"Should we use OAuth or JWT?\"",
        3,
        "a model without a price is asked for on a terminal",
    ),
    (
        "conclave refine check SPEC.md",
        1,
        "the loop has written another document",
    ),
];

/// What the text around a command takes for granted.
const BEFORE: [(&str, &str); 2] = [
    (
        "conclave benchmark --resume last",
        "conclave benchmark cases.jsonl --yes --max-attempts 1",
    ),
    (
        "conclave config get endpoints.work.base_url",
        "conclave config set endpoints.work.base_url https://llm.example.com/v1",
    ),
];

const CASES: &str = r#"{"question": "Shall we?", "expected": "Start small"}
{"question": "Shall we not?", "expected": "Start small"}
{"question": "Or shall we?", "expected": "Start small"}
"#;

const ANSWERS: &str = "id,gold,strong,second,third\n1,A,A,A,B\n2,B,B,A,B\n3,A,A,B,A\n";

/// The id in the pages, of a consultation that each home has.
const ID: &str = "01m7zh45";

/// A home and a folder as the pages take them for granted.
struct Example {
    server: ProviderServer,
    conclave: Conclave,
    complete: String,
    interrupted: String,
}

impl Example {
    fn new() -> Self {
        let server = ProviderServer::start();
        let conclave = Conclave::with_all_keys(&server)
            .variable("WORK_KEY", "test-key-work")
            .variable("VLLM_API_KEY", "test-key-vllm")
            .variable("CONCLAVE_ALWAYS_ALLOW_UNDER", "100");
        let folder = conclave.folder();
        for (file, text) in [
            ("question.txt", "Should we?"),
            ("problem.md", "It is slow."),
            ("src/main.rs", "fn main() {}"),
            ("src/lib.rs", "fn lib() {}"),
            ("src/config.py", "debug = True"),
            ("tests/a.rs", "fn test() {}"),
            ("docs/design.md", "The design."),
            (".env", "PASSWORD=correct-horse-battery"),
            (
                "SPEC.md",
                "# Spec\n\n## Open Questions\n\n- Where are the keys kept?\n",
            ),
            ("notes.md", "# Notes\n\n## Open Questions\n\n- Who pays?\n"),
            ("cases.jsonl", CASES),
            (
                "rows.jsonl",
                "{\"ask\": \"Shall we?\", \"result\": \"start small\"}\n",
            ),
            (
                "suite.yaml",
                "cases:\n  - question: Shall we?\n    expected: Start small, then grow\n",
            ),
            ("answers.csv", ANSWERS),
        ] {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        git(folder, &["init", "-q"]);
        symlink(root().join("suites"), folder.join("suites")).unwrap();
        fs::create_dir(folder.join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_conclave"), folder.join("bin/conclave")).unwrap();
        fs::write(
            folder.join("bin/pass"),
            "#!/bin/sh\necho test-key-anthropic\n",
        )
        .unwrap();
        let is_program = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join("bin/pass"), is_program).unwrap();
        let ask = |question: &str| {
            conclave.run(&["consult", "--on-failure", "fail", question]);
            let list: Value = conclave.run(&["ls", "--json"]).ends_with(0).json();
            let newest = &list["consultations"][0]["consultation_id"];
            short_id(newest.as_str().unwrap()).to_owned()
        };
        let interrupted = [
            "Where are session cookies kept?",
            "What are session cookies?",
        ];
        let interrupted = interrupted.map(|question| {
            let first = On::containing(question).nth(1);
            server.on(first, Answer::error(400, "bad", "bad"));
            ask(question)
        });
        let complete = ask("Should we keep session cookies?");
        let [interrupted, _] = interrupted;
        Self {
            server,
            conclave,
            complete,
            interrupted,
        }
    }

    /// Runs a line in a shell.
    fn run(&self, line: &str) -> (i32, String) {
        let is_resumed = line.starts_with("conclave resume");
        let id = if is_resumed {
            &self.interrupted
        } else {
            &self.complete
        };
        let line = line
            .replace(ID, id)
            .replace("https://llm.example.com", &self.server.url())
            .replace("http://127.0.0.1:8000", &self.server.url());
        let folder = self.conclave.folder();
        let path = &self.conclave.variables()["PATH"];
        let path = [folder.join("bin").as_os_str(), path].join(std::ffi::OsStr::new(":"));
        let ran = Command::new("/bin/sh")
            .args(["-c", &line])
            .env_clear()
            .envs(self.conclave.variables())
            .env("PATH", path)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = [ran.stdout, ran.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        (ran.status.code().unwrap(), text)
    }
}

/// Returns the lines of the blocks that are run, and checks the marks of the others.
fn lines_to_run(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let (mut lines, mut is_fenced, mut before) = (Vec::new(), false, "");
    let mut is_block = false;
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            let is_known = is_fenced && info.is_empty() || NOT_RUN.contains(&info);
            assert!(is_known, "{}: `{line}`", page.display());
            is_fenced = !is_fenced;
        } else if !is_fenced {
            let code = line.strip_prefix("    ");
            is_block = code.is_some() && (is_block || before.is_empty());
            lines.extend(code.filter(|_| is_block).map(ToOwned::to_owned));
        }
        before = line;
    }
    lines
}

#[test]
fn examples_run_and_end_as_the_pages_say() {
    let pages = pages().into_iter().chain([root().join("README.md")]);
    let pages: Vec<_> = pages.map(|page| (lines_to_run(&page), page)).collect();
    let number: usize = pages.iter().map(|(lines, _)| lines.len()).sum();
    assert!(number >= 60, "{number}");
    let failures = std::thread::scope(|scope| {
        let failures = |lines: &[String], page: &Path| {
            let example = Example::new();
            let mut failures = Vec::new();
            for line in lines {
                for (_, setup) in BEFORE.iter().filter(|(command, _)| line == command) {
                    example.run(setup);
                }
                let mut endings = ENDINGS.iter();
                let ending = endings.find(|(command, ..)| line == command);
                let expected = ending.map_or(0, |(_, code, _)| *code);
                let (code, text) = example.run(line);
                if code != expected {
                    failures.push(format!(
                        "{}: `{line}` ends with {code}:\n{text}",
                        page.display()
                    ));
                }
            }
            failures
        };
        let threads: Vec<_> = pages
            .iter()
            .filter(|(lines, _)| !lines.is_empty())
            .map(|(lines, page)| scope.spawn(move || failures(lines, page)))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.flatten().collect::<Vec<_>>()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
