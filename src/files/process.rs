//! Runs another program with a limit of time and of output, in a process group of its own that ends
//! as a whole.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::domain::time::Timestamp;

/// Time between two looks at a process whose output is still open.
const STEP: Duration = Duration::from_millis(20);

/// Time between two looks at a process that has closed its output and is about to end.
const LAST_STEP: Duration = Duration::from_millis(1);

/// Longest wait for output after the end: what a program leaves running may hold it open.
const STRAGGLING: Duration = Duration::from_millis(500);

/// What a program under way needs from outside: the time, and whether a person has interrupted it.
#[derive(Clone, Copy)]
pub struct Supervisor<'a> {
    pub now: &'a dyn Fn() -> Timestamp,
    pub is_interrupted: &'a dyn Fn() -> bool,
}

impl std::fmt::Debug for Supervisor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Supervisor").finish_non_exhaustive()
    }
}

/// The reason why a program is no longer running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    Exited(ExitStatus),
    TimedOut,
    Interrupted,
}

/// The part of an output that stays in memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputPart {
    First(usize),
    Last(usize),
}

/// What a program wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessOutput {
    pub(super) bytes: Vec<u8>,
    /// There was more.
    pub(super) is_cut: bool,
}

/// Runs a program with nothing on its standard input. Returns what it wrote to its two outputs.
pub(super) fn run(
    mut command: Command,
    time_limit: Duration,
    (stdout, stderr): (OutputPart, OutputPart),
    supervisor: Supervisor<'_>,
) -> io::Result<(ProcessEnd, ProcessOutput, ProcessOutput)> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = start(&mut command)?;
    let out = child
        .stdout
        .take()
        .map(|stream| Stream::collect(stream, stdout));
    let err = child
        .stderr
        .take()
        .map(|stream| Stream::collect(stream, stderr));
    let streams: io::Result<Vec<Stream>> = out.into_iter().chain(err).collect();
    let (end, outputs) = finish(&mut child, streams, time_limit, supervisor)?;
    let mut outputs = outputs.into_iter();
    let mut next = || outputs.next().unwrap_or_default();
    Ok((end, next(), next()))
}

/// Runs a program whose two outputs are one stream, in the order in which it writes.
pub(super) fn run_merged(
    mut command: Command,
    time_limit: Duration,
    part: OutputPart,
    supervisor: Supervisor<'_>,
) -> io::Result<(ProcessEnd, ProcessOutput)> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = start(&mut command)?;
    // It has this process's copies of the pipe, which would hold it open.
    drop(command);
    let streams = Stream::collect(reader, part).map(|stream| vec![stream]);
    let (end, outputs) = finish(&mut child, streams, time_limit, supervisor)?;
    Ok((end, outputs.into_iter().next().unwrap_or_default()))
}

fn start(command: &mut Command) -> io::Result<Child> {
    command.stdin(Stdio::null());
    std::os::unix::process::CommandExt::process_group(command, 0);
    command.spawn()
}

fn finish(
    child: &mut Child,
    streams: io::Result<Vec<Stream>>,
    time_limit: Duration,
    supervisor: Supervisor<'_>,
) -> io::Result<(ProcessEnd, Vec<ProcessOutput>)> {
    let ended = streams.and_then(|streams| {
        let end = wait(child, &streams, time_limit, supervisor)?;
        Ok((end, streams.into_iter().map(Stream::output).collect()))
    });
    ended.inspect_err(|_| kill(child))
}

/// Waits for the end; a program that must not continue is killed.
fn wait(
    child: &mut Child,
    streams: &[Stream],
    time_limit: Duration,
    supervisor: Supervisor<'_>,
) -> io::Result<ProcessEnd> {
    let began = (supervisor.now)();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(ProcessEnd::Exited(status));
        }
        let end = if (supervisor.is_interrupted)() {
            Some(ProcessEnd::Interrupted)
        } else if (supervisor.now)().since(began) >= time_limit {
            Some(ProcessEnd::TimedOut)
        } else {
            None
        };
        if let Some(end) = end {
            kill(child);
            return Ok(end);
        }
        match streams.iter().find(|stream| stream.is_open()) {
            // Most programs end a moment after their output.
            Some(stream) => {
                let _ = stream.end.recv_timeout(STEP);
            }
            None => std::thread::sleep(LAST_STEP),
        }
    }
}

/// Ends a program with what it started. Any of it may have ended just now; either way it is gone.
fn kill(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};

    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

/// One output, read while the program runs so that a full pipe never blocks it.
struct Stream {
    kept: Arc<Mutex<KeptBytes>>,
    /// Disconnected when the stream has ended.
    end: mpsc::Receiver<()>,
}

impl Stream {
    /// Reads a stream on a thread of its own, which ends with the stream. A process that the program
    /// left running may hold the stream open: then the thread ends with this process.
    fn collect(mut stream: impl Read + Send + 'static, part: OutputPart) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(KeptBytes {
            part,
            bytes: VecDeque::new(),
            is_cut: false,
        }));
        let (sender, end) = mpsc::channel();
        let shared = Arc::clone(&kept);
        std::thread::Builder::new().spawn(move || {
            let mut chunk = [0; 16 * 1024];
            loop {
                match stream.read(&mut chunk) {
                    Ok(count @ 1..) => {
                        let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        kept.add(chunk.get(..count).unwrap_or_default());
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => break,
                }
            }
            drop(sender);
        })?;
        Ok(Self { kept, end })
    }

    fn is_open(&self) -> bool {
        matches!(self.end.try_recv(), Err(TryRecvError::Empty))
    }

    fn output(self) -> ProcessOutput {
        // Either the stream has ended, which drops the sender, or it is not waited for.
        let _ = self.end.recv_timeout(STRAGGLING);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        ProcessOutput {
            bytes: std::mem::take(&mut kept.bytes).into(),
            is_cut: kept.is_cut,
        }
    }
}

/// The bytes of an output that stay in memory.
struct KeptBytes {
    part: OutputPart,
    bytes: VecDeque<u8>,
    is_cut: bool,
}

impl KeptBytes {
    fn add(&mut self, chunk: &[u8]) {
        match self.part {
            OutputPart::First(most) => {
                let room = most.saturating_sub(self.bytes.len());
                self.bytes.extend(chunk.iter().take(room));
                self.is_cut |= chunk.len() > room;
            }
            OutputPart::Last(most) => {
                self.bytes.extend(chunk);
                let excess = self.bytes.len().saturating_sub(most);
                self.bytes.drain(..excess);
                self.is_cut |= excess > 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    }

    /// A clock that does not move.
    fn unhurried() -> Supervisor<'static> {
        Supervisor {
            now: &|| Timestamp(0),
            is_interrupted: &|| false,
        }
    }

    #[test]
    fn outputs_and_exit_status_are_returned() {
        let parts = (OutputPart::First(4), OutputPart::Last(4));
        let script = "echo abcdef; echo ABCDEF >&2; exit 3";
        let (end, stdout, stderr) = run(shell(script), LONG, parts, unhurried()).unwrap();
        assert!(matches!(end, ProcessEnd::Exited(status) if status.code() == Some(3)));
        assert_eq!(stdout.bytes, b"abcd");
        assert_eq!(stderr.bytes, b"DEF\n");
        assert!(stdout.is_cut);
        assert!(stderr.is_cut);
    }

    #[test]
    fn merged_outputs_keep_their_order() {
        let script = "echo 1; echo 2 >&2; echo 3";
        let (_, output) =
            run_merged(shell(script), LONG, OutputPart::Last(100), unhurried()).unwrap();
        assert_eq!(output.bytes, b"1\n2\n3\n");
        assert!(!output.is_cut);
    }

    #[test]
    fn program_reads_nothing() {
        let (end, _) = run_merged(shell("cat"), LONG, OutputPart::Last(9), unhurried()).unwrap();
        assert!(matches!(end, ProcessEnd::Exited(status) if status.success()));
    }

    /// Each look at the clock takes a second.
    #[test]
    fn slow_program_is_killed_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let seconds = Cell::new(0);
        let supervisor = Supervisor {
            now: &|| {
                seconds.set(seconds.get() + 1);
                Timestamp(seconds.get() * 1000)
            },
            is_interrupted: &|| false,
        };
        let script = "(trap '' TERM; sleep 60; touch survived) & wait";
        let mut command = shell(script);
        command.current_dir(folder.path());
        let (end, output) = run_merged(command, LONG, OutputPart::Last(9), supervisor).unwrap();
        assert_eq!(end, ProcessEnd::TimedOut);
        assert_eq!(output.bytes, b"");
    }

    #[test]
    fn interrupted_program_is_killed() {
        let supervisor = Supervisor {
            now: &|| Timestamp(0),
            is_interrupted: &|| true,
        };
        let (end, _) =
            run_merged(shell("sleep 60"), LONG, OutputPart::Last(9), supervisor).unwrap();
        assert_eq!(end, ProcessEnd::Interrupted);
    }

    #[test]
    fn missing_program_is_an_error() {
        let missing = Command::new("no-such-program-anywhere");
        let error = run_merged(missing, LONG, OutputPart::Last(9), unhurried()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
