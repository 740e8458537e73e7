//! Numbers that start on a cache line.

use bytemuck::{Pod, Zeroable};

/// A cache line.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// A vector of numbers that starts on a cache line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Aligned {
    lines: Vec<Line>,
}

impl Aligned {
    /// Room for at least `len` numbers of type `E`, all of them 0.
    pub(crate) fn zeroed<E: Pod>(len: usize) -> Aligned {
        Aligned { lines: bytemuck::zeroed_vec((len * size_of::<E>()).div_ceil(size_of::<Line>())) }
    }

    /// Makes room for at least `len` numbers of type `E`, with arbitrary content.
    pub(crate) fn reserve<E: Pod>(&mut self, len: usize) {
        let lines = (len * size_of::<E>()).div_ceil(size_of::<Line>());
        self.lines.resize(lines.max(self.lines.len()), Line([0; 8]));
    }

    pub(crate) fn numbers<E: Pod>(&self) -> &[E] {
        bytemuck::cast_slice(&self.lines)
    }

    pub(crate) fn numbers_mut<E: Pod>(&mut self) -> &mut [E] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}
