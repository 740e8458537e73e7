//! `gpbench.features/1`: products with random features of the kernel at the points of the matrix's columns.

use std::cell::RefCell;

use gpbench_abi::{self as abi, Features, Mat, Operator, Status};
use gpbench_gp::{Frequencies, RandomFeatures, seed};
use ndarray::{Array2, Axis};

use crate::plugin::entrance::Refusal;
use crate::plugin::session::{OperatorExtension, Session, enter_operator};
use crate::plugin::views;

pub(super) const EXTENSION: OperatorExtension = (abi::id::FEATURES, |_, _| std::ptr::from_ref(&TABLE).cast());

static TABLE: Features = Features {
    size: size_of::<Features>() as u32,
    reserved: 0,
    apply: Some(apply),
    apply_transposed: Some(apply_transposed),
};

/// Most features that a plugin may ask for.
const MAX_COUNT: i64 = 1 << 24;

/// The features last asked for, with their seed and count.
#[derive(Default)]
struct Drawn(RefCell<Option<(u64, usize, RandomFeatures)>>);

unsafe extern "C" fn apply(op: *const Operator, seed: u64, count: i64, w: *const Mat, y: *mut Mat) -> Status {
    let body = |session: &Session| {
        let (view, count) = (session.objects.system.view(), checked_count(count)?);
        // SAFETY: the plugin passes matrices that live until this call returns.
        let (w, y) = unsafe { views::product((w, "w", count), (y, "y", view.points().nrows())) }?;
        session.spend(0.0, 0.0)?;
        // SAFETY: checked above; the two do not overlap, and the plugin waits for this call.
        let (w, mut y) = unsafe { (w.view(), y.view_mut()) };
        y.assign(&with_features(session, seed, count, |features| features.apply(view.points(), w)));
        if let Some(scales) = view.scales {
            y *= &scales.insert_axis(Axis(1));
        }
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
        let (view, count) = (session.objects.system.view(), checked_count(count)?);
        // SAFETY: the plugin passes matrices that live until this call returns.
        let (y, w) = unsafe { views::product((y, "y", view.points().nrows()), (w, "w", count)) }?;
        session.spend(0.0, 0.0)?;
        // SAFETY: checked above; the two do not overlap, and the plugin waits for this call.
        let (y, mut w) = unsafe { (y.view(), w.view_mut()) };
        let scaled = view.scales.map(|scales| &y * &scales.insert_axis(Axis(1)));
        let y = scaled.as_ref().map_or(y, |scaled| scaled.view());
        let back = |features: &RandomFeatures| features.apply_transposed(view.points(), y);
        w.assign(&with_features(session, seed, count, back));
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

/// Runs `work` on the features of this seed, drawing them unless they are those of the call before.
fn with_features(
    session: &Session,
    seed: u64,
    count: usize,
    work: impl FnOnce(&RandomFeatures) -> Array2<f64> + Send,
) -> Array2<f64> {
    let objects = &session.objects;
    let mut drawn = objects.store.get_or_init(Drawn::default).0.borrow_mut();
    let (.., features) = match drawn.take() {
        Some(drawn) if (drawn.0, drawn.1) == (seed, count) => drawn,
        _ => {
            let mut rng = seed::stream(seed, &[abi::id::FEATURES]);
            let kernel = objects.system.operator.kernel();
            (seed, count, RandomFeatures::draw(kernel, Frequencies::MultivariateT, count, &mut rng))
        }
    };
    let (.., features) = drawn.insert((seed, count, features));
    objects.system.pool.install(|| work(features))
}
