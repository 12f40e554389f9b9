//! The processor: whether it can run the model, and the number of threads to use.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::time::Duration;

/// The error for a processor without instructions that the engine needs.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the local model needs a processor with {0}, which this machine does not have")]
pub struct ProcessorError(pub &'static str);

/// Without them the process would crash.
pub fn check() -> Result<(), ProcessorError> {
    #[cfg(target_arch = "x86_64")]
    require(&[
        ("AVX2", std::arch::is_x86_feature_detected!("avx2")),
        ("FMA", std::arch::is_x86_feature_detected!("fma")),
        ("F16C", std::arch::is_x86_feature_detected!("f16c")),
        ("BMI2", std::arch::is_x86_feature_detected!("bmi2")),
    ])?;
    Ok(())
}

#[cfg(any(target_arch = "x86_64", test))]
fn require(instructions: &[(&'static str, bool)]) -> Result<(), ProcessorError> {
    match instructions.iter().find(|(_, is_present)| !is_present) {
        Some((missing, _)) => Err(ProcessorError(missing)),
        None => Ok(()),
    }
}

/// Two threads on one core are slower than one.
pub fn physical_cores() -> NonZeroUsize {
    let allowed = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let cores = fs::read_dir("/sys/devices/system/cpu");
    let paths = cores
        .into_iter()
        .flatten()
        .flatten()
        .map(|core| core.path());
    let siblings = paths.map(|core| fs::read_to_string(core.join("topology/thread_siblings_list")));
    let cores: BTreeSet<String> = siblings.filter_map(Result::ok).collect();
    NonZeroUsize::new(cores.len()).map_or(allowed, |cores| cores.min(allowed))
}

/// The shortest time that says how busy a machine is: the system counts in hundredths of a second.
const SHORTEST_LOOK: Duration = Duration::from_millis(200);

/// The processor's time on Linux, in the units of `/proc/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcessorTime {
    cores: u64,
    all: u64,
    busy: u64,
    /// The part of `busy` that this process took.
    own: u64,
}

/// A look at what else the machine does, from its beginning to the choice of the threads.
#[derive(Debug)]
pub struct LoadWatch {
    before: Option<ProcessorTime>,
}

impl LoadWatch {
    pub fn begin() -> Self {
        Self {
            before: ProcessorTime::now(),
        }
    }

    /// Returns the number of decoding threads: as many as cores are free of other work, at least
    /// one and at most the physical cores. `watched` is the time since the beginning.
    ///
    /// The threads wait for each other after every layer, and spin while they wait: one that shares
    /// its core delays all, and more of them take time from the rest of the machine for nothing.
    /// llama.cpp fixes the number when a context is made, so what the machine does later is not
    /// seen.
    pub fn threads(&self, watched: Duration) -> NonZeroUsize {
        let cores = physical_cores();
        let Some(before) = self.before else {
            return cores;
        };
        std::thread::sleep(SHORTEST_LOOK.saturating_sub(watched));
        let free = ProcessorTime::now().map_or(cores.get(), |now| now.free_since(before));
        NonZeroUsize::new(free.min(cores.get())).unwrap_or(NonZeroUsize::MIN)
    }
}

impl ProcessorTime {
    fn now() -> Option<Self> {
        let system = fs::read_to_string("/proc/stat").ok()?;
        let own = fs::read_to_string("/proc/self/stat").ok()?;
        Self::read(&system, &own)
    }

    fn read(system: &str, own: &str) -> Option<Self> {
        let is_core = |line: &&str| {
            let rest = line.strip_prefix("cpu").unwrap_or_default();
            rest.starts_with(|c: char| c.is_ascii_digit())
        };
        let cores = system.lines().filter(is_core).count();
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice.
        let times = system.lines().next()?.strip_prefix("cpu ")?;
        let times = times.split_whitespace().take(8).map(str::parse::<u64>);
        let times: Vec<u64> = times.collect::<Result<_, _>>().ok()?;
        let waiting: u64 = times.iter().skip(3).take(2).sum();
        let all: u64 = times.iter().sum();
        // The name of the program may have blanks. utime and stime are the 14th and 15th field.
        let (_, own) = own.rsplit_once(')')?;
        let own = own
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(str::parse::<u64>);
        Some(Self {
            cores: u64::try_from(cores).ok()?,
            all,
            busy: all.saturating_sub(waiting),
            own: own.sum::<Result<_, _>>().ok()?,
        })
    }

    /// A little work of other programs takes no core.
    fn free_since(self, before: Self) -> usize {
        let since = |now: u64, before: u64| now.saturating_sub(before);
        let own = since(self.own, before.own);
        let others = since(self.busy, before.busy).saturating_sub(own);
        // In hundredths of a core.
        let taken = 100 * self.cores * others / since(self.all, before.all).max(1);
        let free = (100 * self.cores).saturating_sub(taken) + 40;
        usize::try_from(free / 100).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_without_an_instruction_is_refused_by_its_name() {
        assert_eq!(require(&[("AVX2", true), ("FMA", true)]), Ok(()));
        let refused = require(&[("AVX2", false), ("FMA", true)]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the local model needs a processor with AVX2, which this machine does not have"
        );
    }

    #[test]
    fn there_are_no_more_physical_cores_than_the_process_may_use() {
        assert!(physical_cores() <= std::thread::available_parallelism().unwrap());
        assert!(LoadWatch::begin().threads(SHORTEST_LOOK) <= physical_cores());
    }

    #[test]
    fn other_work_leaves_fewer_cores() {
        let time = |user: u64, idle: u64, own: u64| {
            let system = format!("cpu  {user} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1\ncpu1 1\nintr 5\n");
            let own = format!("7 (a b) c) R 1 7 7 0 -1 0 0 0 0 0 {own} 3 0 0 20");
            ProcessorTime::read(&system, &own).unwrap()
        };
        // Of two cores, over a second: of others, of this process, and what is free.
        for (others, own, free) in [
            (0, 0, 2),
            (30, 100, 2),
            (70, 0, 1),
            (100, 90, 1),
            (200, 0, 0),
        ] {
            let before = time(1_000, 5_000, 10);
            let busy = others + own;
            let now = time(1_000 + busy, 5_000 + 200 - busy.min(200), 10 + own);
            assert_eq!(now.free_since(before), free, "{others} {own}");
        }
    }
}
