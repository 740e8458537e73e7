//! The content of a report, independent of its format.

use std::collections::BTreeSet;

use gpbench_record::metric::{self, METRICS, Metric, Shown};
use gpbench_record::{ReportOptions, TaskKind, names};
use gpbench_statistics::PRINTED_FROM;

use crate::archived::ArchivePart;
use crate::calibration;
use crate::charts::figure::Figure;
use crate::charts::form::ChartForm;
use crate::comparable_times::MARK;
use crate::dataset_ranking;
use crate::error::{Error, Result};
use crate::first_to_target;
use crate::frame::is_time;
use crate::frame::{Cases, Frame};
use crate::layout::{Layout, Mark};
use crate::papers;
use crate::published;
use crate::reference::Reference;
use crate::results::Results;
use crate::supported::{Supported, supported};
use crate::table::TextTable;
use crate::tasks::section;
use crate::worst_residual;

/// A report's content.
pub(crate) struct Page<'f> {
    pub(crate) cases: Cases<'f>,
    /// One for each task of the run.
    pub(crate) parts: Vec<Part>,
    /// Bibliographic entries.
    pub(crate) references: Vec<String>,
}

/// The content of a page about the cases of one task.
pub(crate) struct Part {
    pub(crate) task: TaskKind,
    /// Heading of the task.
    pub(crate) title: &'static str,
    /// Results.
    pub(crate) tables: Vec<TextTable>,
    /// Explanation of the columns of the results.
    pub(crate) conventions: String,
    /// What pairs support over several data sets.
    pub(crate) supported: Option<Supported>,
    /// Our results beside published figures, and their agreement.
    pub(crate) published: Vec<TextTable>,
    /// Archived results beside those of the run.
    pub(crate) archive: Option<TextTable>,
    pub(crate) figures: Vec<Figure>,
    /// Which times are not shown or not comparable, and which residuals a mean hides; each a sentence.
    pub(crate) remarks: Vec<String>,
    /// What a terminal says of too few seeds.
    pub(crate) advice: Option<&'static str>,
    /// Calibration of predictions, among the details of a page.
    pub(crate) calibration: Vec<TextTable>,
    /// Metrics that no other table shows.
    pub(crate) details: Vec<TextTable>,
    /// Heading and documentation of all metrics in tables.
    pub(crate) glossary: Vec<(&'static str, &'static str)>,
}

/// What a terminal says of too few seeds to compare solvers by.
const FEW_SEEDS: &str = "fewer than three seeds: nothing is bold, and ratios have no interval; five seeds tell solvers apart \
                         (`--set seeds=[0,1,2,3,4]`)";

/// Whether several solvers of a problem were run with too few seeds to compare them.
fn has_few_seeds(results: &Results<'_>) -> bool {
    let seeds: BTreeSet<u64> = results.cases.iter().map(|case| case.seed()).collect();
    seeds.len() < PRINTED_FROM && results.groups.len() > results.problems().len()
}

/// Whether charts are drawn, and in which form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Charts {
    Drawn(ChartForm),
    LeftOut,
}

impl Charts {
    /// The form of charts that are drawn.
    fn form(self) -> Option<ChartForm> {
        if let Charts::Drawn(form) = self { Some(form) } else { None }
    }
}

impl<'f> Page<'f> {
    /// The report of a run.
    pub(crate) fn new(frame: &'f Frame<'f>, charts: Charts) -> Result<Page<'f>> {
        let cases = Cases::of(frame);
        let tasks = cases.tasks();
        let is_alone = tasks.len() == 1;
        let mut parts = Vec::new();
        let timed = cases.with_times_of_one_kind();
        for task in tasks {
            let mut part = Part::new(timed.of_task(task), task, charts)?;
            part.note_times(cases.times_left_out());
            part.add_archive(ArchivePart::of(&timed.of_task(task), task, charts.form())?);
            for figure in part.figures.iter_mut().filter(|_| !is_alone) {
                figure.file = format!("{task}-{}", figure.file);
            }
            parts.push(part);
        }
        rename_repeated(parts.iter_mut().flat_map(|part| &mut part.figures));
        let by_sections = parts.iter().flat_map(|part| section(part.task).papers().iter().copied());
        let by_figures = parts.iter().flat_map(|part| &part.figures).filter_map(|figure| figure.paper);
        let references = papers::cited(&cases, by_sections.chain(by_figures));
        Ok(Page { cases, parts, references })
    }

    /// All charts.
    pub(crate) fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().flat_map(|part| &part.figures)
    }
}

/// Headings of the columns that the spec asks for, and of those that readers come for: the first of these, the metric and time
/// of the target, and the seconds.
fn wanted(options: &ReportOptions, seconds: &str) -> [Vec<&'static str>; 2] {
    let titles = |names: Vec<&str>| {
        let metrics = names.into_iter().filter_map(metric::find);
        metrics.map(|metric| metric.title).collect::<Vec<&'static str>>()
    };
    let asked: Vec<&str> = options.columns.iter().map(String::as_str).collect();
    let target = options.target.iter().flat_map(|target| [target.metric.as_str(), names::SECONDS_TO_TARGET]);
    let keys = asked.first().copied().into_iter().chain(target).chain([seconds]).collect();
    [titles(asked), titles(keys)]
}

/// Adds numbers to file names that several figures share: names that differ only in punctuation give the same one.
fn rename_repeated<'a>(figures: impl Iterator<Item = &'a mut Figure>) {
    let mut taken = BTreeSet::new();
    for figure in figures {
        let stem = figure.file.trim_end_matches(".svg").to_owned();
        let mut count = 1;
        while !taken.insert(figure.file.clone()) {
            count += 1;
            figure.file = format!("{stem}-{count}.svg");
        }
    }
}

impl Part {
    fn new(cases: Cases<'_>, task: TaskKind, charts: Charts) -> Result<Part> {
        let results = Results::new(cases).with_charts(charts.form().unwrap_or_default());
        let options = results.cases.options();
        let section = section(task);
        let columns: Vec<&Metric> = match options.columns.as_slice() {
            [] => worst_residual::with_column(&results.cases, metric::columns(task).collect()),
            asked => asked.iter().filter_map(|name| metric::find(name)).collect(),
        };
        let is_measured =
            |metric: &&&Metric| results.groups.iter().any(|group| group.metrics.contains_key(metric.name));
        let has_table = |metric: &Metric| metric.is_shown(Shown::Own) || metric.is_shown(Shown::Calibration);
        let is_left = |metric: &&Metric| !columns.contains(metric) && !has_table(metric);
        let rest: Vec<&Metric> =
            METRICS.iter().filter(is_left).filter(|metric| is_measured(&metric)).collect();
        let layouts = section.layouts(&results);
        let mark: Mark<'_> = &|group, metric| results.mark(group, metric);
        let [asked, keys] = wanted(options, section.seconds());
        let in_order = |table: TextTable| table.major(&asked).key(&keys);
        let head = dataset_ranking::table(&results).into_iter().chain(first_to_target::table(&results));
        let own = layouts.iter().map(|layout| in_order(layout.table(&columns, mark)));
        let tables: Vec<TextTable> = head.chain(own).chain(section.tables(&results)).collect();
        let calibrated: Vec<TextTable> =
            layouts.iter().filter_map(|layout| calibration::table(&results, layout)).collect();
        let details = layouts.into_iter().filter(|_| !rest.is_empty());
        let details = details
            .map(|layout| Layout { added: Vec::new(), notes: Vec::new(), ..layout }.table(&rest, mark));
        let reference = options.reference.as_deref().and_then(Reference::named);
        let mut figures = Vec::new();
        if charts != Charts::LeftOut {
            for drawn in section.figures(&results) {
                figures.extend(drawn.map_err(|error| Error::Chart(error.to_string()))?);
            }
        }
        let of_calibration: Vec<&Metric> = metric::shown(task, Shown::Calibration).collect();
        let of_calibration = of_calibration.iter().filter(|metric| !columns.contains(metric));
        let shown = columns.iter().chain(&rest).chain(of_calibration).filter(is_measured);
        let conventions = section.conventions().iter().map(|text| (*text).to_owned());
        let conventions: Vec<String> = conventions.chain(calibration::conventions(&results)).collect();
        Ok(Part {
            task,
            title: section.title(),
            tables,
            conventions: conventions.join(" "),
            supported: supported(&results),
            published: reference.map_or_else(Vec::new, |reference| {
                let speed_up = |group: &_| section.speed_up(&results, group);
                let tables = published::tables(&results, &reference, section.seconds(), speed_up);
                tables.into_iter().chain(section.published(&results, &reference)).collect()
            }),
            archive: None,
            figures,
            remarks: [
                (MARK, results.whole.remark_on_incomparable_times()),
                (worst_residual::MARK, worst_residual::remark(&results.cases)),
            ]
            .into_iter()
            .filter_map(|(mark, text)| Some(format!("{mark} {}.", text?)))
            .collect(),
            advice: has_few_seeds(&results).then_some(FEW_SEEDS),
            calibration: calibrated,
            details: details.collect(),
            glossary: shown.map(|metric| (metric.title, metric.doc())).collect(),
        })
    }

    /// The tables of the details.
    pub(crate) fn detail_tables(&self) -> impl Iterator<Item = &TextTable> {
        self.calibration.iter().chain(&self.details)
    }

    /// Adds archived results.
    fn add_archive(&mut self, archive: Option<ArchivePart>) {
        let Some(ArchivePart { table, figures, remarks }) = archive else { return };
        self.archive = table;
        self.figures.extend(figures);
        self.remarks.extend(remarks);
    }

    /// Adds to tables of times which times are not among them or not comparable.
    fn note_times(&mut self, left_out: Option<String>) {
        let is_time =
            |title: &str| METRICS.iter().any(|metric| is_time(metric.name) && metric.title == title);
        self.remarks.extend(left_out.map(|text| format!("{text}.")));
        for table in &mut self.tables {
            let has_times = table.columns.iter().any(|column| is_time(&column.title));
            let has_marks = table.rows.iter().flatten().any(|cell| cell.text.ends_with(MARK));
            if has_times || has_marks {
                let sentences = [table.caption.clone()].into_iter().chain(self.remarks.iter().cloned());
                let sentences = sentences.filter(|sentence| !sentence.is_empty());
                table.caption = sentences.collect::<Vec<_>>().join(" ");
            }
        }
    }
}
