//! Tests of the transport, with shells as programs.

mod endings;
mod gates;
mod kills;
mod readers;
mod seats;
mod variables;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};

use super::command::Launch;
use super::folder::ProgramFolder;
use super::process::{self, ProgramLimits, ProgramStart};
use super::reading::{Flow, ProgramEnd};
use super::seat::ProgramSeat;
use crate::consultation::protocol::answer::{AnswerForm, AnswerKind};
use crate::consultation::protocol::call::{Ask, Outcome, Prompt};
use crate::domain::ids::{CallId, ModelRef, ProviderId};
use crate::domain::model::billing::Billing;
use crate::domain::model::program::{AnswerReader, Program};
use crate::engine::ports::Provider;

/// Longer than any test.
const FOR_EVER: &str = "sleep 1000";

const LIMITS: ProgramLimits = ProgramLimits {
    start: None,
    time: Duration::from_secs(3_600),
    bytes: 1 << 22,
};

fn program(reader: AnswerReader, argv: &[&str]) -> Program {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    Program {
        id: ProviderId::new("command:test"),
        name: "Test".to_owned(),
        argv: words(argv),
        reader,
        login: Some("test login".to_owned()),
        time_limit: LIMITS.time,
        max_parallel: 2,
        max_output: LIMITS.bytes,
        billing: Billing::Plan,
        allowed: Some(true),
        ..Program::default()
    }
}

fn shell(script: &str) -> Program {
    program(AnswerReader::Text, &["sh", "-c", script])
}

fn own(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
    let path = ("PATH", "/usr/local/bin:/usr/bin:/bin");
    let all = variables.iter().chain([&path]);
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// A seat whose locks are in the folder.
fn seat(mut program: Program, folder: &Path, variables: &[(&str, &str)]) -> ProgramSeat {
    let is_shell = program.argv[0] == "sh";
    program.executable = Some(PathBuf::from(if is_shell {
        "/bin/sh"
    } else {
        &program.argv[0]
    }));
    ProgramSeat::new(program, own(variables), &folder.join("locks"))
}

async fn asked(seat: &ProgramSeat, question: &str) -> Outcome {
    let prompt = Prompt {
        shared: question.to_owned(),
        ..Prompt::default()
    };
    let ask = Ask {
        call: CallId(1),
        model: ModelRef::new("command:test", "m"),
        prompt,
        answer: AnswerKind::Independent,
        form: AnswerForm::Plain,
        max_output_tokens: 1_000,
        cache_key: None,
    };
    seat.ask(&ask, &mut |_| ()).await
}

fn start(script: &str, input: &str, variables: &[(&str, &str)]) -> ProgramStart {
    let own = own(variables);
    ProgramStart {
        program: PathBuf::from("/bin/sh"),
        launch: Launch {
            arguments: vec!["-c".to_owned(), script.to_owned()],
            standard_input: input.to_owned(),
            ..Launch::default()
        },
        folder: ProgramFolder::create(&shell(""), &own).unwrap(),
        variables: own,
    }
}

/// Returns how it ended, its lines, and the end of its standard error.
async fn ran(start: ProgramStart, limits: ProgramLimits) -> (ProgramEnd, Vec<String>, String) {
    let mut lines = Vec::new();
    let mut on_line = |line: &str| {
        lines.push(line.to_owned());
        Flow::Continue(())
    };
    let (end, errors) = process::run(start, limits, &mut on_line).await.unwrap();
    (end, lines, errors)
}

/// A named pipe that a program and all that it starts have open as descriptor 9.
struct LifeLine {
    folder: tempfile::TempDir,
    reader: File,
}

impl LifeLine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("life");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let reader = open(&path, flags, Mode::empty()).unwrap().into();
        Self { folder, reader }
    }

    fn opened(&self, script: &str) -> String {
        format!("exec 9>{}/life; {script}", self.folder.path().display())
    }

    /// Returns what has been written to it since; `None` when no process has it open.
    fn news(&mut self) -> Option<String> {
        let mut bytes = [0; 64];
        match self.reader.read(&mut bytes) {
            Ok(0) => None,
            Ok(count) => Some(String::from_utf8_lossy(&bytes[..count]).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(String::new()),
            Err(error) => panic!("{error}"),
        }
    }

    async fn says(&mut self, word: &str) {
        let mut all = String::new();
        let heard = async {
            while !all.contains(word) {
                all.extend(self.news());
                tokio::task::yield_now().await;
            }
        };
        let heard = tokio::time::timeout(Duration::from_secs(60), heard).await;
        assert!(heard.is_ok(), "it did not say `{word}`");
    }

    async fn ends(&mut self) {
        while self.news().is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
