//! Runs another program with a limit of time and of output. The program has a process group of its
//! own, which ends as a whole: at the limit, and when this process ends, even by a kill.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, kill_process_group};

pub use rustix::process::Signal;

/// Time between two looks at a process whose output is still open.
const STEP: Duration = Duration::from_millis(20);

/// Time between two looks at a process that has closed its output and is about to end.
const LAST_STEP: Duration = Duration::from_millis(1);

/// Longest wait for output after the end: what a program leaves running may hold it open.
const STRAGGLING: Duration = Duration::from_millis(500);

/// Says whether a person has interrupted this process, and what it started has to end.
pub type IsInterrupted<'a> = &'a dyn Fn() -> bool;

/// The process group that a program runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessGroup {
    /// All that it starts ends with it.
    Own,
    /// That of this process: it may ask on the terminal.
    Shared,
}

/// The reason why a program is no longer running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    Exited(ExitStatus),
    TimedOut,
    Interrupted,
}

/// The part of an output that stays in memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputPart {
    First(usize),
    Last(usize),
}

/// What a program wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessOutput {
    pub bytes: Vec<u8>,
    /// There was more.
    pub is_cut: bool,
}

/// Runs a program with nothing on its standard input. Returns what it wrote to its two outputs.
///
/// # Errors
///
/// When the program cannot be started or watched.
pub fn run(
    mut command: Command,
    group: ProcessGroup,
    time_limit: Duration,
    (stdout, stderr): (OutputPart, OutputPart),
    is_interrupted: IsInterrupted<'_>,
) -> io::Result<(ProcessEnd, ProcessOutput, ProcessOutput)> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = RunningProgram::start(&mut command, group)?;
    let (out, err) = (program.child.stdout.take(), program.child.stderr.take());
    let out = out.map(|stream| Stream::collect(stream, stdout));
    let err = err.map(|stream| Stream::collect(stream, stderr));
    let streams: io::Result<Vec<Stream>> = out.into_iter().chain(err).collect();
    let (end, outputs) = program.finish(streams, time_limit, is_interrupted)?;
    let mut outputs = outputs.into_iter();
    let mut next = || outputs.next().unwrap_or_default();
    Ok((end, next(), next()))
}

/// Runs a program whose two outputs are one stream, in the order in which it writes.
pub fn run_merged(
    mut command: Command,
    time_limit: Duration,
    part: OutputPart,
    is_interrupted: IsInterrupted<'_>,
) -> io::Result<(ProcessEnd, ProcessOutput)> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut program = RunningProgram::start(&mut command, ProcessGroup::Own)?;
    // It has this process's copies of the pipe, which would hold it open.
    drop(command);
    let streams = Stream::collect(reader, part).map(|stream| vec![stream]);
    let (end, outputs) = program.finish(streams, time_limit, is_interrupted)?;
    Ok((end, outputs.into_iter().next().unwrap_or_default()))
}

/// A program that runs.
struct RunningProgram {
    child: Child,
    /// `None` in the group of this process.
    leader: Option<GroupLeader>,
}

/// The first process of a group: a shell that ends the group when this process is gone. It reads a
/// pipe that this process alone has open, and nothing is ever written to it.
#[derive(Debug)]
pub struct GroupLeader(Child);

impl GroupLeader {
    pub fn start() -> io::Result<Self> {
        let mut shell = Command::new("sh");
        // What it writes says that it ignores the signals that programs may end by.
        shell.args([
            "-c",
            "trap '' HUP INT PIPE TERM; echo; read -r line; kill -KILL 0",
        ]);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        shell.stderr(Stdio::null()).process_group(0);
        shell.spawn().map(Self)
    }

    /// Returns the group's id for [`Command::process_group`].
    pub fn id(&self) -> i32 {
        self.0.id().cast_signed()
    }

    /// Sends a signal to the group. Processes that have left it do not get it.
    pub fn signal(&mut self, signal: Signal) {
        if signal != Signal::KILL
            && let Some(mut ready) = self.0.stdout.take()
        {
            // At most as long as a shell takes to start.
            let _ = ready.read(&mut [0]);
        }
        // A group without a process has nothing to end.
        let _ = kill_process_group(Pid::from_child(&self.0), signal);
    }
}

impl Drop for GroupLeader {
    /// Ends the shell alone: what a program leaves running on purpose stays.
    fn drop(&mut self) {
        end(&mut self.0);
    }
}

/// The process may have ended just now; either way it is gone.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

impl RunningProgram {
    fn start(command: &mut Command, group: ProcessGroup) -> io::Result<Self> {
        command.stdin(Stdio::null());
        let is_own = group == ProcessGroup::Own;
        let leader = is_own.then(GroupLeader::start).transpose()?;
        if let Some(leader) = &leader {
            command.process_group(leader.id());
        }
        let child = command.spawn()?;
        Ok(Self { child, leader })
    }

    fn finish(
        &mut self,
        streams: io::Result<Vec<Stream>>,
        time_limit: Duration,
        is_interrupted: IsInterrupted<'_>,
    ) -> io::Result<(ProcessEnd, Vec<ProcessOutput>)> {
        let ended = streams.and_then(|streams| {
            let end = self.wait(&streams, time_limit, is_interrupted)?;
            Ok((end, streams.into_iter().map(Stream::output).collect()))
        });
        ended.inspect_err(|_| self.kill())
    }

    /// A program that must not continue is killed.
    fn wait(
        &mut self,
        streams: &[Stream],
        time_limit: Duration,
        is_interrupted: IsInterrupted<'_>,
    ) -> io::Result<ProcessEnd> {
        let mut waited = Duration::ZERO;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(ProcessEnd::Exited(status));
            }
            let end = if is_interrupted() {
                Some(ProcessEnd::Interrupted)
            } else if waited >= time_limit {
                Some(ProcessEnd::TimedOut)
            } else {
                None
            };
            if let Some(end) = end {
                self.kill();
                return Ok(end);
            }
            if let Some(stream) = streams.iter().find(|stream| stream.is_open()) {
                // Most programs end a moment after their output.
                if stream.end.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                    waited += STEP;
                }
            } else {
                std::thread::sleep(LAST_STEP);
                waited += LAST_STEP;
            }
        }
    }

    /// Ends the program with what it started.
    fn kill(&mut self) {
        if let Some(leader) = &mut self.leader {
            leader.signal(Signal::KILL);
        }
        end(&mut self.child);
    }
}

/// One output, read while the program runs so that a full pipe never blocks it.
struct Stream {
    kept: Arc<Mutex<KeptBytes>>,
    /// Disconnected when the stream has ended.
    end: mpsc::Receiver<()>,
}

impl Stream {
    /// A process that the program left running may hold the stream open: then the thread ends with
    /// this process.
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
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    }

    fn not_interrupted() -> IsInterrupted<'static> {
        &|| false
    }

    #[test]
    fn outputs_and_exit_status_are_returned() {
        let parts = (OutputPart::First(4), OutputPart::Last(4));
        let script = "echo abcdef; echo ABCDEF >&2; exit 3";
        let group = ProcessGroup::Own;
        let ran = run(shell(script), group, LONG, parts, not_interrupted());
        let (end, stdout, stderr) = ran.unwrap();
        assert!(matches!(end, ProcessEnd::Exited(status) if status.code() == Some(3)));
        assert_eq!(stdout.bytes, b"abcd");
        assert_eq!(stderr.bytes, b"DEF\n");
        assert!(stdout.is_cut);
        assert!(stderr.is_cut);
    }

    #[test]
    fn merged_outputs_keep_their_order() {
        let script = "echo 1; echo 2 >&2; echo 3";
        let part = OutputPart::Last(100);
        let (_, output) = run_merged(shell(script), LONG, part, not_interrupted()).unwrap();
        assert_eq!(output.bytes, b"1\n2\n3\n");
        assert!(!output.is_cut);
    }

    #[test]
    fn program_reads_nothing() {
        let (end, _) =
            run_merged(shell("cat"), LONG, OutputPart::Last(9), not_interrupted()).unwrap();
        assert!(matches!(end, ProcessEnd::Exited(status) if status.success()));
    }

    #[test]
    fn slow_program_is_killed_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let script = "(trap '' TERM; sleep 60; touch survived) & wait";
        let mut command = shell(script);
        command.current_dir(folder.path());
        let (part, limit) = (OutputPart::Last(9), Duration::from_millis(50));
        // The output ends when no process has it open.
        let (end, output) = run_merged(command, limit, part, not_interrupted()).unwrap();
        assert_eq!(end, ProcessEnd::TimedOut);
        assert_eq!(output.bytes, b"");
    }

    #[test]
    fn what_a_program_leaves_running_stays() {
        let script = "sleep 60 > /dev/null 2>&1 & echo $!";
        let part = OutputPart::Last(100);
        let (_, output) = run_merged(shell(script), LONG, part, not_interrupted()).unwrap();
        let id = String::from_utf8(output.bytes).unwrap();
        let id = Pid::from_raw(id.trim().parse().unwrap()).unwrap();
        rustix::process::test_kill_process(id).unwrap();
        rustix::process::kill_process(id, Signal::KILL).unwrap();
    }

    #[test]
    fn interrupted_program_is_killed() {
        let is_interrupted = &|| true;
        let (end, _) =
            run_merged(shell("sleep 60"), LONG, OutputPart::Last(9), is_interrupted).unwrap();
        assert_eq!(end, ProcessEnd::Interrupted);
    }

    #[test]
    fn missing_program_is_an_error() {
        let missing = Command::new("no-such-program-anywhere");
        let error = run_merged(missing, LONG, OutputPart::Last(9), not_interrupted()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
