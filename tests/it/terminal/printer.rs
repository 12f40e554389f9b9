//! The printer: its streams, its text and its failures.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use conclave::engine::ports::{Face, LongWork};
use conclave::terminal::output::printer::{Printer, Verbosity};
use conclave::terminal::output::stream_traits::StreamTraits;

/// A printer whose output is captured.
pub(super) struct CapturedPrinter {
    pub(super) printer: Printer,
    out: Arc<Mutex<Vec<u8>>>,
    err: Arc<Mutex<Vec<u8>>>,
}

struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream on which every write fails.
struct BrokenStream(io::ErrorKind);

impl Write for BrokenStream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CapturedPrinter {
    /// Creates a printer to a pipe, or with a width to a terminal without colour.
    pub(super) fn new(verbosity: Verbosity, width: Option<u16>) -> Self {
        let (out, err) = (Arc::default(), Arc::default());
        let variable = |name: &str| (name == "LANG").then_some("C.UTF-8");
        let face = StreamTraits::new(width.is_some(), width, &variable);
        let printer = Printer::new(
            (Box::new(SharedBuffer(Arc::clone(&out))), face),
            (Box::new(SharedBuffer(Arc::clone(&err))), face),
            verbosity,
            Box::new(str::to_owned),
        );
        Self { printer, out, err }
    }

    pub(super) fn out(&self) -> String {
        String::from_utf8(self.out.lock().unwrap().clone()).unwrap()
    }

    pub(super) fn err(&self) -> String {
        String::from_utf8(self.err.lock().unwrap().clone()).unwrap()
    }
}

fn printing_to(kind: io::ErrorKind) -> Printer {
    let face = StreamTraits::new(false, None, &|_| None);
    Printer::new(
        (Box::new(BrokenStream(kind)), face),
        (Box::new(BrokenStream(kind)), face),
        Verbosity::Normal,
        Box::new(str::to_owned),
    )
}

#[test]
fn a_closed_pipe_is_no_error_but_a_full_disk_is() {
    assert!(
        printing_to(io::ErrorKind::BrokenPipe)
            .result("answer")
            .is_ok()
    );
    let failed = printing_to(io::ErrorKind::StorageFull)
        .result("answer")
        .unwrap_err();
    assert_eq!(
        failed.to_string(),
        "cannot write the result to standard output"
    );
    printing_to(io::ErrorKind::StorageFull).note("lost note");
}

#[derive(Debug, thiserror::Error)]
#[error("cannot ask `{0}`")]
struct Outer(&'static str, #[source] io::Error);

#[test]
fn errors_print_causes_and_hints_even_when_quiet() {
    let captured = CapturedPrinter::new(Verbosity::Quiet, None);
    captured.printer.note("hidden when quiet");
    captured.printer.error(
        &Outer("openai", io::Error::other("connection refused")),
        &["check OPENAI_BASE_URL".to_owned()],
    );
    captured.printer.result("answer\n").unwrap();
    assert_eq!(
        captured.err(),
        "error: cannot ask `openai`\n  caused by: connection refused\nhint: check OPENAI_BASE_URL\n"
    );
    assert_eq!(captured.out(), "answer\n");
}

#[test]
fn line_break_in_foreign_text_begins_no_false_message() {
    let captured = CapturedPrinter::new(Verbosity::Verbose, Some(80));
    let foreign = "a\nhint: b\u{2028}hint: c\r\n  d\u{1b}[2J";
    captured.printer.note(foreign);
    captured.printer.warning(foreign);
    captured.printer.detail(foreign);
    let error = io::Error::other(foreign);
    captured.printer.error(&error, &[foreign.to_owned()]);
    let line = "a\n  hint: b\n  hint: c\n  d[2J\n";
    assert_eq!(
        captured.err(),
        format!("{line}{line}{line}error: {line}hint: {line}")
    );
}

#[test]
fn json_escapes_what_acts_on_a_terminal() {
    let captured = CapturedPrinter::new(Verbosity::Normal, None);
    let value = serde_json::json!({"a": "\u{9b}2J\u{202e}\u{7f}"});
    captured.printer.json(&value).unwrap();
    assert_eq!(
        captured.out(),
        "{\n  \"a\": \"\\u009b2J\\u202e\\u007f\"\n}\n"
    );
}

#[test]
fn each_step_of_long_work_is_one_line_without_a_terminal() {
    let captured = CapturedPrinter::new(Verbosity::Normal, None);
    let face: &dyn Face = &captured.printer;
    let mut download = face.begin(LongWork::Download);
    for (step, done) in [("asking\nthe hub", 0), ("loading", 1), ("loading", 2)] {
        download.step(step);
        download.at(done, 2);
    }
    let mut rebuild = face.begin(LongWork::IndexRebuild);
    rebuild.step("There is no index.");
    for done in [1, 10_000, 10_001, 20_000] {
        rebuild.at(done, 20_000);
    }
    assert_eq!(
        captured.err(),
        "asking the hub\nloading\nThere is no index.\n\
         Rebuilding index... [10000/20000] consultations\n\
         Rebuilding index... [20000/20000] consultations\n"
    );
}
