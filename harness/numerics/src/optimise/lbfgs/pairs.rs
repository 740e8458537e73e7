//! The approximation of the inverse Hessian from the last steps.

use std::collections::VecDeque;

use crate::dot;

/// A pair is kept if the cosine of the angle between its step and its gradient change is above this.
const POSITIVE_CURVATURE: f64 = 1e-10;

/// A step between two accepted points, and the change of the gradient over it.
#[derive(Debug, Clone, PartialEq)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// Their inner product, which is positive.
    product: f64,
}

/// The last pairs of positive curvature, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Pairs(VecDeque<Pair>);

impl Pairs {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a pair unless its curvature is not positive, and keeps the last `limit` pairs.
    pub(super) fn push(&mut self, step: Vec<f64>, change: Vec<f64>, limit: usize) {
        let product = dot(&step, &change);
        let lengths = (dot(&step, &step) * dot(&change, &change)).sqrt();
        if product > POSITIVE_CURVATURE * lengths {
            self.0.push_back(Pair { step, change, product });
        }
        while self.0.len() > limit {
            self.0.pop_front();
        }
    }

    /// Puts the negative product of the approximate inverse Hessian and `gradient` into `direction`, by two loops
    /// over the pairs (Nocedal and Wright 2006, algorithm 7.4); without pairs, the negative gradient.
    pub(super) fn descent(&self, gradient: &[f64], direction: &mut [f64]) {
        for (entry, derivative) in direction.iter_mut().zip(gradient) {
            *entry = -derivative;
        }
        let mut weights = Vec::with_capacity(self.0.len());
        for pair in self.0.iter().rev() {
            let weight = dot(&pair.step, direction) / pair.product;
            add(direction, -weight, &pair.change);
            weights.push(weight);
        }
        if let Some(last) = self.0.back() {
            let scale = last.product / dot(&last.change, &last.change);
            direction.iter_mut().for_each(|entry| *entry *= scale);
        }
        for (pair, weight) in self.0.iter().zip(weights.into_iter().rev()) {
            let correction = weight - dot(&pair.change, direction) / pair.product;
            add(direction, correction, &pair.step);
        }
    }

    /// The vectors of all pairs, oldest first: a step, then its change.
    pub(super) fn vectors(&self) -> impl Iterator<Item = &[f64]> {
        self.0.iter().flat_map(|pair| [&pair.step[..], &pair.change[..]])
    }

    /// Pairs of such vectors, `dimensions` numbers each.
    pub(super) fn from_vectors(vectors: &[f64], dimensions: usize) -> Pairs {
        // No pair has vectors of length 0, whose product is not positive.
        let pair = |numbers: &[f64]| {
            let (step, change) = numbers.split_at(dimensions);
            Pair { step: step.to_vec(), change: change.to_vec(), product: dot(step, change) }
        };
        Pairs(vectors.chunks_exact((2 * dimensions).max(1)).map(pair).collect())
    }
}

/// Adds a multiple of `other` to `vector`.
fn add(vector: &mut [f64], factor: f64, other: &[f64]) {
    for (entry, other) in vector.iter_mut().zip(other) {
        *entry += factor * other;
    }
}
