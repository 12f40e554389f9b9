//! Tests of the live area on a terminal emulator, in virtual time.

use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// The most that three waiting seats may write to the terminal in a second.
const MAX_BYTES_PER_SECOND: usize = 2_000;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn area(columns: usize) -> (LiveArea, Written) {
    let written = Written::default();
    let size = move || TerminalSize { columns, rows: 24 };
    let writer = Box::new(written.clone());
    let traits = StreamTraits {
        is_terminal: true,
        is_animated: true,
        is_synchronized: true,
        paint: Paint::COLOUR,
        width: columns,
    };
    let area = LiveArea::new(writer, traits, Typing::Own, TerminalModes::default(), size);
    // Without the thread: the test draws.
    area.0.thread.set(true).unwrap();
    (area, written)
}

fn terminal(columns: u16) -> vt100::Parser {
    let cells = |number| NonZeroU16::new(number).unwrap();
    vt100::Parser::new(cells(24), cells(columns), 0)
}

/// Three rows and the line of the run as a consultation has them, with as much text as is usual.
fn waiting_rows(elapsed: Duration) -> Vec<String> {
    let paint = Paint::COLOUR;
    let frame = elapsed.as_millis() / FRAME.as_millis();
    let spinner = ["⠋", "⠙", "⠹", "⠸"][usize::try_from(frame).unwrap() % 4];
    let clock = format!("0:{:02}", elapsed.as_secs());
    let row = |name| {
        format!(
            "{} {}  {}  {}",
            paint.cyan(spinner),
            paint.bold(name),
            paint.dim("claude-sonnet-5-5"),
            paint.yellow(&format!("waiting for the first byte · {clock}"))
        )
    };
    let run = format!("Round 1 of 4 · independent answers · {clock} · $0.00 of about $0.27");
    vec![
        row("Security Expert"),
        row("Architect      "),
        row("Pragmatist     "),
        paint.dim(&run),
    ]
}

#[tokio::test(start_paused = true)]
async fn waiting_writes_at_most_two_kilobytes_a_second() {
    for columns in [50, 80, 200] {
        let (area, written) = area(columns);
        let mut terminal = terminal(u16::try_from(columns).unwrap());
        area.start(|elapsed, _| waiting_rows(elapsed));
        area.0.draw(&mut area.0.state());
        terminal.process(&written.take());
        let mut bytes = 0;
        for _ in 0..30 {
            for _ in 0..Duration::from_secs(1).as_millis() / FRAME.as_millis() {
                tokio::time::advance(FRAME).await;
                area.0.draw(&mut area.0.state());
            }
            let second = written.take();
            bytes += second.len();
            terminal.process(&second);
        }
        assert!(bytes <= 30 * MAX_BYTES_PER_SECOND, "{columns}: {bytes}");
        let screen = terminal.screen().contents();
        assert!(screen.contains("⠋ Security Expert"), "{screen}");
        assert_eq!(screen.lines().count(), 4, "{screen}");
    }
}

#[test]
fn rows_that_did_not_change_write_nothing() {
    let (area, written) = area(80);
    area.start(|_, _| vec!["one".to_owned(), "two".to_owned()]);
    area.0.draw(&mut area.0.state());
    assert!(!written.take().is_empty());
    area.0.draw(&mut area.0.state());
    assert_eq!(written.take(), b"");
}

#[test]
fn lines_stand_above_the_rows_and_a_footer_below() {
    let (area, written) = area(80);
    let mut terminal = terminal(80);
    area.start(|_, _| vec!["row".to_owned()]);
    area.print(|last| last.apart("line\n")).unwrap();
    let footer = area.footer(|_| vec!["Go on?".to_owned()]).unwrap();
    footer.redraw();
    area.print(|last| last.apart("next\n")).unwrap();
    terminal.process(&written.take());
    assert_eq!(terminal.screen().contents(), "line\nnext\nrow\n\nGo on?");
    assert!(terminal.screen().hide_cursor());
    drop(footer);
    area.stop();
    area.print(|last| last.apart("end\n")).unwrap();
    terminal.process(&written.take());
    assert_eq!(terminal.screen().contents(), "line\nnext\nend");
    assert!(!terminal.screen().hide_cursor());
}

#[test]
fn panic_removes_the_rows_and_shows_the_cursor() {
    struct Owner(LiveArea);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.stop();
        }
    }

    let (area, written) = area(80);
    let mut terminal = terminal(80);
    let same_area = area.clone();
    let panicked = catch_unwind(AssertUnwindSafe(move || {
        let owner = Owner(same_area);
        owner.0.start(|_, _| vec!["row".to_owned()]);
        owner.0.0.draw(&mut owner.0.0.state());
        // The hook prints the message while the rows are drawn.
        owner.0.try_print_line("panicked");
        panic!("as a defect does");
    }));
    assert!(panicked.is_err());
    terminal.process(&written.take());
    assert_eq!(terminal.screen().contents(), "panicked");
    assert!(!terminal.screen().hide_cursor());
    assert!(area.0.modes.is_in_foreground());
}
