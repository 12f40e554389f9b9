//! The processor: whether it can run the model, and the number of threads to use.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;

/// The error for a processor without instructions that the engine needs.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the local model needs a processor with {0}, which this machine does not have")]
pub struct ProcessorError(pub &'static str);

/// Checks for the instructions that the engine was compiled for; without them the process would
/// crash.
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

/// Refuses a processor without one of these instructions.
#[cfg(any(target_arch = "x86_64", test))]
fn require(instructions: &[(&'static str, bool)]) -> Result<(), ProcessorError> {
    match instructions.iter().find(|(_, is_present)| !is_present) {
        Some((missing, _)) => Err(ProcessorError(missing)),
        None => Ok(()),
    }
}

/// Returns the number of physical cores for this process. Two threads on one core are slower than
/// one.
pub fn physical_cores() -> NonZeroUsize {
    let allowed = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let mut cores = BTreeSet::new();
    for entry in fs::read_dir("/sys/devices/system/cpu")
        .into_iter()
        .flatten()
        .flatten()
    {
        if let Ok(siblings) = fs::read_to_string(entry.path().join("topology/thread_siblings_list"))
        {
            cores.insert(siblings);
        }
    }
    NonZeroUsize::new(cores.len()).map_or(allowed, |cores| cores.min(allowed))
}

/// Returns the number of decoding threads: the physical cores, or half of them on a busy machine.
///
/// The threads wait for each other after every layer, so one that is not scheduled delays all: with
/// ten programs on two cores, two threads were more than three times slower than one.
pub fn threads() -> NonZeroUsize {
    let cores = physical_cores();
    let status = fs::read_to_string("/proc/stat").unwrap_or_default();
    let running = status.lines().find_map(|line| {
        line.strip_prefix("procs_running ")?
            .trim()
            .parse::<usize>()
            .ok()
    });
    // This thread counts as running.
    if running.unwrap_or(1) > cores.get() {
        NonZeroUsize::new(cores.get() / 2).unwrap_or(NonZeroUsize::MIN)
    } else {
        cores
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
        assert!(threads() <= physical_cores());
    }
}
