//! The rank of a preconditioner: a number of columns, or as many random pivots as pay.

use super::PivotedCholesky;
use crate::{Error, ParamValue, Parameter, Problem, Result};

/// Rank of a preconditioner, as a parameter of a solver: a whole number, or `"auto"` for randomly pivoted Cholesky.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Rank {
    /// This number of columns.
    Columns(usize),
    /// As many columns as pay, at most a quarter of the rows and 2 GiB: see [`PivotedCholesky::automatic`].
    Auto,
}

impl Rank {
    /// The largest number of columns for n rows.
    pub fn most(self, n: usize) -> usize {
        match self {
            Rank::Columns(columns) => columns.min(n),
            Rank::Auto => n.div_ceil(4).min((MOST_NUMBERS / n.max(1)).max(1)),
        }
    }
}

impl From<usize> for Rank {
    fn from(columns: usize) -> Rank {
        Rank::Columns(columns)
    }
}

impl Parameter for Rank {
    fn value(&self) -> ParamValue {
        match self {
            Rank::Columns(columns) => columns.value(),
            Rank::Auto => ParamValue::from("auto"),
        }
    }

    fn read(value: &ParamValue) -> Option<Rank> {
        match value {
            ParamValue::Text(word) => (word == "auto").then_some(Rank::Auto),
            number => usize::read(number).map(Rank::Columns),
        }
    }

    fn choices() -> &'static [&'static str] {
        &["auto"]
    }
}

/// Most numbers in a factor of automatic rank, 2 GiB: a quarter of many rows would not fit into memory.
const MOST_NUMBERS: usize = 1 << 28;

/// Tolerance for which the rank is chosen where the budget alone ends a solve.
const TOLERANCE: f64 = 0.01;

/// Share of the mean diagonal below which what remains is rounding error.
const NEGLIGIBLE: f64 = 1e-12;

/// Key of the choice in the state between outer steps of training.
const KEY: &str = "preconditioner-rank";

impl PivotedCholesky {
    /// A factor of as many randomly drawn columns as pay, at most n / 4, or 2^28 / n (2 GiB) if that is less.
    ///
    /// Columns are drawn in rounds, as [`random`](Self::random) does. With tau the mean remaining diagonal after k columns, CG
    /// is taken to need N = 6 sqrt(1 + tau / s^2) ln(2 / tolerance) / ln 200 iterations, which was within a factor of two of those
    /// counted on pol, elevators and bike with `remainder = 0.3`. After each round but the first, tau is continued by the
    /// power of k that leads through the last two rounds. Drawing ends when dk more columns, as many as in the last round, take
    /// more operations, 2 n k dk, than they would save: (N - N') n^2 (2 d + 40 + 2 s) for d inputs and s right-hand sides.
    ///
    /// In training the number of columns is chosen in the first outer step, and again when the N of as many columns has doubled.
    ///
    /// # Errors
    /// As [`random`](Self::random).
    pub fn automatic(problem: &Problem<'_>, noise_variance: f64) -> Result<PivotedCholesky> {
        let operator = problem.operator();
        let mean = (operator.diagonal()? - noise_variance).mean().unwrap_or(0.0);
        let earlier = Choice::load(problem)?;
        let price = Price::of(problem, noise_variance)?;
        let mut rounds = Rounds { price, negligible: NEGLIGIBLE * mean, earlier, last: None, is_new: false };
        let (most, seed) = (Rank::Auto.most(operator.n()), problem.seed());
        let factor = PivotedCholesky::random_while(
            operator,
            noise_variance,
            most,
            seed,
            problem.workers(),
            |trace| rounds.go_on(trace),
        )?;
        if let Some(choice) = rounds.choice() {
            choice.save(problem)?;
        }
        Ok(factor)
    }
}

/// What columns cost and save.
#[derive(Debug, Clone, Copy)]
struct Price {
    /// Number of rows.
    n: f64,
    noise_variance: f64,
    tolerance: f64,
    /// Operations of a product with A for each of its entries.
    entry: f64,
}

impl Price {
    fn of(problem: &Problem<'_>, noise_variance: f64) -> Result<Price> {
        let (n, d) = problem.operator().inputs()?.x.dim();
        let tolerance = if problem.tolerance() > 0.0 { problem.tolerance() } else { TOLERANCE };
        let entry = (2 * d + 40 + 2 * problem.rhs().ncols()) as f64;
        Ok(Price { n: n as f64, noise_variance, tolerance, entry })
    }

    /// Iterations of CG where the mean remaining diagonal is `tau`.
    fn iterations(&self, tau: f64) -> f64 {
        6.0 * (1.0 + tau / self.noise_variance).sqrt() * (2.0 / self.tolerance).ln() / 200_f64.ln()
    }

    /// Whether as many columns as in the round after `before` cost less than they save.
    fn pays(&self, before: Round, now: Round) -> bool {
        let (k, columns) = (now.rank as f64, (now.rank - before.rank) as f64);
        let power = (now.tau / before.tau).ln() / (k / before.rank as f64).ln();
        let tau = now.tau * ((k + columns) / k).powf(power);
        let saved = self.iterations(now.tau) - self.iterations(tau);
        2.0 * self.n * k * columns < saved * self.n * self.n * self.entry
    }
}

/// The factor after a round.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// Columns.
    rank: usize,
    /// Mean remaining diagonal.
    tau: f64,
}

/// Rounds of columns so far.
#[derive(Debug)]
struct Rounds {
    price: Price,
    /// Mean remaining diagonal below which nothing is left to explain.
    negligible: f64,
    /// The choice of an earlier outer step.
    earlier: Option<Choice>,
    last: Option<Round>,
    /// Whether the earlier choice no longer serves.
    is_new: bool,
}

impl Rounds {
    /// Whether another round is drawn, given the sums of the remaining diagonal.
    fn go_on(&mut self, trace: &[f64]) -> bool {
        let Some(sum) = trace.last() else { return true };
        let now = Round { rank: trace.len(), tau: sum / self.price.n };
        let before = self.last.replace(now);
        if !(now.tau > self.negligible) {
            return false;
        }
        if let Some(earlier) = &self.earlier {
            if now.rank < earlier.rank {
                return true;
            }
            if !self.is_new && self.price.iterations(now.tau) <= 2.0 * earlier.iterations {
                return false;
            }
            self.is_new = true;
        }
        before.is_none_or(|before| self.price.pays(before, now))
    }

    /// The choice that serves the next outer step; none without a column.
    fn choice(&self) -> Option<Choice> {
        let last = self.last?;
        let new = Choice { rank: last.rank, iterations: self.price.iterations(last.tau) };
        Some(self.earlier.filter(|_| !self.is_new).unwrap_or(new))
    }
}

/// A choice of a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Choice {
    rank: usize,
    /// Iterations that were expected with it.
    iterations: f64,
}

impl Choice {
    /// The choice of an earlier outer step.
    fn load(problem: &Problem<'_>) -> Result<Option<Choice>> {
        let Some(bytes) = problem.load_state(KEY)? else { return Ok(None) };
        let damaged = || Error::InvalidArgument(format!("the state `{KEY}` is damaged"));
        let (rank, iterations) = bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
        let iterations = f64::from_le_bytes(iterations.try_into().map_err(|_| damaged())?);
        Ok(Some(Choice { rank: u64::from_le_bytes(*rank) as usize, iterations }))
    }

    fn save(self, problem: &Problem<'_>) -> Result<()> {
        let bytes = [(self.rank as u64).to_le_bytes(), self.iterations.to_le_bytes()];
        problem.save_state(KEY, &bytes.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price { n: 1000.0, noise_variance: 0.01, tolerance: 0.01, entry: 50.0 };

    #[test]
    fn a_rank_is_a_number_or_a_word() {
        assert_eq!(Rank::read(&ParamValue::Int(7)), Some(Rank::Columns(7)));
        assert_eq!(Rank::read(&"auto".into()), Some(Rank::Auto));
        for wrong in [ParamValue::Int(-1), "automatic".into(), ParamValue::Float(3.0)] {
            assert_eq!(Rank::read(&wrong), None);
        }
        for rank in [Rank::Columns(7), Rank::Auto] {
            assert_eq!(Rank::read(&rank.value()), Some(rank));
        }
        assert_eq!((Rank::Columns(50).most(40), Rank::Auto.most(41)), (40, 11));
        // A quarter up to 32 768 rows, then so many that the factor has 2 GiB.
        assert_eq!((Rank::Auto.most(1), Rank::Auto.most(32_768), Rank::Auto.most(1_000_000)), (1, 8192, 268));
    }

    #[test]
    fn iterations_are_those_of_the_formula() {
        assert!((PRICE.iterations(0.03) - 12.0).abs() < 1e-12);
        assert!((PRICE.iterations(0.0) - 6.0).abs() < 1e-12);
    }

    #[test]
    fn columns_pay_while_the_trace_falls_steeply() {
        let (before, after) = (Round { rank: 100, tau: 0.4 }, Round { rank: 200, tau: 0.1 });
        // tau falls as k^-2: at 300 columns 0.0444.
        let saved = 6.0 * (11_f64.sqrt() - 5.444_444_444_f64.sqrt());
        let limit = 2.0 * 1000.0 * 200.0 * 100.0 / (saved * 1e6);
        assert!(Price { entry: 1.001 * limit, ..PRICE }.pays(before, after));
        assert!(!Price { entry: 0.999 * limit, ..PRICE }.pays(before, after));
        assert!(!PRICE.pays(Round { tau: 0.1, ..before }, after));
    }

    #[test]
    fn a_choice_is_kept_until_the_iterations_double() {
        let trace = |tau: f64| vec![1000.0 * tau; 128];
        let rounds = |iterations: f64| Rounds {
            price: PRICE,
            negligible: 0.0,
            earlier: Some(Choice { rank: 128, iterations }),
            last: None,
            is_new: false,
        };
        // 12 iterations at 0.03.
        let mut kept = rounds(6.1);
        assert!(!kept.go_on(&trace(0.03)));
        assert_eq!(kept.choice(), kept.earlier);
        let mut anew = rounds(5.9);
        assert!(anew.go_on(&trace(0.03)));
        assert_eq!(anew.choice(), Some(Choice { rank: 128, iterations: PRICE.iterations(0.03) }));
    }
}
