//! Vectors of numbers that are aligned to cache lines.

use bytemuck::{Pod, Zeroable};

/// A cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; 8]);

// SAFETY: all-zero bytes are valid for eight integers.
unsafe impl Zeroable for Line {}
// SAFETY: eight integers fill all 64 bytes, so there is no padding, and each bit pattern is valid.
unsafe impl Pod for Line {}

/// A vector of numbers that starts on a cache line, so that no SIMD vector crosses two lines. This affects only speed.
#[derive(Debug, Clone, Default)]
pub struct Aligned {
    lines: Vec<Line>,
}

impl Aligned {
    /// A vector of at least `len` zeros of type `E`. The length is rounded up to whole cache lines.
    pub fn zeroed<E: Pod>(len: usize) -> Aligned {
        Aligned { lines: bytemuck::zeroed_vec((len * size_of::<E>()).div_ceil(size_of::<Line>())) }
    }

    /// Grows to at least `len` numbers of type `E`, with arbitrary content.
    pub fn reserve<E: Pod>(&mut self, len: usize) {
        let lines = (len * size_of::<E>()).div_ceil(size_of::<Line>());
        self.lines.resize(lines.max(self.lines.len()), Line([0; 8]));
    }

    /// All numbers, as type `E`.
    #[inline]
    pub fn numbers<E: Pod>(&self) -> &[E] {
        bytemuck::cast_slice(&self.lines)
    }

    /// All numbers, as type `E`, mutable.
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
