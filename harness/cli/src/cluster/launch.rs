//! From a plan to a cluster run that can be sent: settings, programs, tasks and files.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use gpbench_cluster::{
    Array, ClusterFolder, ClusterLimits, ResourceRequest, Scheduler as _, SizedCase, Slurm, SystemCommands,
    settings_file, tasks,
};
use gpbench_engine::{Event, OpenRun, Planned, RunOptions, SystemClock};
use gpbench_record::{
    CaseFiles, ClusterTask, Manifest, NodeOptions, SCHEMA, Site, finds_by_own_folder, names_own_folder,
};
use gpbench_runs::RunFolder;

use super::failure;
use super::numerics::numerics;
use super::programs::{keep, runner};
use super::run::{ClusterRun, slurm};
use crate::args::{Continuation, ExecutorArgs, Global, RunArgs, SpecArgs};
use crate::execute;
use crate::exit::Failure;
use crate::notice::warn;
use crate::prepare::{Nodes, Placement, Prepared};
use crate::progress::Progress;
use crate::worker::Worker;

/// Prefix of cluster settings.
const PREFIX: &str = "slurm.";

/// A cluster on which a plan can run.
#[derive(Clone)]
pub(crate) struct Cluster {
    site: Site,
    limits: ClusterLimits,
}

impl Cluster {
    /// Reads the settings of the site and queries Slurm for its limits. Removes the cluster settings from `spec`.
    pub(crate) fn find(args: &ExecutorArgs, spec: &mut SpecArgs) -> Result<Cluster, Failure> {
        let (own, others) =
            spec.sets.drain(..).partition(|set: &String| set.trim_start().starts_with(PREFIX));
        spec.sets = others;
        let file = args.cluster.clone().or_else(settings_file);
        let site = gpbench_spec::load_site(file.as_deref(), &own).map_err(Failure::usage)?;
        let nowhere = || Path::new("/").to_owned();
        let slurm = Slurm {
            commands: SystemCommands::default(),
            site: site.clone(),
            name: String::new(),
            folder: nowhere(),
            logs: nowhere(),
            script: nowhere(),
        };
        let limits = slurm.limits().map_err(|error| failure(error.into()))?;
        let asked = site.ask.threads.and_then(|threads| usize::try_from(threads).ok()?.try_into().ok());
        spec.threads = spec.threads.or(asked);
        Ok(Cluster { site, limits })
    }

    /// The machines that a plan is prepared for.
    pub(crate) fn placement(&self, global: &Global) -> Placement {
        let processors = self.limits.nodes.iter().map(|node| node.processors as usize).min().unwrap_or(1);
        let (global, cluster) = (global.clone(), self.clone());
        let find = move || numerics(&global, &cluster.site, cluster.limits.seconds);
        Placement { shard: None, nodes: Some(Nodes { processors, numerics: Box::new(find) }) }
    }

    /// Makes the files of a cluster run, or continues those of an earlier one. `None`: each case has its row.
    pub(crate) fn launch(
        &self,
        global: &Global,
        prepared: &Prepared,
        args: &RunArgs,
        earlier: &Continuation,
        progress: &mut Progress,
    ) -> Result<(RunFolder, Option<ClusterRun>), Failure> {
        let options =
            execute::options(global, prepared, args, earlier).absolute().map_err(execute::failure)?;
        let open = OpenRun::open(&prepared.plan, &options, &SystemClock, &mut |event| progress.show(event))
            .map_err(execute::failure)?;
        let OpenRun { folder, journal, pending, beginning, reused, .. } = open;
        let cases = &prepared.plan.file.cases;
        let done = cases.len() - pending.len();
        let count = gpbench_engine::RunProgress { total: cases.len(), done, failed: 0 };
        progress.show(Event::Begun { folder: folder.path().to_owned(), beginning, reused, progress: count });
        if pending.is_empty() {
            folder.end().map_err(Failure::internal)?;
            return Ok((folder, None));
        }
        warn_unshared(global, folder.path());
        let again: HashSet<String> = pending.iter().map(|&place| cases[place].id.clone()).collect();
        let manifest = self.manifest(&folder, prepared, &pending, (args, &options))?;
        self.limits.check(&manifest.tasks).map_err(|error| failure(error.into()))?;
        let cluster = ClusterFolder::of(folder.path());
        cluster.write_manifest(&manifest).map_err(failure)?;
        cluster.write_script(&manifest).map_err(failure)?;
        test(&slurm(&folder, &manifest), &manifest)?;
        Ok((folder.clone(), Some(ClusterRun::open(folder, journal, &again, true)?)))
    }

    /// The manifest. Tasks of an earlier one keep their numbers, which the ledger uses, and get requests by the present settings.
    fn manifest(
        &self,
        folder: &RunFolder,
        prepared: &Prepared,
        pending: &[usize],
        (args, options): (&RunArgs, &RunOptions),
    ) -> Result<Manifest, Failure> {
        let cluster = ClusterFolder::of(folder.path());
        cluster.create().map_err(failure)?;
        let plan = &prepared.plan;
        let sized = |place: usize| sized(plan.planned(place), args);
        let places: HashMap<&str, usize> = plan.file.ids().zip(0..).collect();
        let threads = u32::try_from(prepared.threads).unwrap_or(u32::MAX);
        let earlier = match cluster.read_manifest() {
            Ok(earlier) => earlier.tasks,
            Err(_) if !cluster.ledger().exists() => Vec::new(),
            Err(error) => return Err(failure(error)),
        };
        let known: HashSet<&String> = earlier.iter().flat_map(|task| &task.cases).collect();
        let again = |task: &ClusterTask| {
            let places = task.cases.iter().filter_map(|id| places.get(id.as_str()));
            let cases: Vec<SizedCase> = places.map(|&place| sized(place)).collect();
            gpbench_cluster::task(&cases.iter().collect::<Vec<_>>(), &self.site, threads)
        };
        let new: Vec<SizedCase> = pending
            .iter()
            .copied()
            .filter(|&place| !known.contains(&plan.file.cases[place].id))
            .map(sized)
            .collect();
        let tasks = earlier.iter().map(again).chain(tasks(&new, &self.site, threads)).collect();
        let mut plugins: HashMap<&Path, PathBuf> = HashMap::new();
        let mut cases = BTreeMap::new();
        for (id, files) in plan.file.ids().zip(&plan.files) {
            let plugin_file = match plugins.entry(&files.plugin_file) {
                Entry::Occupied(kept) => kept.get().clone(),
                Entry::Vacant(place) => {
                    let is_composed = plan.libraries.iter().any(|library| library.file == files.plugin_file);
                    let kept = if is_composed {
                        // It finds its parts by its path.
                        files.plugin_file.clone()
                    } else {
                        keep(&cluster, &files.plugin_file, names_own_folder)?
                    };
                    place.insert(kept).clone()
                }
            };
            let dataset_file = files.dataset_file.as_ref().map(std::path::absolute).transpose();
            let dataset_file = dataset_file.map_err(Failure::internal)?;
            cases.insert(id.to_owned(), CaseFiles { plugin_file, dataset_file, ..files.clone() });
        }
        let name = folder.path().file_name().unwrap_or_default();
        Ok(Manifest {
            schema: SCHEMA,
            run: name.to_string_lossy().into_owned(),
            runner: keep(&cluster, &runner()?, finds_by_own_folder)?,
            worker: keep(&cluster, &Worker::locate()?.file, finds_by_own_folder)?,
            started_in: plan.environment.clone(),
            cases,
            libraries: plan.libraries.clone(),
            options: NodeOptions {
                cache_dir: options.cache_dir.clone(),
                kill_after_seconds: args.kill_after,
                cpu_seconds: args.cpu_limit,
                memory_bytes: args.memory_limit,
                keep_solutions: args.keep_solutions,
            },
            tasks,
            site: self.site.clone(),
        })
    }
}

/// Warns of a folder that nodes probably cannot access.
fn warn_unshared(global: &Global, folder: &Path) {
    if let Some(own) =
        ["/tmp", "/var/tmp", "/dev/shm", "/run"].into_iter().find(|own| folder.starts_with(own))
    {
        warn(
            global,
            format!(
                "the run folder {} lies in {own}, which other nodes may not see; `--output-dir` names another",
                folder.display()
            ),
        );
    }
}

/// Tests whether Slurm would accept the largest task.
fn test(slurm: &Slurm<SystemCommands>, manifest: &Manifest) -> Result<(), Failure> {
    let requests = || manifest.tasks.iter().map(ResourceRequest::of);
    let request = ResourceRequest {
        seconds: requests().map(|request| request.seconds).max().unwrap_or_default(),
        memory_bytes: requests().map(|request| request.memory_bytes).max().unwrap_or_default(),
        threads: requests().map(|request| request.threads).max().unwrap_or(1),
    };
    let array = Array {
        comment: "test".to_owned(),
        count: 1,
        request,
        throttle: None,
        excluded: Vec::new(),
        argument: "0".to_owned(),
    };
    match slurm.test(&array) {
        Err(error) if !error.may_pass() => Err(failure(error.into())),
        _ => Ok(()),
    }
}

/// The size of a case, for its task. An exact reference takes 8 n^2 bytes and a quarter more, and the search for an optimum
/// as many again for an inverse.
fn sized(planned: Planned<'_>, args: &RunArgs) -> SizedCase {
    let bytes_per_entry = match (planned.case.task.optimum(), planned.fingerprint.exact) {
        (true, _) => Some(18),
        (false, true) => Some(10),
        (false, false) => None,
    };
    let reference = planned.n.zip(bytes_per_entry).map(|(n, bytes)| bytes * (n as u64).pow(2) + (256 << 20));
    SizedCase {
        id: planned.id.clone(),
        labels: planned.labels.clone(),
        seconds: planned.files.seconds_estimate,
        limit_bytes: planned.case.budget.memory_bytes.or(args.memory_limit),
        estimated_bytes: planned.files.memory_estimate.into_iter().chain(reference).max(),
    }
}
