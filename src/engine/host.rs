//! What the system may refuse: file handles for a runtime, threads, and room in a file. A refusal
//! is an error or is worked around; it never ends the process.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// Builds a runtime of one thread, with timers, network and signals.
///
/// # Errors
///
/// When the system refuses the file handles.
pub fn runtime() -> io::Result<Runtime> {
    has_handles()?;
    Builder::new_current_thread().enable_all().build()
}

/// Opens as many file handles as a runtime needs, and closes them: tokio panics without those for
/// its signals.
fn has_handles() -> io::Result<()> {
    use std::os::unix::net::UnixStream;
    let _pairs = [
        UnixStream::pair()?,
        UnixStream::pair()?,
        UnixStream::pair()?,
    ];
    Ok(())
}

/// Runs a job on a thread of its own, or on this one if there is none to be had. `None` if it
/// panicked.
pub async fn run_aside<T: Send + 'static>(
    name: &str,
    job: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    // A thread that cannot start drops its closure, so the job is handed to it afterwards.
    let (to_thread, jobs) = std::sync::mpsc::channel();
    let (done, result) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            if let Ok(job) = jobs.recv() {
                let job: Box<dyn FnOnce() -> T + Send> = job;
                // The caller may have been dropped.
                let _ = done.send(job());
            }
        });
    if thread.is_err() {
        return Some(job());
    }
    to_thread.send(Box::new(job)).ok()?;
    result.await.ok()
}

/// Makes writes above the limit on the size of a file fail like those to a full disk. Without this,
/// the system ends the process.
pub fn survive_file_size_limit() {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays when the runtime is gone. Without one, the limit ends the process as
    // before.
    if let Ok(runtime) = runtime() {
        let _inside = runtime.enter();
        let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
    }
}
