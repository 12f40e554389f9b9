//! Runs a program in a process group of its own, which ends as a whole: after the program, when the
//! future that runs it is dropped, and with this process, even by a kill: nothing may work on an
//! answer that is paid for.
//!
//! A process that has left the group, as a daemon does, is out of reach.

use std::fs;
use std::future::pending;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use super::command::{Launch, WORKING};
use super::environment::Variables;
use super::folder::ProgramFolder;
use super::reading::{Flow, ProgramEnd};
use crate::files::process::{GroupLeader, Signal};

/// The longest line of output.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The end of the standard error that is kept.
const STDERR_BYTES: usize = 4 * 1024;

/// Time to end after a signal, before a harder one.
const GRACE: Duration = Duration::from_secs(2);

/// Longest wait for output after the end: what has left the group may hold it open.
const STRAGGLING: Duration = Duration::from_millis(500);

/// A program to run.
#[derive(Debug)]
pub(super) struct ProgramStart {
    pub program: PathBuf,
    pub launch: Launch,
    /// All that it gets.
    pub variables: Variables,
    /// Kept until its group has ended.
    pub folder: ProgramFolder,
}

/// What a program may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramLimits {
    /// Until the first line of its output.
    pub start: Option<Duration>,
    pub time: Duration,
    /// Of its standard output.
    pub bytes: u64,
}

/// Takes a line, and says whether more are wanted.
pub(super) type OnLine<'a> = &'a mut (dyn FnMut(&str) -> Flow + Send);

/// Runs a program, and passes on the lines of its output. Returns how it ended, and the end of its
/// standard error. Dropping the future ends the group.
///
/// # Errors
///
/// When it cannot be started.
pub(super) async fn run(
    mut start: ProgramStart,
    limits: ProgramLimits,
    on_line: OnLine<'_>,
) -> io::Result<(ProgramEnd, String)> {
    let input = std::mem::take(&mut start.launch.standard_input);
    let mut group = ProgramGroup::start(start)?;
    let child = &mut group.child;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(mut stderr)) = (stdin, stdout, stderr) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let (ended, end) = oneshot::channel();
    // It owns the program, and ends it when the receiver is dropped.
    Handle::current().spawn(group.watch(ended));
    let (mut errors, is_started) = (Vec::new(), Notify::new());
    let input = async move {
        // A program may end, or answer, before it has read all.
        let _ = stdin.write_all(input.as_bytes()).await;
        Ok(())
    };
    let output = read_lines(stdout, limits.bytes, &is_started, on_line);
    // Its end, with a byte that shows that there was more.
    let tail = async {
        let mut chunk = [0; 1024];
        while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
            errors.extend(chunk.iter().take(count));
            errors.drain(..errors.len().saturating_sub(STDERR_BYTES + 1));
        }
        Ok(())
    };
    let streams = async { tokio::try_join!(input, tail, output).err() };
    let exit = async { ProgramEnd::Exited(end.await.ok().flatten()) };
    let whole = async {
        match select(pin!(exit), pin!(streams)).await {
            Either::Left((end, streams)) => {
                let stopped = timeout(STRAGGLING, streams).await;
                stopped.ok().flatten().unwrap_or(end)
            }
            Either::Right((Some(stopped), _)) => stopped,
            Either::Right((None, exit)) => exit.await,
        }
    };
    let silent = async {
        match limits.start {
            Some(start) if timeout(start, is_started.notified()).await.is_err() => start,
            _ => pending().await,
        }
    };
    let end = tokio::select! {
        end = timeout(limits.time, whole) => end.unwrap_or(ProgramEnd::TimedOut(limits.time)),
        limit = silent => ProgramEnd::Silent(limit),
    };
    Ok((end, whole_words(&errors)))
}

/// A program with all that it starts. Dropping it kills them.
struct ProgramGroup {
    child: Child,
    leader: GroupLeader,
    _folder: ProgramFolder,
}

impl ProgramGroup {
    fn start(start: ProgramStart) -> io::Result<Self> {
        for (path, text) in &start.launch.files {
            fs::write(path, text)?;
        }
        let leader = GroupLeader::start()?;
        let mut command = Command::new(&start.program);
        command.args(&start.launch.arguments);
        command.env_clear().envs(&start.variables);
        command.current_dir(start.folder.root.path().join(WORKING));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // The group, and the program also if it leaves its group.
        command.process_group(leader.id()).kill_on_drop(true);
        Ok(Self {
            child: command.stderr(Stdio::piped()).spawn()?,
            leader,
            _folder: start.folder,
        })
    }

    /// Waits for the end of the program, which is that of its group. When its exit code is no
    /// longer wanted, asks it to end, and kills it if it does not.
    async fn watch(mut self, mut ended: oneshot::Sender<Option<i32>>) {
        tokio::select! {
            status = self.child.wait() => {
                drop(self);
                let _ = ended.send(status.ok().and_then(|status| status.code()));
                return;
            }
            () = ended.closed() => {}
        }
        for signal in [Signal::INT, Signal::TERM] {
            self.leader.signal(signal);
            if timeout(GRACE, self.child.wait()).await.is_ok() {
                return;
            }
        }
    }
}

impl Drop for ProgramGroup {
    fn drop(&mut self) {
        self.leader.signal(Signal::KILL);
    }
}

/// A stream has ended, or the program has to.
type Streamed = Result<(), ProgramEnd>;

async fn read_lines(
    stdout: ChildStdout,
    max_bytes: u64,
    is_started: &Notify,
    on_line: OnLine<'_>,
) -> Streamed {
    let (mut stdout, mut bytes_left) = (BufReader::new(stdout), max_bytes);
    loop {
        let (mut line, most) = (Vec::new(), bytes_left.min(MAX_LINE_BYTES));
        // A stream that cannot be read has ended.
        let _ = (&mut stdout)
            .take(most + 1)
            .read_until(b'\n', &mut line)
            .await;
        if line.is_empty() {
            return Ok(());
        }
        let Some(room) = most.checked_sub(line.len() as u64) else {
            return Err(ProgramEnd::TooMuch);
        };
        bytes_left -= most - room;
        is_started.notify_one();
        if on_line(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n'])).is_break() {
            return Err(ProgramEnd::Stopped);
        }
    }
}

/// What is left of a word that may be a key is not recognised as one: a cut text begins after it.
fn whole_words(tail: &[u8]) -> String {
    let text = String::from_utf8_lossy(tail);
    let cut = text.split_once(char::is_whitespace);
    let cut = cut.filter(|_| tail.len() > STDERR_BYTES);
    cut.map_or(&*text, |(_, whole)| whole).to_owned()
}
