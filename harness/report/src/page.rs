//! A report's content, which every exporter writes in its own form.

use std::borrow::Cow;

use gpbench_record::TaskKind;
use gpbench_record::metric::{METRICS, Metric, Shown};

use crate::charts::figure::Figure;
use crate::error::{Error, Result};
use crate::papers;
use crate::published;
use crate::reference::Reference;
use crate::results::Results;
use crate::run::Run;
use crate::table::Table;
use crate::tasks::section;

/// A report's content.
pub(crate) struct Page<'a> {
    pub(crate) run: &'a Run,
    /// One for each task of the run.
    pub(crate) parts: Vec<Part>,
    /// Bibliographic entries.
    pub(crate) references: Vec<String>,
}

/// What a page says of the cases of one task.
pub(crate) struct Part {
    pub(crate) task: TaskKind,
    /// What the task is called.
    pub(crate) title: &'static str,
    /// Results.
    pub(crate) tables: Vec<Table>,
    /// What the columns of the results mean.
    pub(crate) conventions: String,
    /// Our results beside published figures.
    pub(crate) published: Option<Table>,
    pub(crate) figures: Vec<Figure>,
    /// Metrics that no other table shows.
    pub(crate) details: Vec<Table>,
    /// Heading and documentation of all metrics in tables.
    pub(crate) glossary: Vec<(&'static str, &'static str)>,
}

/// Whether charts are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charts {
    Drawn,
    LeftOut,
}

impl<'a> Page<'a> {
    /// The report of a run.
    pub(crate) fn new(run: &'a Run, charts: Charts) -> Result<Page<'a>> {
        let tasks = run.tasks();
        let is_alone = tasks.len() == 1;
        let mut parts = Vec::new();
        for task in tasks {
            let own = if is_alone { Cow::Borrowed(run) } else { Cow::Owned(run.of_task(task)) };
            let mut part = Part::new(&own, task, charts)?;
            for figure in part.figures.iter_mut().filter(|_| !is_alone) {
                figure.file = format!("{task}-{}", figure.file);
            }
            parts.push(part);
        }
        let by_sections = parts.iter().flat_map(|part| section(part.task).papers().iter().copied());
        let by_figures = parts.iter().flat_map(|part| &part.figures).filter_map(|figure| figure.paper);
        let references = papers::cited(run, by_sections.chain(by_figures));
        Ok(Page { run, parts, references })
    }

    /// All charts.
    pub(crate) fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().flat_map(|part| &part.figures)
    }
}

impl Part {
    fn new(run: &Run, task: TaskKind, charts: Charts) -> Result<Part> {
        let results = Results::new(run)?;
        let section = section(task);
        let columns = section.columns(&results, task);
        let layouts = section.layouts(&results);
        let rest = rest(&results, &columns);
        let reference = run.options.reference.as_deref().and_then(Reference::named);
        let mut figures = Vec::new();
        if charts == Charts::Drawn {
            for drawn in section.figures(&results) {
                figures.extend(drawn.map_err(|error| Error::Chart(error.to_string()))?);
            }
        }
        let measured =
            |metric: &&&Metric| results.groups.iter().any(|group| group.mean(metric.name).is_some());
        let tables = layouts.iter().map(|layout| layout.table(&columns)).chain(section.tables(&results));
        Ok(Part {
            task,
            title: section.title(),
            tables: tables.collect(),
            conventions: section.conventions().join(" "),
            published: reference.and_then(|reference| {
                let speed_up = |group: &_| section.speed_up(&results, group);
                published::table(&results, &reference, section.seconds(), speed_up)
            }),
            figures,
            details: match rest.is_empty() {
                true => Vec::new(),
                false => layouts.iter().map(|layout| layout.metrics(&rest)).collect(),
            },
            glossary: columns.iter().chain(&rest).filter(measured).map(|m| (m.title, m.doc())).collect(),
        })
    }
}

/// The metrics of the results that no table of results shows, in the order of the registry.
fn rest(results: &Results<'_>, columns: &[&Metric]) -> Vec<&'static Metric> {
    let is_left = |metric: &&Metric| !columns.contains(metric) && !metric.is_shown(Shown::Own);
    let is_measured = |metric: &&Metric| results.groups.iter().any(|group| group.mean(metric.name).is_some());
    METRICS.iter().filter(is_left).filter(is_measured).collect()
}
