//! Tasks: cases that run together, and the resources that they request.

use gpbench_record::{ClusterTask, Labels, Site, TaskUnit};

/// Seconds beside those of the solver: loading, exact reference, verification.
const SECONDS_BESIDE: f64 = 60.0;
/// Factor by which a case may take longer than estimated.
const SECONDS_FACTOR: f64 = 2.0;
/// The shortest time that is requested.
const LEAST_SECONDS: f64 = 600.0;
/// Factor by which a case may use more memory than estimated.
const MEMORY_FACTOR: f64 = 1.5;
/// Bytes beside those of a case: the runner, and what it leaves to the system.
const BYTES_BESIDE: u64 = 512 << 20;
/// Assumed bytes of a case without limit and estimate.
const UNKNOWN_BYTES: u64 = 4 << 30;

/// The size of a case, for its task.
#[derive(Debug, Clone, PartialEq)]
pub struct SizedCase {
    /// Its id.
    pub id: String,
    /// Its names.
    pub labels: Labels,
    /// Seconds that it is likely to take, where known.
    pub seconds: Option<f64>,
    /// Bytes at which it is killed, where there is a limit.
    pub limit_bytes: Option<u64>,
    /// Bytes that it is likely to use, where known, its exact reference included.
    pub estimated_bytes: Option<u64>,
}

/// The tasks of cases in the order of the plan. Cases of a block stay together, in their order, unless the site wants a task
/// for each case.
pub fn tasks(cases: &[SizedCase], site: &Site, threads: u32) -> Vec<ClusterTask> {
    let mut tasks: Vec<Vec<&SizedCase>> = Vec::new();
    for case in cases {
        let is_own = |task: &&mut Vec<&SizedCase>| {
            site.tasks.by == TaskUnit::Block && task[0].labels.block() == case.labels.block()
        };
        match tasks.iter_mut().find(is_own) {
            Some(task) => task.push(case),
            None => tasks.push(vec![case]),
        }
    }
    let packed = match site.tasks.pack_seconds {
        Some(most) if site.tasks.by == TaskUnit::Block => pack(tasks, most as f64),
        _ => tasks,
    };
    packed.iter().map(|cases| task(cases, site, threads)).collect()
}

/// Puts short blocks together, in their order, up to so many seconds a task.
fn pack(blocks: Vec<Vec<&SizedCase>>, most: f64) -> Vec<Vec<&SizedCase>> {
    let mut packed: Vec<Vec<&SizedCase>> = Vec::new();
    for block in blocks {
        match packed.last_mut() {
            Some(last) if seconds(last) + seconds(&block) <= most => last.extend(block),
            _ => packed.push(block),
        }
    }
    packed
}

/// Seconds that are requested for cases.
fn seconds(cases: &[&SizedCase]) -> f64 {
    cases.iter().map(|case| SECONDS_FACTOR * case.seconds.unwrap_or_default() + SECONDS_BESIDE).sum()
}

/// A task of some cases, in their order.
pub fn task(cases: &[&SizedCase], site: &Site, threads: u32) -> ClusterTask {
    let estimate = |case: &&SizedCase| {
        let estimated = case.estimated_bytes.map(|bytes| (MEMORY_FACTOR * bytes as f64) as u64);
        case.limit_bytes.or(estimated).unwrap_or(UNKNOWN_BYTES)
    };
    let bytes = cases.iter().map(estimate).max().unwrap_or_default() + BYTES_BESIDE;
    ClusterTask {
        cases: cases.iter().map(|case| case.id.clone()).collect(),
        seconds: site.ask.seconds.unwrap_or(seconds(cases).max(LEAST_SECONDS).ceil() as u64),
        memory_bytes: site.ask.memory_bytes.unwrap_or(bytes),
        threads,
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::testing::case;

    use super::*;

    fn sized(id: &str, seed: u64, seconds: f64) -> SizedCase {
        let labels = Labels { seed, solver: id.into(), ..case("cg").labels() };
        let id = format!("{id}{seed}");
        SizedCase { id, labels, seconds: Some(seconds), limit_bytes: None, estimated_bytes: Some(1 << 30) }
    }

    fn ids(tasks: &[ClusterTask]) -> Vec<String> {
        tasks.iter().map(|task| task.cases.join(" ")).collect()
    }

    #[test]
    fn blocks_stay_together_and_short_ones_share_a_task() {
        let cases = [("cg", 1), ("ap", 0), ("cg", 0), ("ap", 1), ("cg", 2)];
        let cases: Vec<SizedCase> = cases.into_iter().map(|(id, seed)| sized(id, seed, 600.0)).collect();
        let mut site = Site::default();
        let blocks = tasks(&cases, &site, 8);
        assert_eq!(ids(&blocks), ["cg1 ap1", "ap0 cg0", "cg2"]);
        assert_eq!((blocks[0].seconds, blocks[2].seconds, blocks[0].threads), (2520, 1260, 8));
        assert_eq!(blocks[0].memory_bytes, (3 << 29) + (512 << 20));
        site.tasks.pack_seconds = Some(4000);
        assert_eq!(ids(&tasks(&cases, &site, 8)), ["cg1 ap1", "ap0 cg0 cg2"]);
        site.tasks.by = TaskUnit::Case;
        assert_eq!(tasks(&cases, &site, 8).len(), 5);
    }

    #[test]
    fn a_site_and_limits_come_before_estimates() {
        let mut site = Site::default();
        let limited = SizedCase { limit_bytes: Some(1 << 20), seconds: None, ..sized("cg", 0, 1.0) };
        let asked = tasks(std::slice::from_ref(&limited), &site, 1);
        assert_eq!((asked[0].seconds, asked[0].memory_bytes), (600, (1 << 20) + (512 << 20)));
        let unknown = SizedCase { limit_bytes: None, estimated_bytes: None, ..limited };
        assert_eq!(tasks(std::slice::from_ref(&unknown), &site, 1)[0].memory_bytes, (4 << 30) + (512 << 20));
        site.ask.seconds = Some(7);
        site.ask.memory_bytes = Some(9);
        let asked = tasks(&[unknown], &site, 1);
        assert_eq!((asked[0].seconds, asked[0].memory_bytes), (7, 9));
    }
}
