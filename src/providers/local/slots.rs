//! Slots of the model's memory: the cached tokens, and the place of a new prompt. Pure bookkeeping
//! over token ids.
//!
//! A slot is one sequence of the key-value cache. Slots share common prefixes, so a prefix of
//! several prompts is evaluated once and uses its cells once. A finished slot stays as a cache
//! until its cells or its number are needed. Invariant: the cells of all slots, and those promised
//! to the live ones, never exceed the capacity.

/// The sequences of one context.
#[derive(Debug)]
pub struct Slots {
    /// The capacity of the whole cache in tokens.
    capacity: usize,
    /// The largest number of concurrent prompts.
    parallel: usize,
    sequences: Vec<Slot>,
    /// The number of admissions, to find the least recently used idle slot.
    clock: u64,
}

#[derive(Debug, Default)]
struct Slot {
    /// The tokens that are, or will be, in the cache under this sequence.
    tokens: Vec<i32>,
    /// The number of them in the cache.
    evaluated: usize,
    /// The tokens that may still be added; `None` if the slot is idle.
    room: Option<usize>,
    used: u64,
}

/// The changes to the cache before a new prompt is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The sequence of the prompt.
    pub slot: usize,
    /// The sequence whose prefix it shares; may be the same.
    pub from: usize,
    /// The number of shared tokens.
    pub reused: usize,
    /// Sequences to clear first, including `slot` unless it is `from`.
    pub clear: Vec<usize>,
}

impl Slots {
    /// Creates slots for `parallel` prompts, and as many sequences again as a cache.
    pub fn new(capacity: usize, parallel: usize) -> Self {
        let sequences = std::iter::repeat_with(Slot::default)
            .take(Self::count(parallel))
            .collect();
        Self {
            capacity,
            parallel,
            sequences,
            clock: 0,
        }
    }

    /// Returns the number of sequences that the context must support.
    pub fn count(parallel: usize) -> usize {
        parallel.saturating_mul(2).max(2)
    }

    /// `None` if it must wait for a live one to end.
    pub fn admit(&mut self, prompt: &[i32], room: usize) -> Option<Admission> {
        let live = self.sequences.iter().filter_map(|slot| slot.room);
        if live.clone().count() >= self.parallel {
            return None;
        }
        let promised = live.sum::<usize>() + room;
        let mut clear = Vec::new();
        loop {
            let kept = |index: &usize| !clear.contains(index);
            let (from, reused) = self.longest_prefix(prompt, &clear);
            if self.cells(prompt, &clear) + promised <= self.capacity {
                // An empty slot is best, then the least recently used one; the one with the shared
                // prefix comes last.
                let (slot, _) = self.idle().min_by_key(|(index, slot)| {
                    let used = if slot.tokens.is_empty() { 0 } else { slot.used };
                    (*index == from && reused > 0, kept(index) && used > 0, used)
                })?;
                if slot != from && kept(&slot) {
                    clear.push(slot);
                }
                self.take(slot, prompt, reused, room, &clear);
                return Some(Admission {
                    slot,
                    from,
                    reused,
                    clear,
                });
            }
            let (oldest, _) = self
                .idle()
                .filter(|(index, slot)| kept(index) && !slot.tokens.is_empty())
                .min_by_key(|(_, slot)| slot.used)?;
            clear.push(oldest);
        }
    }

    fn idle(&self) -> impl Iterator<Item = (usize, &Slot)> {
        let slots = self.sequences.iter().enumerate();
        slots.filter(|(_, slot)| slot.room.is_none())
    }

    fn take(&mut self, slot: usize, prompt: &[i32], reused: usize, room: usize, clear: &[usize]) {
        self.clock += 1;
        for index in clear {
            if let Some(slot) = self.sequences.get_mut(*index) {
                *slot = Slot::default();
            }
        }
        if let Some(taken) = self.sequences.get_mut(slot) {
            *taken = Slot {
                tokens: prompt.to_vec(),
                evaluated: reused,
                room: Some(room),
                used: self.clock,
            };
        }
    }

    /// The last token is always left to evaluate.
    fn longest_prefix(&self, prompt: &[i32], without: &[usize]) -> (usize, usize) {
        let most = prompt.len().saturating_sub(1);
        let shared = |slot: &Slot| {
            let evaluated = slot.tokens.get(..slot.evaluated).unwrap_or_default();
            common(evaluated, prompt).min(most)
        };
        let candidates = self.others(without);
        candidates
            .map(|(index, slot)| (index, shared(slot)))
            .max_by_key(|(index, shared)| (*shared, usize::MAX - index))
            .unwrap_or((0, 0))
    }

    fn others<'a>(&'a self, without: &'a [usize]) -> impl Iterator<Item = (usize, &'a Slot)> {
        let slots = self.sequences.iter().enumerate();
        slots.filter(|(index, _)| !without.contains(index))
    }

    /// Returns the cells that the prompt and all slots except `without` need, with shared ones
    /// counted once.
    fn cells(&self, prompt: &[i32], without: &[usize]) -> usize {
        let slots = self.others(without).map(|(_, slot)| slot.tokens.as_slice());
        let mut all: Vec<&[i32]> = slots.chain([prompt]).collect();
        all.sort_unstable();
        let total: usize = all.iter().map(|tokens| tokens.len()).sum();
        let shared: usize = all
            .iter()
            .zip(all.iter().skip(1))
            .map(|(one, next)| common(one, next))
            .sum();
        total - shared
    }

    /// Returns how many the limit allowed.
    pub fn push(&mut self, slot: usize, tokens: &[i32]) -> usize {
        let Some(slot) = self.sequences.get_mut(slot) else {
            return 0;
        };
        let room = slot.room.unwrap_or(0);
        let fitting = tokens.get(..room.min(tokens.len())).unwrap_or_default();
        slot.tokens.extend_from_slice(fitting);
        slot.room = Some(room - fitting.len());
        fitting.len()
    }

    /// Returns up to `most` waiting tokens, with the position of the first.
    pub fn pending(&self, slot: usize, most: usize) -> (usize, &[i32]) {
        self.sequences.get(slot).map_or((0, &[]), |slot| {
            let end = slot.tokens.len().min(slot.evaluated.saturating_add(most));
            (
                slot.evaluated,
                slot.tokens.get(slot.evaluated..end).unwrap_or_default(),
            )
        })
    }

    pub fn waiting(&self, slot: usize) -> usize {
        self.sequences
            .get(slot)
            .map_or(0, |slot| slot.tokens.len() - slot.evaluated)
    }

    /// Records that the next `count` tokens are in the cache.
    pub fn evaluated(&mut self, slot: usize, count: usize) {
        if let Some(slot) = self.sequences.get_mut(slot) {
            slot.evaluated = slot.tokens.len().min(slot.evaluated + count);
        }
    }

    /// Ends the slot, which stays as a cache of its evaluated tokens.
    pub fn finish(&mut self, slot: usize) {
        if let Some(slot) = self.sequences.get_mut(slot) {
            slot.tokens.truncate(slot.evaluated);
            slot.room = None;
        }
    }

    pub fn clear(&mut self) {
        self.sequences.fill_with(Slot::default);
    }
}

fn common(one: &[i32], other: &[i32]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn evaluate_all(slots: &mut Slots, slot: usize) {
        let waiting = slots.waiting(slot);
        slots.evaluated(slot, waiting);
    }

    #[test]
    fn seats_of_one_run_share_the_beginning_of_their_prompts() {
        let mut slots = Slots::new(100, 3);
        let first = slots.admit(&[1, 2, 3, 10], 5).unwrap();
        evaluate_all(&mut slots, first.slot);
        let second = slots.admit(&[1, 2, 3, 20], 5).unwrap();
        assert_eq!(
            (
                second.from,
                second.reused,
                second.clear.contains(&first.slot)
            ),
            (first.slot, 3, false)
        );
        assert_eq!(slots.pending(second.slot, 9), (3, [20].as_slice()));
    }

    /// The worker admits a prompt once the one before is read.
    #[test]
    fn context_of_a_run_is_evaluated_once_for_all_seats_and_rounds() {
        const CONTEXT: i32 = 1_000;
        let prompt = |round: i32, agent: i32| -> Vec<i32> {
            let task = (0..40).map(|at| CONTEXT + 100 * round + 10 * agent + at);
            (0..CONTEXT).chain([CONTEXT + round]).chain(task).collect()
        };
        let mut slots = Slots::new(1_700, 3);
        let mut evaluated = 0;
        for (round, agents) in [(1, 3), (2, 1), (3, 3), (4, 1), (5, 1)] {
            let mut live = Vec::new();
            for agent in 0..agents {
                let admission = slots.admit(&prompt(round, agent), 100).unwrap();
                evaluated += 1_000_usize.saturating_sub(admission.reused);
                evaluate_all(&mut slots, admission.slot);
                live.push(admission.slot);
            }
            for slot in live {
                slots.push(slot, &[7; 60]);
                evaluate_all(&mut slots, slot);
                slots.finish(slot);
            }
        }
        assert_eq!(evaluated, 1_000);
    }

    #[test]
    fn a_finished_answer_is_remembered_until_its_cells_are_needed() {
        let mut slots = Slots::new(10, 1);
        let first = slots.admit(&[1, 2, 3], 2).unwrap();
        evaluate_all(&mut slots, first.slot);
        slots.finish(first.slot);
        assert_eq!(slots.admit(&[1, 2, 9], 2).unwrap().reused, 2);
        slots.finish(1);
        let other = slots.admit(&[7; 8], 2).unwrap();
        assert_eq!((other.reused, other.clear.contains(&first.slot)), (0, true));
    }

    #[test]
    fn what_does_not_fit_beside_the_live_ones_waits() {
        let mut slots = Slots::new(10, 4);
        let first = slots.admit(&[1, 2, 3], 4).unwrap();
        assert_eq!(slots.admit(&[4, 5, 6], 4), None);
        slots.finish(first.slot);
        assert!(slots.admit(&[4, 5, 6], 4).is_some());
    }

    #[test]
    fn the_same_prompt_again_has_one_token_left_to_evaluate() {
        let mut slots = Slots::new(100, 1);
        let first = slots.admit(&[1, 2, 3], 4).unwrap();
        evaluate_all(&mut slots, first.slot);
        slots.finish(first.slot);
        let again = slots.admit(&[1, 2, 3], 4).unwrap();
        assert_eq!((again.reused, slots.waiting(again.slot)), (2, 1));
    }

    proptest! {
        #[test]
        fn cells_and_promises_never_exceed_the_capacity(
            prompts in prop::collection::vec(
                (
                    prop::collection::vec(0..3i32, 1..8),
                    1..6usize,
                    any::<bool>(),
                ),
                1..40,
            ),
        ) {
            let mut slots = Slots::new(20, 3);
            for (prompt, room, ends) in prompts {
                if let Some(admission) = slots.admit(&prompt, room) {
                    prop_assert!(admission.reused < prompt.len());
                    evaluate_all(&mut slots, admission.slot);
                    slots.push(admission.slot, &[9]);
                    evaluate_all(&mut slots, admission.slot);
                    if ends {
                        slots.finish(admission.slot);
                    }
                } else {
                    (0..6).for_each(|slot| slots.finish(slot));
                }
                let promised: usize = slots.sequences.iter().filter_map(|slot| slot.room).sum();
                prop_assert!(slots.cells(&[], &[]) + promised <= 20);
            }
        }
    }
}
