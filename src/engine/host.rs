//! What the system may refuse: file handles for a runtime, threads, and room in a file. A refusal
//! is an error or is worked around; it never ends the process.

use std::io;
use std::panic::resume_unwind;
use std::thread;

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

/// Builds a runtime for many consultations: a thread for each processor where the system has them,
/// or one as above.
///
/// # Errors
///
/// When the system refuses the file handles.
pub fn runtime_for_many() -> io::Result<Runtime> {
    let threads = processors();
    if threads == 1 || !has_threads(threads) {
        return runtime();
    }
    has_handles()?;
    Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
}

/// Returns the results of a job for each item, in order. The items are divided among the processors.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], job: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let share = items.len().div_ceil(processors()).max(1);
    let of = |items: &[T]| items.iter().map(&job).collect::<Vec<R>>();
    thread::scope(|scope| {
        let start = |items| {
            let thread = thread::Builder::new().spawn_scoped(scope, move || of(items));
            thread.map_err(|_| items)
        };
        let started: Vec<_> = items.chunks(share).map(start).collect();
        let results = started.into_iter().flat_map(|started| match started {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // Without a thread, on this one.
            Err(items) => of(items),
        });
        results.collect()
    })
}

/// More threads would wait for each other.
fn processors() -> usize {
    const MAX: usize = 8;
    thread::available_parallelism().map_or(1, |count| count.get().min(MAX))
}

/// Tokio panics without them.
fn has_threads(count: usize) -> bool {
    let start = |_| {
        let (held, end) = std::sync::mpsc::channel::<()>();
        let thread = thread::Builder::new().spawn(move || end.recv().ok());
        thread.map(|thread| (held, thread))
    };
    let started: Vec<_> = (0..count).map_while(|nth| start(nth).ok()).collect();
    let are_all = started.len() == count;
    for (held, thread) in started {
        drop(held);
        drop(thread.join());
    }
    are_all
}

/// Tokio panics without those for its signals.
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
    let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
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
