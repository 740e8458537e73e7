//! A part of a plan.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Case, PartOfPlan, Shard, plan_digest};
use sha2::{Digest as _, Sha256};

use crate::Plan;

/// What all cases of a block share: data set, kernel, estimator and seed. Their times are compared with each other, so a
/// block is never divided.
type Block = (String, String, Option<String>, u64);

impl Plan {
    /// The cases of one shard, in their order, and what the shard knows of the whole plan. Blocks are dealt out like cards,
    /// in an order that a hash of their names gives: all shards have the same number of blocks, but for one.
    pub fn part(&self, shard: Shard) -> (Plan, PartOfPlan) {
        let mut blocks: Vec<Block> = self
            .cases
            .iter()
            .map(|planned| block(&planned.case))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        blocks.sort_by_cached_key(hash);
        let numbers: BTreeMap<Block, usize> = blocks.into_iter().zip((1..=shard.count).cycle()).collect();
        let mut part = self.clone();
        part.cases.retain(|planned| numbers[&block(&planned.case)] == shard.number);
        let plan = plan_digest(self.cases.iter().map(|planned| &planned.case));
        (part, PartOfPlan { shard: Some(shard), plan, cases: self.cases.len() })
    }
}

fn block(case: &Case) -> Block {
    let labels = case.labels();
    (labels.dataset, labels.kernel, labels.estimator, labels.seed)
}

fn hash(block: &Block) -> [u8; 32] {
    Sha256::digest(format!("{block:?}")).into()
}
