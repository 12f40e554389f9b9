//! A process of the program, and what it writes.

use std::io::Read;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use super::RunOutput;
use crate::support::timeout::WAIT_TIMEOUT;

/// A process under way. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct RunningProcess {
    pid: Pid,
    ended: mpsc::Receiver<ExitStatus>,
    stdout: Stream,
    stderr: Stream,
}

/// What a process has written to a pipe so far.
#[derive(Debug)]
struct Stream {
    bytes: Arc<(Mutex<Vec<u8>>, Condvar)>,
    closed: mpsc::Receiver<()>,
}

impl RunningProcess {
    /// Takes over a child process and reads what it writes to pipes.
    pub(crate) fn of(mut child: Child) -> Self {
        let stdout = Stream::of(child.stdout.take());
        let stderr = Stream::of(child.stderr.take());
        let pid = Pid::from_child(&child);
        let (sender, ended) = mpsc::channel();
        // The thread ends with the child, which is killed at the latest when this is dropped.
        std::thread::spawn(move || sender.send(child.wait().unwrap()));
        Self {
            pid,
            ended,
            stdout,
            stderr,
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        match kill_process(self.pid, signal) {
            // The process may have exited by itself a moment ago.
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns whether the process has this file open now.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_open(&self, file: &Path) -> bool {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.pid.as_raw_nonzero()))
            .into_iter()
            .flatten()
            .flatten();
        open.into_iter()
            .any(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target == file))
    }

    /// Returns whether the process has ended.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_ended(&self) -> bool {
        !Path::new(&format!("/proc/{}", self.pid.as_raw_nonzero())).exists()
    }

    /// Waits until standard error fulfils the condition.
    pub(crate) fn wait_until(&self, description: &str, condition: impl Fn(&str) -> bool) {
        self.stderr.wait_until(description, condition);
    }

    /// Waits for the first line of standard output.
    pub(crate) fn first_line(&self) -> String {
        self.stdout
            .wait_until("it prints a line", |text| text.contains('\n'));
        self.stdout.text().lines().next().unwrap().to_owned()
    }

    /// Waits for the process to exit; kills it and fails the test when it hangs.
    pub(crate) fn wait(self) -> RunOutput {
        let Ok(status) = self.ended.recv_timeout(WAIT_TIMEOUT) else {
            panic!(
                "the run hangs; stdout and stderr so far:\n{}\n{}",
                self.stdout.text(),
                self.stderr.text()
            );
        };
        RunOutput {
            code: status.code(),
            stdout: self.stdout.to_the_end(),
            stderr: self.stderr.to_the_end(),
        }
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        if let Err(mpsc::TryRecvError::Empty) = self.ended.try_recv() {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }
}

impl Stream {
    /// Reads on a thread, so that a full pipe never blocks the child.
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (sender, closed) = mpsc::channel();
        let read = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let mut part = [0; 16_384];
            if let Some(mut pipe) = pipe {
                while let count @ 1.. = pipe.read(&mut part).unwrap() {
                    read.0.lock().unwrap().extend_from_slice(&part[..count]);
                    read.1.notify_all();
                }
            }
            sender.send(())
        });
        Self { bytes, closed }
    }

    fn text(&self) -> String {
        let bytes = self.bytes.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8(bytes.clone()).expect("only UTF-8 is written")
    }

    /// Waits until the text so far fulfils the condition.
    fn wait_until(&self, description: &str, condition: impl Fn(&str) -> bool) {
        let (bytes, changed) = &*self.bytes;
        let is_missing = |bytes: &mut Vec<u8>| !condition(&String::from_utf8_lossy(bytes));
        let (bytes, waited) = changed
            .wait_timeout_while(bytes.lock().unwrap(), WAIT_TIMEOUT, is_missing)
            .unwrap();
        assert!(
            !waited.timed_out(),
            "timed out waiting until {description}: {}",
            String::from_utf8_lossy(&bytes)
        );
    }

    /// Waits until no process can write any more. A program that the process started may outlive
    /// it.
    fn to_the_end(&self) -> String {
        let closed = self.closed.recv_timeout(WAIT_TIMEOUT);
        assert!(
            closed.is_ok(),
            "the output is not closed after the end of the run: {}",
            self.text()
        );
        self.text()
    }
}
