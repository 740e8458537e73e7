//! `rank = "auto"`: the rule by which it ends, the factor's trace, and what is kept in training.

use std::cell::RefCell;

use gpbench_plugin_cg::Cg;
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::precondition::{PivotedCholesky, Rank};
use gpbench_sdk::{NoParams, ParamValue, Problem, Reason, Report, Result, Solver};
use gpbench_testing::{DenseProblem, matern32, scattered_inputs, scattered_right_hand_sides};

const N: usize = 1600;

/// More rows than a few rounds of candidates, and three right-hand sides.
fn problem(noise_scale: f64) -> DenseProblem {
    let (x, b) = (scattered_inputs(N), scattered_right_hand_sides(N, 3));
    DenseProblem::matern32(&x, 1.0, noise_scale, &[0.3, 0.3], &b).tolerance(0.01)
}

/// Columns and mean remaining diagonal after each round of a whole draw, the whole factor, and the rank that was chosen.
struct Draw {
    rounds: Vec<(usize, f64)>,
    whole: PivotedCholesky,
    chosen: PivotedCholesky,
}

thread_local! {
    static DRAW: RefCell<Option<Draw>> = const { RefCell::new(None) };
}

/// Draws all columns that `auto` may take, and those that it takes.
struct Drawer;

impl Solver for Drawer {
    type Params = NoParams;
    const ID: &'static str = "drawer";
    const DOC: &'static str = "Draws columns";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Drawer)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let (operator, workers) = (problem.operator(), problem.workers());
        let noise_variance = operator.inputs()?.noise_scale.powi(2);
        let (most, seed) = (Rank::Auto.most(operator.n()), problem.seed());
        let mut rounds = Vec::new();
        let record = |trace: &[f64]| {
            rounds.push((trace.len(), trace[trace.len() - 1] / N as f64));
            true
        };
        let whole = PivotedCholesky::random_while(operator, noise_variance, most, seed, workers, record)?;
        let chosen = PivotedCholesky::automatic(problem, noise_variance)?;
        DRAW.set(Some(Draw { rounds, whole, chosen }));
        Ok(Report::new(Reason::Iterations, 0))
    }
}

fn draw(noise_scale: f64) -> Draw {
    problem(noise_scale).solve::<Drawer>(&[]).unwrap();
    DRAW.take().unwrap()
}

/// The rank after the first round that more columns would not pay for, by the rule as it is documented.
fn expected(rounds: &[(usize, f64)], noise_scale: f64) -> usize {
    let n = N as f64;
    let iterations = |tau: f64| 6.0 * (1.0 + tau / noise_scale.powi(2)).sqrt();
    let ends = |pair: &&[(usize, f64)]| {
        let [(before, high), (now, low)] = pair[..] else { panic!("a pair") };
        let (before, now) = (before as f64, now as f64);
        let power = (low / high).ln() / (now / before).ln();
        let next = low * ((2.0 * now - before) / now).powf(power);
        let saved = (iterations(low) - iterations(next)) * n * n * (2.0 * 2.0 + 40.0 + 2.0 * 3.0);
        2.0 * n * now * (now - before) >= saved
    };
    rounds.windows(2).find(ends).map_or(rounds[rounds.len() - 1].0, |pair| pair[1].0)
}

#[test]
fn drawing_ends_where_more_columns_do_not_pay() {
    let mut ranks = Vec::new();
    for noise_scale in [2.0, 0.3, 0.02] {
        let Draw { rounds, chosen, .. } = draw(noise_scale);
        let rank = chosen.pivots.len();
        assert_eq!(rank, expected(&rounds, noise_scale), "{noise_scale}: {rounds:?}");
        assert_eq!(chosen.factor.ncols(), rank);
        ranks.push(rank);
    }
    println!("ranks {ranks:?}");
    assert!(ranks.is_sorted() && ranks[0] < ranks[2] && ranks[2] <= N / 4, "{ranks:?}");
}

#[test]
fn the_trace_is_that_of_the_remainder_and_columns_do_not_depend_on_the_end() {
    let Draw { rounds, whole, chosen } = draw(0.3);
    let k = matern32(&scattered_inputs(N), 1.0, 0.0, &[0.3, 0.3]);
    for (rank, tau) in rounds {
        let explained: f64 = whole.factor.columns().into_iter().take(rank).map(|l| l.dot(&l)).sum();
        assert!(((k.diag().sum() - explained) / N as f64 - tau).abs() < 1e-12, "{rank}");
    }
    let rank = chosen.pivots.len();
    assert_eq!(chosen.pivots, whole.pivots[..rank]);
    assert!(chosen.factor.columns().into_iter().zip(whole.factor.columns()).all(|(a, b)| a == b));
}

fn auto() -> Vec<(&'static str, ParamValue)> {
    vec![("preconditioner", "rp_cholesky".into()), ("rank", "auto".into())]
}

#[test]
fn the_rank_is_reported_and_the_number_of_threads_changes_nothing() {
    let problem = problem(0.1);
    let outcome = problem.solve::<Cg>(&auto()).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    let rank = outcome.number("preconditioner_rank");
    assert_eq!(rank, draw(0.1).chosen.pivots.len() as f64);
    let fixed: [(&str, ParamValue); 2] = [("preconditioner", "rp_cholesky".into()), ("rank", 20.into())];
    assert!(outcome.iterations < problem.solve::<Cg>(&fixed).unwrap().iterations);
    let again = problem.clone().threads(5).solve::<Cg>(&auto()).unwrap();
    assert_eq!((again.x, again.numbers), (outcome.x, outcome.numbers));
}

#[test]
fn in_training_the_rank_is_kept_until_the_iterations_double() {
    let first = problem(0.3).solve::<Cg>(&auto()).unwrap();
    let rank = |outcome: &gpbench_testing::Outcome| outcome.number("preconditioner_rank");
    // Another seed draws other columns, as many or up to a round more.
    let next = problem(0.25).seed(1).state(first.state.clone()).solve::<Cg>(&auto()).unwrap();
    assert!((rank(&first)..rank(&first) + 128.0).contains(&rank(&next)), "{} {}", rank(&first), rank(&next));
    assert_eq!(next.state, first.state);
    // A fifteenth of the noise: more than twice as many iterations.
    let later = problem(0.02).state(next.state).solve::<Cg>(&auto()).unwrap();
    assert_eq!(rank(&later), draw(0.02).chosen.pivots.len() as f64);
    assert!(rank(&later) > rank(&first));
    assert_ne!(later.state, first.state);
}

#[test]
fn other_preconditioners_refuse_it() {
    let small = DenseProblem::scattered(0.3, 0.5, 2);
    for preconditioner in ["pivoted_cholesky", "nystrom"] {
        let params: [(&str, ParamValue); 2] =
            [("preconditioner", preconditioner.into()), ("rank", "auto".into())];
        let refused = small.solve::<Cg>(&params).unwrap_err().to_string();
        assert!(refused.contains("rp_cholesky"), "{refused}");
    }
    let unknown = small.solve::<Cg>(&[("rank", "automatic".into())]).unwrap_err().to_string();
    assert!(unknown.contains("rank"), "{unknown}");
    // A quarter of few rows.
    let outcome = small.clone().tolerance(1e-6).solve::<Cg>(&auto()).unwrap();
    assert_eq!((outcome.reason, outcome.number("preconditioner_rank")), (Reason::Converged, 30.0));
    let few = Array2::from_shape_fn((1, 1), |_| 2.0);
    let one = DenseProblem::matern32(&scattered_inputs(1), 1.0, 0.1, &[0.5; 2], &few).tolerance(1e-6);
    assert_eq!(one.solve::<Cg>(&auto()).unwrap().number("preconditioner_rank"), 1.0);
}
