//! Memory for intermediate results.

use std::sync::Mutex;

use gpbench_numerics::Aligned;
use gpbench_numerics::simd::Real;

pub(crate) const UNPOISONED: &str = "nothing panics under this lock";

/// Reusable memory; allocating it for each piece of work would cause page faults.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Mutex<Vec<Aligned>>);

impl Scratch {
    /// Runs `work` on memory for `len` numbers, with arbitrary content.
    pub(crate) fn with<E: Real, R>(&self, len: usize, work: impl FnOnce(&mut [E]) -> R) -> R {
        let mut memory = self.take::<E>(len);
        memory.reserve::<E>(len);
        let result = work(&mut memory.numbers_mut()[..len]);
        self.0.lock().expect(UNPOISONED).push(memory);
        result
    }

    /// The smallest free piece that holds `len` numbers, else any piece, else an empty one.
    fn take<E: Real>(&self, len: usize) -> Aligned {
        let mut spare = self.0.lock().expect(UNPOISONED);
        let room = |index: &usize| spare[*index].numbers::<E>().len();
        let fitting = (0..spare.len()).filter(|index| room(index) >= len).min_by_key(room);
        match fitting.or(spare.len().checked_sub(1)) {
            Some(index) => spare.swap_remove(index),
            None => Aligned::default(),
        }
    }
}
