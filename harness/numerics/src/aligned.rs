//! Numbers that start on a cache line.

use bytemuck::{Pod, Zeroable};

/// A cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; 8]);

// SAFETY: eight integers, of which 0 is a value.
unsafe impl Zeroable for Line {}
// SAFETY: eight integers take the whole of its 64 bytes: there is no padding, and each bit pattern is a value.
unsafe impl Pod for Line {}

/// A vector of numbers that starts on a cache line, so that no SIMD vector lies on two lines. Speed alone depends on it.
#[derive(Debug, Clone, Default)]
pub struct Aligned {
    lines: Vec<Line>,
}

impl Aligned {
    /// Room for at least `len` numbers of type `E`, all of them 0. The length is rounded up to whole cache lines.
    pub fn zeroed<E: Pod>(len: usize) -> Aligned {
        Aligned { lines: bytemuck::zeroed_vec((len * size_of::<E>()).div_ceil(size_of::<Line>())) }
    }

    /// Makes room for at least `len` numbers of type `E`, with arbitrary content.
    pub fn reserve<E: Pod>(&mut self, len: usize) {
        let lines = (len * size_of::<E>()).div_ceil(size_of::<Line>());
        self.lines.resize(lines.max(self.lines.len()), Line([0; 8]));
    }

    /// All numbers, as type `E`.
    #[inline]
    pub fn numbers<E: Pod>(&self) -> &[E] {
        bytemuck::cast_slice(&self.lines)
    }

    /// All numbers, as type `E`, to be written.
    #[inline]
    pub fn numbers_mut<E: Pod>(&mut self) -> &mut [E] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_with_a_cache_line() {
        for length in [0, 1, 100, 100_000] {
            let mut memory = Aligned::zeroed::<f64>(length);
            let numbers = memory.numbers_mut::<f64>();
            assert_eq!((numbers.len(), numbers.as_ptr() as usize % 64), (length.next_multiple_of(8), 0));
            numbers.iter_mut().for_each(|number| *number += 1.0);
            assert_eq!(memory.numbers::<f64>().iter().sum::<f64>(), length.next_multiple_of(8) as f64);
        }
    }
}
