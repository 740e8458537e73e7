//! How the processors of this machine were used, from the files of `/proc`.

use std::fs;

use crate::ProcessorTimes;

/// The times until now; `None` where the system does not tell.
pub(super) fn times() -> Option<ProcessorTimes> {
    let read = |path| fs::read_to_string(path).ok();
    parse(&read("/proc/stat")?, &read("/proc/self/stat")?, &read("/proc/self/status")?)
}

/// The times by the texts of `/proc/stat`, `/proc/self/stat` and `/proc/self/status`.
fn parse(machine: &str, own: &str, status: &str) -> Option<ProcessorTimes> {
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let (mut total, mut busy) = (0, 0);
    for line in machine.lines() {
        let Some((name, counts)) = line.split_once(' ') else { continue };
        let Some(number) = name.strip_prefix("cpu").and_then(|number| number.parse::<usize>().ok()) else {
            continue;
        };
        if allowed.is_some_and(|list| !is_in_list(number, list)) {
            continue;
        }
        let counts: Vec<u64> = counts.split_whitespace().filter_map(|count| count.parse().ok()).collect();
        // What guests use is a part of the first two as well.
        let [user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen] =
            *counts.first_chunk::<8>()?;
        let used = user + nice + system + interrupts + soft_interrupts + stolen;
        busy += used;
        total += used + idle + waiting;
    }
    // The name of the program, in brackets, may hold blanks.
    let (_, fields) = own.rsplit_once(')')?;
    let times: Vec<u64> = fields.split_whitespace().skip(11).take(4).map_while(|t| t.parse().ok()).collect();
    (total > 0 && times.len() == 4).then(|| ProcessorTimes { total, busy, own: times.iter().sum() })
}

/// Whether a number is in a list such as `0-3,8`.
fn is_in_list(number: usize, list: &str) -> bool {
    list.trim().split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let ends = first.parse::<usize>().ok().zip(last.parse::<usize>().ok());
        ends.is_some_and(|(first, last)| (first..=last).contains(&number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = "cpu  300 0 40 500 60 7 8 9 0 0\n\
                           cpu0 100 1 10 200 20 2 3 4 50 0\n\
                           cpu1 200 0 30 300 40 5 5 5 0 0\n\
                           cpu2 900 0 0 0 0 0 0 0 0 0\n\
                           intr 1 2 3\n";
    const OWN: &str = "77 (gp (bench) x) S 1 77 77 0 -1 4194560 9 8 7 6 40 5 300 20 20 0 1 0 99";

    #[test]
    fn processors_that_may_be_used_count() {
        let times = parse(MACHINE, OWN, "Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\n").unwrap();
        assert_eq!(times, ProcessorTimes { total: 925, busy: 365, own: 365 });
        let all = parse(MACHINE, OWN, "").unwrap();
        assert_eq!((all.total, all.busy), (1825, 1265));
        assert_eq!(parse("cpu0 1 2 3\n", OWN, ""), None);
        assert_eq!(parse(MACHINE, "77 (short) S 1", ""), None);
    }

    #[test]
    fn lists_have_numbers_and_ranges() {
        let within = |list| (0..10).filter(|&number| is_in_list(number, list)).collect::<Vec<_>>();
        assert_eq!(within("\t0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(within(""), [0; 0]);
    }

    #[test]
    fn this_machine_tells_its_times() {
        let times = times().unwrap();
        assert!(times.busy <= times.total && times.own > 0 || times.own == 0);
    }
}
