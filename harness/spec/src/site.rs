//! Settings of a site with a cluster: a file of their own, read as a spec is.

use std::fs::File;
use std::path::Path;

use gpbench_record::{Intervals, NodeSettings, ResourceSettings, Site, TaskSettings, TaskUnit};

use crate::error::{Mistakes, SpecErrors};
use crate::keys::{Keys, SpecKey, between, choice, count, list, memory, text, time, truth, whole};
use crate::overrides;
use crate::source::{At, START, Sources};
use crate::tree::{self, Table};
use crate::typed::read_text;

/// The name of the top level in messages.
const TOP: &str = "the settings of the cluster";

/// The name of settings without a file in messages.
const NO_FILE: &str = "cluster.toml";

/// Options of `sbatch` that gpbench gives itself.
const OURS: &[&str] = &[
    "--array",
    "--chdir",
    "--comment",
    "--cpus-per-task",
    "--exclude",
    "--exclusive",
    "--job-name",
    "--mem",
    "--nodes",
    "--no-requeue",
    "--ntasks",
    "--open-mode",
    "--output",
    "--parsable",
    "--requeue",
    "--signal",
    "--time",
    "--wrap",
];

/// Reads the settings in `file`, or none where there is no file, and applies `sets`, each a `key=value` of `--set`.
///
/// # Errors
/// If the file cannot be read, and all mistakes in it and in the overrides.
pub fn load_site(file: Option<&Path>, sets: &[String]) -> Result<Site, SpecErrors> {
    let name = file.unwrap_or(Path::new(NO_FILE));
    let text = file.map_or(Ok(String::new()), |path| File::open(path).and_then(read_text));
    let text =
        text.map_err(|error| SpecErrors::unreadable(name, format!("cannot read these settings: {error}")))?;
    let mut mistakes = Mistakes::default();
    let mut table = tree::parse(&text, START.source, &mut mistakes);
    let mut sources = Sources::new(name.to_owned(), text);
    for set in sets {
        overrides::apply(&mut table, set, &mut sources, &mut mistakes);
    }
    // The parser guesses after a syntax error; mistakes in what it recovers would mislead.
    if !mistakes.is_empty() {
        return Err(mistakes.into_errors(&sources));
    }
    let site = read(&table, &mut mistakes);
    if mistakes.is_empty() { Ok(site) } else { Err(mistakes.into_errors(&sources)) }
}

/// Every key of the settings of a site, those of a table within the key that holds it.
pub fn site_reference() -> Vec<SpecKey> {
    Keys::describe(TOP.to_owned(), root)
}

fn read(table: &Table, mistakes: &mut Mistakes) -> Site {
    Keys::read(table, TOP.to_owned(), &START, mistakes, root)
}

fn root(keys: &mut Keys<'_>) -> Site {
    keys.table("slurm", slurm, "How jobs are sent to Slurm.").value
}

fn slurm(keys: &mut Keys<'_>) -> Site {
    let site = keys.part("site", place, "Where jobs are sent.").value;
    Site {
        ask: keys.part("ask", ask, "The resources that each task requests.").value,
        tasks: keys.part("tasks", tasks, "How cases become tasks, and how often a task is tried.").value,
        nodes: keys.part("nodes", nodes, "What is known of the nodes.").value,
        intervals: keys.part("intervals", intervals, "Intervals of polls and of heartbeats.").value,
        ..site
    }
}

fn place(keys: &mut Keys<'_>) -> Site {
    Site {
        partition: word(keys, "partition", "The partition; default: that of the cluster."),
        account: word(keys, "account", "The account that is charged."),
        qos: word(keys, "qos", "The quality of service."),
        constraint: word(keys, "constraint", "Features that nodes must have."),
        extra: extra(keys),
        ..Site::default()
    }
}

/// A text that is not empty: an empty option would take the next one for its value.
fn word(keys: &mut Keys<'_>, name: &'static str, doc: &'static str) -> Option<String> {
    let found = keys.optional(name, text(), doc)?;
    if found.value.trim().is_empty() {
        keys.report(&found.at, &format!("`{name}` is empty"), Some("leave it out for the cluster's default"));
    }
    Some(found.value)
}

fn extra(keys: &mut Keys<'_>) -> Vec<String> {
    let found =
        keys.optional("extra", list(text()), "Further options of `sbatch`, each as \"--name=value\".");
    let options = found.map(|options| options.value).unwrap_or_default();
    for option in &options {
        let name = option.value.split('=').next().unwrap_or_default();
        if !name.starts_with("--") {
            let what = format!("`{}` is not a long option of sbatch", option.value);
            keys.report(&option.at, &what, Some("write, for instance, \"--reservation=bench\""));
        } else if OURS.contains(&name) {
            let what = format!("gpbench gives `{name}` itself");
            keys.report(&option.at, &what, Some("time, memory, threads and exclusive are keys of `ask`"));
        }
    }
    values(options)
}

fn values<T>(list: Vec<At<T>>) -> Vec<T> {
    list.into_iter().map(|item| item.value).collect()
}

fn ask(keys: &mut Keys<'_>) -> ResourceSettings {
    let seconds = keys.derived("time", time(), "follows from the plan", "Wall-clock time of a task.");
    let memory = keys.derived("memory", memory(), "follows from the plan", "Memory of a task.");
    let threads = keys.derived("threads", count(), "follows from the plan", "Threads of a task.");
    let exclusive = keys.or("exclusive", truth(), true, "Whether no other job may run on the node.");
    ResourceSettings {
        seconds: seconds.map(whole_seconds),
        memory_bytes: memory.map(|bytes| bytes.value),
        threads: threads.map(|threads| threads.value),
        exclusive: exclusive.value,
    }
}

fn whole_seconds(time: At<f64>) -> u64 {
    time.value.ceil() as u64
}

fn tasks(keys: &mut Keys<'_>) -> TaskSettings {
    let units = choice("unit", [("block", TaskUnit::Block), ("case", TaskUnit::Case)]);
    let by = "What a task is: a block of cases whose times are compared, or a case.";
    let pack = keys.optional("pack", time(), "Time up to which short blocks share a task.");
    let throttle = keys.optional("throttle", count(), "Most tasks that run at a time.");
    let retries = "How often a task is sent again after failures of the machines.";
    TaskSettings {
        by: keys.or("by", units, "block", by).value,
        pack_seconds: pack.map(whole_seconds),
        throttle: throttle.map(|most| most.value),
        retries: keys.or("retries", whole(between(0.0, 100.0)), 3, retries).value,
    }
}

fn intervals(keys: &mut Keys<'_>) -> Intervals {
    let mut every = |name, default, doc| keys.or(name, time(), default, doc).value;
    Intervals {
        poll: every("poll", "15s", "Time between two polls of the queue while something changes."),
        longest_poll: every(
            "longest_poll",
            "2m",
            "Time between two polls of the queue after nothing has changed for long.",
        ),
        confirm: every("confirm", "1m", "Time between two answers that show a task as ended or unknown."),
        beat: every("beat", "30s", "Time between two heartbeats of a task."),
        silent: every("silent", "90s", "Time without a heartbeat after which a task counts as silent."),
        stuck: every("stuck", "10m", "Time without a heartbeat after which a running task is cancelled."),
        answer: every(
            "answer",
            "30m",
            "Time limit of the answer of a short job that reports the numerics of a node.",
        ),
    }
}

fn nodes(keys: &mut Keys<'_>) -> NodeSettings {
    let sets = choice("instruction set", ["avx512", "avx2", "portable"].map(|name| (name, name.to_owned())));
    let asked = "a short job reports it";
    let setup = keys.optional("setup", list(text()), "Lines of the shell that run before each task.");
    let set = keys.derived("instruction_set", sets, asked, "The nodes' instruction set.");
    let core =
        keys.derived("blas_core", text(), asked, "The nodes' OpenBLAS core type, such as \"Cooperlake\".");
    NodeSettings {
        setup: setup.map(|lines| values(lines.value)).unwrap_or_default(),
        instruction_set: set.map(|set| set.value),
        blas_core: core.map(|core| core.value),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn load(text: &str, sets: &[&str]) -> Result<Site, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cluster.toml");
        fs::write(&file, text).unwrap();
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let prefix = format!("{}/", folder.path().display());
        load_site(Some(&file), &sets).map_err(|errors| errors.to_string().replace(&prefix, ""))
    }

    #[test]
    fn all_keys_are_read() {
        let text = r#"
[slurm]
site  = { partition = "compute", account = "gp", qos = "normal", constraint = "zen4", extra = ["--reservation=bench"] }
ask   = { time = "4h", memory = "32GiB", threads = 16, exclusive = false }
tasks = { by = "case", pack = "30m", throttle = 50, retries = 5 }
nodes = { setup = ["module load openblas"], instruction_set = "avx512", blas_core = "Cooperlake" }
"#;
        let site = load(text, &["slurm.ask.time=90s"]).unwrap();
        let some = |text: &str| Some(text.to_owned());
        let expected = Site {
            partition: some("compute"),
            account: some("gp"),
            qos: some("normal"),
            constraint: some("zen4"),
            extra: vec!["--reservation=bench".into()],
            ask: ResourceSettings {
                seconds: Some(90),
                memory_bytes: Some(32 << 30),
                threads: Some(16),
                exclusive: false,
            },
            tasks: TaskSettings {
                by: TaskUnit::Case,
                pack_seconds: Some(1800),
                throttle: Some(50),
                retries: 5,
            },
            intervals: Intervals::default(),
            nodes: NodeSettings {
                setup: vec!["module load openblas".into()],
                instruction_set: some("avx512"),
                blas_core: some("Cooperlake"),
            },
        };
        assert_eq!(site, expected);
    }

    #[test]
    fn everything_is_optional() {
        assert_eq!(load("", &[]), Ok(Site::default()));
        assert_eq!(load_site(None, &[]), Ok(Site::default()));
        let names: Vec<_> = site_reference().iter().map(|key| key.name).collect();
        assert_eq!(names, ["slurm"]);
    }

    #[test]
    fn mistakes_are_told_together_with_their_places() {
        let text = "[slurm]\nask = { time = \"4\", memry = \"32GiB\" }\n\
                    site = { extra = [\"--array=0-3\", \"-p\"], qos = \"\" }\ntasks = { by = \"cases\" }\n";
        let errors = load(text, &["slurm.ask.threads=0"]).unwrap_err();
        for expected in [
            "cluster.toml:2:16: error: `time`: `4` lacks a unit",
            "cluster.toml:2:21: error: unknown key `memry` in `ask` of [slurm]; did you mean `memory`?",
            "cluster.toml:3:19: error: gpbench gives `--array` itself",
            "cluster.toml:3:34: error: `-p` is not a long option of sbatch",
            "cluster.toml:3:47: error: `qos` is empty",
            "cluster.toml:4:16: error: unknown unit \"cases\"; did you mean `case`?",
            "--set:1:19: error: `threads` must be a positive whole number",
        ] {
            assert!(errors.contains(expected), "{expected}\n\n{errors}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_told() {
        let error = load_site(Some(Path::new("/nowhere/cluster.toml")), &[]).unwrap_err().to_string();
        assert!(
            error.starts_with("/nowhere/cluster.toml: error: cannot read these settings: No such"),
            "{error}"
        );
    }
}
