//! What the operator is made of: inputs, basis points and hyperparameters, and random
//! features of the kernel at the columns' points.

use gpbench_abi::{self as abi, Features, Inputs, Mat, Operator, Status, family};
use gpbench_gp::{Family, FrequencyLaw, RandomFeatures, seed};
use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder};

use crate::system::System;

use super::problem;
use super::session::{Refusal, Session, enter_operator};
use super::views::{Checked, Extent, disjoint};

/// Most features that a plugin may ask for.
const MAX_COUNT: i64 = 1 << 24;

pub(super) fn table() -> Features {
    Features {
        size: size_of::<Features>() as u32,
        reserved: 0,
        apply: Some(apply),
        apply_transposed: Some(apply_transposed),
    }
}

/// The inputs and hyperparameters; they live as long as the session.
pub(super) fn inputs(session: &Session) -> Inputs {
    let operator = &session.system.operator;
    let system = session.system;
    let collapse = system.collapse.as_ref();
    let x = session.x_by_columns.get_or_init(|| by_columns(system.inputs()));
    let basis = system.inducing.as_ref();
    let basis = basis.map(|inducing| session.z_by_columns.get_or_init(|| by_columns(&inducing.z)));
    let none = Mat { data: std::ptr::null_mut(), rows: 0, cols: 0, ld: 0 };
    let kernel = operator.kernel();
    let plain = match kernel.family {
        Family::Rbf => family::RBF,
        Family::Matern12 => family::MATERN12,
        Family::Matern32 => family::MATERN32,
        Family::Matern52 => family::MATERN52,
    };
    Inputs {
        size: size_of::<Inputs>() as u32,
        family: if collapse.is_some() { plain + family::SCALED } else { plain },
        x: problem::mat(x.view()),
        basis: basis.map_or(none, |basis| problem::mat(basis.view())),
        signal_scale: kernel.signal_scale,
        noise_scale: operator.noise_scale(),
        length_scale: kernel.length_scale.as_ptr(),
        scales: collapse.map_or(std::ptr::null(), |collapse| collapse.operator.scales().as_ptr()),
    }
}

fn by_columns(points: &Array2<f64>) -> Array2<f64> {
    let mut columns = Array2::zeros(points.dim().f());
    columns.assign(points);
    columns
}

/// The points that belong to the operator's columns.
fn columns_points<'a>(session: &Session<'a>) -> ArrayView2<'a, f64> {
    match session.system {
        System { inducing: Some(inducing), .. } => inducing.z.view(),
        System { collapse: Some(collapse), .. } => collapse.inputs.x.view(),
        System { data, .. } => data.x_train.view(),
    }
}

/// The scales of the operator's rows, where it has such, as a column.
fn scales<'a>(session: &Session<'a>) -> Option<ArrayView2<'a, f64>> {
    let collapse = session.system.collapse.as_ref();
    collapse.map(|collapse| collapse.operator.scales().insert_axis(Axis(1)))
}

unsafe extern "C" fn apply(op: *const Operator, seed: u64, count: i64, w: *const Mat, y: *mut Mat) -> Status {
    let body = |session: &Session| {
        let (m, count) = (session.system.m(), checked_count(count)?);
        // SAFETY: the plugin passes matrices that live until this call returns.
        let (w, y) = unsafe {
            let w = Checked::new(w, "w", Extent::Exactly(count), Extent::Any)?;
            (w, Checked::new(y, "y", Extent::Exactly(m), Extent::Exactly(w.cols()))?)
        };
        disjoint(&[("w", w), ("y", y)])?;
        session.spend(0.0, 0.0)?;
        with_features(session, seed, count, |features| {
            // SAFETY: checked above; the two do not overlap, and the plugin waits for this call.
            let (w, mut y) = unsafe { (w.view(), y.view_mut()) };
            let x = columns_points(session);
            y.assign(&session.system.operator.pool().install(|| features.apply(x, w)));
            if let Some(scales) = scales(session) {
                y *= &scales;
            }
        });
        Ok(())
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { enter_operator(op, "features.apply", body) }
}

unsafe extern "C" fn apply_transposed(
    op: *const Operator,
    seed: u64,
    count: i64,
    y: *const Mat,
    w: *mut Mat,
) -> Status {
    let body = |session: &Session| {
        let (m, count) = (session.system.m(), checked_count(count)?);
        // SAFETY: the plugin passes matrices that live until this call returns.
        let (y, w) = unsafe {
            let y = Checked::new(y, "y", Extent::Exactly(m), Extent::Any)?;
            (y, Checked::new(w, "w", Extent::Exactly(count), Extent::Exactly(y.cols()))?)
        };
        disjoint(&[("y", y), ("w", w)])?;
        session.spend(0.0, 0.0)?;
        with_features(session, seed, count, |features| {
            // SAFETY: checked above; the two do not overlap, and the plugin waits for this call.
            let (y, mut w) = unsafe { (y.view(), w.view_mut()) };
            let x = columns_points(session);
            let scaled = scales(session).map(|scales| &y * &scales);
            let y = scaled.as_ref().map_or(y, |scaled| scaled.view());
            w.assign(&session.system.operator.pool().install(|| features.apply_transposed(x, y)));
        });
        Ok(())
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { enter_operator(op, "features.apply_transposed", body) }
}

fn checked_count(count: i64) -> Result<usize, Refusal> {
    if !(2..=MAX_COUNT).contains(&count) || count % 2 != 0 {
        return Err(Refusal::Invalid(format!("{count} features were asked for; they come in pairs")));
    }
    Ok(count as usize)
}

/// Hands over the features of this seed, drawing them if they are not those of the call before.
fn with_features(session: &Session, seed: u64, count: usize, work: impl FnOnce(&RandomFeatures)) {
    let mut kept = session.features.borrow_mut();
    let fits =
        kept.as_ref().is_some_and(|(kept_seed, kept_count, _)| (*kept_seed, *kept_count) == (seed, count));
    if !fits {
        let mut rng = seed::stream(seed, &[abi::id::FEATURES]);
        let kernel = session.system.operator.kernel();
        *kept =
            Some((seed, count, RandomFeatures::draw(kernel, FrequencyLaw::MultivariateT, count, &mut rng)));
    }
    if let Some((_, _, features)) = kept.as_ref() {
        work(features);
    }
}
