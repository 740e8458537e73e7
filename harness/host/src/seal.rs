//! Detection of changes that a plugin makes to read-only data.
//!
//! Right-hand sides and inputs are passed as plain pointers. Verification draws them again in another process, so
//! writing into them gains nothing; but the trace would belong to another system.

use ndarray::ArrayView2;

use crate::system::LinearSystem;

/// Checksums of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    rhs: u64,
    parts: u64,
    inputs: u64,
}

impl Seal {
    pub(crate) fn of(system: &dyn LinearSystem) -> Self {
        let parts = system.targets().map(|parts| parts.map(checksum));
        Self {
            rhs: checksum(system.rhs()),
            parts: parts.map_or(0, |[f, noise]| mixed(f, noise)),
            inputs: system.inputs().map_or(0, |inputs| checksum(inputs.x)),
        }
    }

    /// Name of the data that has changed since, if any.
    pub(crate) fn broken(&self, system: &dyn LinearSystem) -> Option<&'static str> {
        let now = Self::of(system);
        let each = [
            (now.rhs == self.rhs, "right-hand sides"),
            (now.parts == self.parts, "parts of the targets"),
            (now.inputs == self.inputs, "inputs"),
        ];
        each.into_iter().find_map(|(same, what)| (!same).then_some(what))
    }
}

/// A checksum of every bit, in memory order or the order of indices, which is always the same for one array.
pub(crate) fn checksum(array: ArrayView2<f64>) -> u64 {
    match array.as_slice_memory_order() {
        Some(numbers) => numbers.iter().fold(0, |sum, number| mixed(sum, number.to_bits())),
        None => array.iter().fold(0, |sum, number| mixed(sum, number.to_bits())),
    }
}

/// One step, which any single change of either argument changes.
fn mixed(sum: u64, bits: u64) -> u64 {
    (sum.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn every_bit_of_every_number_counts() {
        let numbers = array![[1.0, -2.0], [0.0, 4.0]];
        let sum = checksum(numbers.view());
        for place in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for bit in 0..64 {
                let mut changed = numbers.clone();
                changed[place] = f64::from_bits(changed[place].to_bits() ^ (1 << bit));
                assert_ne!(checksum(changed.view()), sum, "bit {bit} of {place:?}");
            }
        }
        assert_eq!(checksum(numbers.view()), sum);
    }
}
