//! Counts the steps of loops whose length a text from outside decides, so that a test can compare
//! two lengths: a time would depend on the machine.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts steps in tests, and is nothing elsewhere.
#[cfg_attr(not(test), expect(unused_variables, reason = "only tests count"))]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + steps);
}

#[cfg(test)]
pub(crate) fn of(work: impl FnOnce()) -> usize {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}

/// Asserts that work on four times as much takes no more than four times the steps, but for a
/// quarter.
#[cfg(test)]
pub(crate) fn assert_linear(work: impl Fn(usize), size: usize, what: &str) {
    let (small, large) = (of(|| work(size)), of(|| work(4 * size)));
    assert!(small > 0, "{what}: nothing is counted");
    assert!(large <= 5 * small, "{what}: {small} steps, then {large}");
}
