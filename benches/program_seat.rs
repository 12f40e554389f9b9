//! What a seat adds to a program that answers in it: the same script through the seat, with the
//! check of its login beside it, and started directly, in turns.
//!
//! ```text
//! cargo bench --bench program_seat             200 calls of each kind; some seconds
//! cargo bench --bench program_seat -- 1000
//! ```
//!
//! The script reads its prompt, of 20 KB, and writes one line.

#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "a bench reads the clock and prints what it found"
)]

mod support;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::{Ask, Prompt};
use conclave::domain::ids::{CallId, ModelRef, ProviderId};
use conclave::domain::model::billing::Billing;
use conclave::domain::model::program::{AnswerReader, Program};
use conclave::engine::host;
use conclave::engine::ports::Provider;
use conclave::providers::programs::seat::ProgramSeat;
use support::figures::{self, Figures, Limit, milliseconds};

const SHELL: &str = "/bin/sh";

const SCRIPT: &str = "cat > /dev/null; echo answer";

/// The goal for what a seat adds, in milliseconds.
const GOAL: f64 = 30.0;

fn main() {
    let calls = figures::argument(0).unwrap_or(200_usize);
    let folder = support::folder();
    let runtime = host::runtime().unwrap();
    let ask = ask();
    let text = ask.prompt.text();
    let seat = seat(folder.path());
    let (mut first, mut later, mut direct) = <(Figures, Figures, Figures)>::default();
    for _ in 0..calls {
        let call = |seat: &ProgramSeat| {
            let began = Instant::now();
            // The answer is read, or is no answer: the bench is about its way.
            let _ = runtime.block_on(seat.ask(&ask, &mut |_| ()));
            milliseconds(began, Instant::now())
        };
        first.0.push(call(&self::seat(folder.path())));
        later.0.push(call(&seat));
        direct.0.push(directly(&text));
    }
    let most = Limit::of_median(direct.median() + GOAL);
    figures::heading(format!("{calls} calls, ms"));
    figures::row("the first call of a process, with its check", &first, most);
    figures::row("a later call", &later, most);
    figures::row("the same script, started directly", &direct, Limit::NONE);
    let ratio = later.median() / direct.median();
    figures::single("a later call as a multiple of the last", ratio, None);
}

fn seat(folder: &Path) -> ProgramSeat {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    let program = Program {
        id: ProviderId::new("command:bench"),
        name: "bench".to_owned(),
        argv: words(&["sh", "-c", SCRIPT]),
        reader: AnswerReader::Text,
        check: words(&["sh", "-c", "exit 0"]),
        time_limit: Duration::from_secs(60),
        max_parallel: 2,
        max_output: 1 << 20,
        billing: Billing::Free,
        allowed: Some(true),
        executable: Some(PathBuf::from(SHELL)),
        ..Program::default()
    };
    let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    let (variables, locks) = (BTreeMap::from([path]), folder.join("locks"));
    ProgramSeat::new(program, variables, &locks)
}

fn ask() -> Ask {
    Ask {
        call: CallId(1),
        model: ModelRef::new("command:bench", "bench"),
        prompt: Prompt {
            shared: "What now? ".repeat(2_000),
            ..Prompt::default()
        },
        answer: AnswerKind::Independent,
        form: AnswerForm::Plain,
        max_output_tokens: 1_000,
        cache_key: None,
    }
}

fn directly(text: &str) -> f64 {
    let began = Instant::now();
    let mut shell = Command::new(SHELL);
    shell.args(["-c", SCRIPT]).stdin(Stdio::piped());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    milliseconds(began, Instant::now())
}
