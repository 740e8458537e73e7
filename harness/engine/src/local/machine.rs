//! This machine, as its operating system describes it.

use std::fs;
use std::path::Path;

use gpbench_record::Environment;

use super::own_group::own_groups;

/// Variables that choose threads or code of the libraries that workers or plugins may use.
const VARIABLES: [&str; 10] = [
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "GLIBC_TUNABLES",
    "GPBENCH_SIMD",
    "GPBENCH_PLUGIN_PATH",
    "LD_PRELOAD",
];

/// Describes the hardware and the operating system. The rest of an environment stays empty.
pub(super) fn describe() -> Environment {
    Environment {
        os: operating_system(),
        cpu: processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        governor: fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
            .ok()
            .map(|text| text.trim().to_owned()),
        load: fs::read_to_string("/proc/loadavg").map(|text| load(&text)).unwrap_or_default(),
        memory_bytes: machine_memory().unwrap_or_default(),
        variables: VARIABLES
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
            .collect(),
        ..Environment::default()
    }
}

/// The three averages that `/proc/loadavg` begins with.
fn load(text: &str) -> Vec<f64> {
    text.split(' ').take(3).filter_map(|number| number.parse().ok()).collect()
}

fn operating_system() -> String {
    let name = fs::read_to_string("/etc/os-release")
        .ok()
        .and_then(|text| value_of(&text, "PRETTY_NAME", '='))
        .unwrap_or_else(|| std::env::consts::OS.to_owned());
    match fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => format!("{name}, kernel {}", release.trim()),
        Err(_) => name,
    }
}

fn processor() -> Option<String> {
    value_of(&fs::read_to_string("/proc/cpuinfo").ok()?, "model name", ':')
}

/// Bytes of memory that this process can have at most: the machine's, or its control groups' if less.
pub(super) fn machine_memory() -> Option<u64> {
    let groups = own_groups(Path::new("/")).into_iter().map(|group| group.limit);
    groups.chain(meminfo("MemTotal")).min()
}

/// Bytes of memory that the machine has, whatever this process may use of them.
pub(super) fn physical_memory() -> Option<u64> {
    meminfo("MemTotal")
}

/// Bytes of memory that are available to this process without swapping.
pub(super) fn available_memory() -> Option<u64> {
    let groups = own_groups(Path::new("/")).into_iter().map(|group| group.free);
    groups.chain(meminfo("MemAvailable")).min()
}

fn meminfo(field: &str) -> Option<u64> {
    kibibytes(&value_of(&fs::read_to_string("/proc/meminfo").ok()?, field, ':')?)
}

fn kibibytes(text: &str) -> Option<u64> {
    Some(text.strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The value of the first line `key<separator>value`, without spaces and quotes around it.
pub(super) fn value_of(text: &str, key: &str, separator: char) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(separator))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_key() {
        let text = "processor\t: 0\nmodel name\t: Fast: 3 GHz\nmodel name\t: other\n";
        assert_eq!(value_of(text, "model name", ':').as_deref(), Some("Fast: 3 GHz"));
        assert_eq!(value_of("A=1\nNAME=\"Debian 13\"\n", "NAME", '=').as_deref(), Some("Debian 13"));
        assert_eq!(value_of(text, "cache", ':'), None);
        assert_eq!(kibibytes("2 kB"), Some(2048));
        assert_eq!(kibibytes("2"), None);
        assert_eq!(load("0.50 1.25 2.00 3/456 7890\n"), [0.5, 1.25, 2.0]);
    }

    #[test]
    fn this_machine_has_a_processor_and_memory() {
        let here = describe();
        assert!(available_memory().is_some_and(|free| (1..=here.memory_bytes).contains(&free)));
        assert!(here.cores > 0 && here.memory_bytes > 0 && !here.cpu.is_empty() && !here.os.is_empty());
    }
}
