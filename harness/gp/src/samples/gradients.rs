//! Values and gradients of samples, each at points of its own.
//!
//! Blocks of points and stripes of terms run in parallel; the sums of the stripes are added in their order.

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayView2, s};

use crate::operator::{TILE, pieces, stripes};
use crate::scratch::Scratch;
use crate::threads::Here;
use crate::tile::{Points, Sampled, VectorSums, tile_len};
use gpbench_numerics::packed::{TileProduct, padded};
use gpbench_numerics::{Aligned, Pool};

use super::block::Block;
use super::terms::{KernelTerms, Packed, PriorTerms, Terms};

/// Contribution of one stripe of terms at a block of points.
struct Part {
    values: Vec<f64>,
    /// Points x d, for inputs in units of the length scales.
    gradients: Array2<f64>,
}

/// The terms of samples, for values and gradients at points of their own.
pub(super) struct Gradients<'a, 't> {
    pub(super) kernel: &'a KernelTerms<'t>,
    pub(super) prior: &'a PriorTerms<'t>,
    pub(super) memory: &'a Scratch,
}

/// A stripe of one kind of terms.
enum Stripe {
    Kernel(Range<usize>),
    Prior(Range<usize>),
}

impl Gradients<'_, '_> {
    /// Sample `owner[i]` and its gradient at row i of `x` (N x d), on the caller's rayon pool. The more neighbours share
    /// a sample, the faster.
    pub(super) fn value_and_gradient(
        &self,
        x: ArrayView2<f64>,
        owner: &[usize],
    ) -> (Array1<f64>, Array2<f64>) {
        let (kernel, prior) = (self.kernel.place(x), self.prior.place(x));
        let inputs = [self.kernel.rows(), self.prior.rows()].map(|rows| Packed::new(rows.scaled().view()));
        let ranges = pieces(x.nrows(), TILE);
        let stripes = self.stripes(ranges.len());
        let blocks = ranges.into_iter().map(|range| Block::new(&kernel, &prior, range, owner));
        let blocks: Vec<Block> = blocks.collect();
        let tasks = blocks.iter().flat_map(|block| stripes.iter().map(move |stripe| (block, stripe)));
        let parts = Here.map(tasks, |(block, stripe)| self.part(block, stripe, &inputs));
        let (mut values, mut gradients) = (Array1::zeros(x.nrows()), Array2::zeros(x.dim()));
        for (block, parts) in blocks.iter().zip(parts.chunks(stripes.len().max(1))) {
            let mut values = values.slice_mut(s![block.range.clone()]);
            let mut gradients = gradients.slice_mut(s![block.range.clone(), ..]);
            for part in parts {
                values.iter_mut().zip(&part.values).for_each(|(value, part)| *value += part);
                gradients += &part.gradients;
            }
        }
        for (mut gradients, length) in gradients.columns_mut().into_iter().zip(self.kernel.length_scale()) {
            gradients /= *length;
        }
        (values, gradients)
    }

    /// Stripes of all terms.
    fn stripes(&self, blocks: usize) -> Vec<Stripe> {
        let of_kernel = stripes(self.kernel.rows().n(), blocks).into_iter().map(Stripe::Kernel);
        let of_prior = stripes(self.prior.rows().n(), blocks).into_iter().map(Stripe::Prior);
        of_kernel.chain(of_prior).collect()
    }

    fn part(&self, block: &Block, stripe: &Stripe, [of_kernel, of_prior]: &[Packed; 2]) -> Part {
        match stripe {
            Stripe::Kernel(stripe) => part(self.kernel, block, block.kernel, stripe, of_kernel, self.memory),
            Stripe::Prior(stripe) => part(self.prior, block, block.prior, stripe, of_prior, self.memory),
        }
    }
}

/// The terms of a stripe, tile by tile, at the points `at` of a block; `inputs` are the rows of the terms.
fn part(
    terms: &impl Terms,
    block: &Block,
    at: &Points,
    stripe: &Range<usize>,
    inputs: &Packed,
    memory: &Scratch,
) -> Part {
    let columns = block.range.len();
    let (mut values, mut slopes) = (VectorSums::new(columns), VectorSums::new(columns));
    let of_block = inputs.layout.with_rows(columns);
    let mut product = Aligned::zeroed::<f64>(of_block.len());
    let product = &mut product.numbers_mut()[..of_block.len()];
    memory.with(tile_len(TILE, TILE), |tile: &mut [f64]| {
        for start in stripe.clone().step_by(TILE) {
            let rows = start..stripe.end.min(start + TILE);
            let out = Sampled { tile: &mut *tile, values: &mut values, slopes: &mut slopes };
            terms.add_sampled(&rows, block, memory, out);
            let tile = &tile[..tile_len(rows.len(), columns)];
            let (v, out) = (inputs.block(&rows), &mut *product);
            let (rows, cols) = (padded(rows.len()), padded(columns));
            TileProduct { transposed: true, tile, rows, cols, v, out }.add();
        }
    });
    let scale = terms.scale();
    let mut gradients = Array2::zeros((columns, at.d()));
    of_block.unpack(product, gradients.view_mut(), |to, sum| *to = scale * sum, &Here);
    let x = at.scaled().slice(s![block.range.clone(), ..]);
    for ((mut gradient, x), slope) in gradients.rows_mut().into_iter().zip(x.rows()).zip(slopes.each()) {
        gradient.scaled_add(-scale * slope, &x);
    }
    Part { values: values.each().take(columns).map(|value| scale * value).collect(), gradients }
}
