//! Counts over the passes through the training rows.

use ndarray::ArrayView2;

use crate::{Error, Result, Saved};

/// Counts the rows of batches, and the outputs of the network that are 0 in all rows of a pass.
#[derive(Debug, Clone)]
pub struct Passes {
    n: usize,
    /// Rows of this pass so far.
    rows: usize,
    /// Passes that have ended.
    count: usize,
    /// Whether each output was above 0 in this pass.
    alive: Vec<bool>,
}

/// A pass that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedPass {
    /// Number of the pass, from 1.
    pub number: usize,
    /// Outputs of the network that were 0 in all of its rows.
    pub dead_features: usize,
}

impl Passes {
    /// A counter for `n` rows and a network of `outputs` outputs, 0 without a network.
    pub fn new(n: usize, outputs: usize) -> Passes {
        Passes { n, rows: 0, count: 0, alive: vec![false; outputs] }
    }

    /// Counts a batch of `rows` rows, with the network's outputs for them. Returns the pass that ends with it, if one does.
    pub fn see(&mut self, rows: usize, outputs: Option<ArrayView2<'_, f64>>) -> Option<EndedPass> {
        for row in outputs.iter().flat_map(|outputs| outputs.rows()) {
            self.alive.iter_mut().zip(row).for_each(|(alive, &output)| *alive |= output > 0.0);
        }
        self.rows += rows;
        if self.rows < self.n {
            return None;
        }
        self.rows -= self.n;
        self.count += 1;
        let dead_features = self.alive.iter().filter(|alive| !**alive).count();
        self.alive.fill(false);
        Some(EndedPass { number: self.count, dead_features })
    }

    /// Saves the counts under names that begin with `passes_`.
    pub fn save(&self, saved: &mut Saved) {
        saved.put_integers("passes_counts", [self.rows as u64, self.count as u64]);
        saved.put_integers("passes_alive", self.alive.iter().map(|&alive| alive.into()));
    }

    /// Loads saved counts.
    pub fn load(&mut self, saved: &Saved) -> Result<()> {
        let wrong = || Error::InvalidArgument("the saved passes are of another fit".into());
        let &[rows, count] = saved.get_integers("passes_counts")?.as_slice() else { return Err(wrong()) };
        let alive = saved.get_integers("passes_alive")?;
        if alive.len() != self.alive.len() {
            return Err(wrong());
        }
        (self.rows, self.count) = (rows as usize, count as usize);
        self.alive = alive.into_iter().map(|alive| alive != 0).collect();
        Ok(())
    }
}
