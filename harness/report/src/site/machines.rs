//! Kinds of machines: times are compared within one kind alone.

use std::collections::BTreeMap;

use gpbench_record::{Environment, Row, counted, text};

/// A kind of machine, with the build and the threads that cases had there.
pub(super) struct Machine {
    /// Words that no other kind has.
    pub(super) label: String,
    /// Threads a case may use, where they are known.
    pub(super) threads: Option<usize>,
    /// The digest of rows; for rows without one that is known, a text of the run.
    kind: String,
}

/// All kinds of machines.
#[derive(Default)]
pub(super) struct Machines {
    all: Vec<Machine>,
}

/// The environments of a run by their digests.
pub(super) struct Environments<'r> {
    by_kind: BTreeMap<String, &'r Environment>,
    /// Words for the run.
    run: &'r str,
}

impl<'r> Environments<'r> {
    pub(super) fn new(environments: &'r [Environment], run: &'r str) -> Environments<'r> {
        Environments { by_kind: environments.iter().map(|known| (known.kind(), known)).collect(), run }
    }

    /// What tells the kind of a row's machine from others, and the environment where it is known. A row of an earlier
    /// version that names none ran in the one that its run has. A row that names one that its run does not have, such as
    /// that of another run, states nothing of its machine, and shares it with no other run.
    fn of(&self, row: &Row) -> (String, Option<&'r Environment>) {
        let is_only = self.by_kind.len() == 1 && row.reused_from.is_none();
        let only = || self.by_kind.keys().next().filter(|_| is_only);
        match row.environment.as_ref().or_else(only) {
            Some(kind) => match self.by_kind.get(kind) {
                Some(environment) => (kind.clone(), Some(*environment)),
                None => (format!("{kind} of run {}", self.run), None),
            },
            None => (format!("run {}", self.run), None),
        }
    }
}

impl Machines {
    /// The place of the machine that a row ran on.
    pub(super) fn place(&mut self, row: &Row, environments: &Environments<'_>) -> usize {
        let (kind, environment) = environments.of(row);
        if let Some(place) = self.all.iter().position(|known| known.kind == kind) {
            return place;
        }
        let label = environment.map_or_else(|| format!("not known ({})", environments.run), label);
        let label = text::cut(&text::line(&label), text::NAME).into_owned();
        let label = self.unique(label, &kind);
        self.all.push(Machine { label, threads: environment.map(|known| known.threads), kind });
        self.all.len() - 1
    }

    /// A label that no other kind has: with the first digits of the kind where another has the same one, and with a
    /// number where that is not enough, as for kinds that a stranger has made up.
    fn unique(&self, label: String, kind: &str) -> String {
        let is_free = |label: &String| self.all.iter().all(|known| known.label != *label);
        let digits = text::line(&kind[..kind.floor_char_boundary(6)]);
        let of_kind = || format!("{label} · kind {digits}");
        let numbered = (2..).map(|count| format!("{label} · kind {digits} ({count})"));
        let mut labels = [label.clone(), of_kind()].into_iter().chain(numbered);
        labels.find(is_free).unwrap_or_else(of_kind)
    }

    /// The machine at a place.
    pub(super) fn at(&self, place: usize) -> &Machine {
        &self.all[place]
    }

    /// All labels, by place.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|machine| machine.label.as_str())
    }

    /// The numbers of threads, increasing.
    pub(super) fn threads(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.all.iter().filter_map(|machine| machine.threads).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Processor, instruction set and threads.
fn label(environment: &Environment) -> String {
    let Environment { cpu, cores, cpu_dispatch, threads, .. } = environment;
    let threads = format!("{} a case", counted(*threads, "thread"));
    let parts = [cpu.clone(), counted(*cores, "core"), cpu_dispatch.clone(), threads];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use gpbench_record::testing::{case, row};

    use super::*;

    #[test]
    fn kinds_of_one_label_are_told_apart() {
        let known = |gpbench: &str, threads: usize| Environment {
            gpbench: gpbench.to_owned(),
            cpu: "Fast".to_owned(),
            cores: 4,
            threads,
            ..Environment::default()
        };
        let of_run = [known("1", 2), known("2", 2), known("1", 4)];
        let environments = Environments::new(&of_run, "first");
        let mut machines = Machines::default();
        let mut place = |environment: Option<String>| {
            machines.place(&Row { environment, ..row(case("cg"), &[]) }, &environments)
        };
        let places =
            [Some(of_run[0].kind()), Some(of_run[1].kind()), Some(of_run[0].kind()), None].map(&mut place);
        assert_eq!(places, [0, 1, 0, 2]);
        assert_eq!(machines.at(0).label, "Fast, 4 cores, 2 threads a case");
        assert!(machines.at(1).label.starts_with("Fast, 4 cores, 2 threads a case · kind "));
        assert_eq!(machines.at(2).label, "not known (first)");
        assert_eq!(machines.threads(), [2]);
    }

    #[test]
    fn kinds_that_a_stranger_made_up_are_told_apart() {
        let environments = Environments::new(&[], "theirs");
        let mut machines = Machines::default();
        for kind in ["abcdef1", "abcdef2", "abcdef3", "ébcdefg"] {
            let row = Row { environment: Some(kind.to_owned()), ..row(case("cg"), &[]) };
            machines.place(&row, &environments);
        }
        let labels = [
            "not known (theirs)",
            "not known (theirs) · kind abcdef",
            "not known (theirs) · kind abcdef (2)",
            "not known (theirs) · kind ébcde",
        ];
        assert_eq!(machines.labels().collect::<Vec<_>>(), labels);
    }

    #[test]
    fn a_row_is_of_a_kind_of_machine_whose_environment_its_run_has() {
        let ours = [Environment { cpu: "Fast".to_owned(), ..Environment::default() }];
        let named = || Row { environment: Some(ours[0].kind()), ..row(case("cg"), &[]) };
        let mut machines = Machines::default();
        for (known, run, place) in [(1, "ours", 0), (1, "copied", 0), (0, "theirs", 1)] {
            let environments = Environments::new(&ours[..known], run);
            assert_eq!(machines.place(&named(), &environments), place, "{run}");
        }
        assert_eq!(machines.at(1).label, "not known (theirs)");
    }

    #[test]
    fn a_row_of_an_earlier_version_ran_where_its_run_did() {
        let of_run = [Environment { cpu: "Old".to_owned(), ..Environment::default() }];
        let environments = Environments::new(&of_run, "first");
        let mut machines = Machines::default();
        assert_eq!(machines.place(&row(case("cg"), &[]), &environments), 0);
        let foreign = Row { reused_from: Some("a/b".to_owned()), ..row(case("cg"), &[]) };
        assert_eq!(machines.place(&foreign, &environments), 1);
        assert!(machines.at(0).label.starts_with("Old"));
    }
}
