//! Sizes and offsets of the interface on 64-bit machines: plugins that were built against it must stay compatible.

#![cfg(target_pointer_width = "64")]

use std::mem::{offset_of, size_of};

use gpbench_abi::*;

/// Asserts, while compiling, a struct's size and where its fields lie.
macro_rules! layout {
    ($type:ident: $size:literal, $($field:ident: $offset:literal),+) => {
        const _: () = {
            assert!(size_of::<$type>() == $size);
            $( assert!(offset_of!($type, $field) == $offset); )+
        };
    };
}

layout!(Str: 16, ptr: 0, len: 8);
layout!(Mat: 32, data: 0, rows: 8, cols: 16, ld: 24);
layout!(Value: 40, kind: 0, reserved: 4, i: 8, f: 16, s: 24);
layout!(Param: 168, name: 0, doc: 16, default: 32, min: 72, max: 112, choices: 152, n_choices: 160);
layout!(Host: 40, size: 0, minor: 4, ctx: 8, set_error: 16, log: 24, extension: 32);
layout!(Plugin: 112, size: 0, minor: 4, name: 8, version: 24, solvers: 40, n_solvers: 48, solver_stride: 56,
    learners: 64, n_learners: 72, learner_stride: 80, parts: 88, n_parts: 96, part_stride: 104);
layout!(Part: 72, kind: 0, reserved: 4, name: 8, version: 24, path: 40, sha256: 56);
layout!(Shape: 56, size: 0, family: 4, n: 8, m: 16, d: 24, s: 32, threads: 40, reserved: 44, batch: 48);
layout!(Facts: 64, step: 0, memory: 16, guarantees: 32, advice: 48);
layout!(Solver: 192, size: 0, reserved: 4, capabilities: 8, id: 16, doc: 32, params: 48, n_params: 56,
    create: 64, prepare: 72, solve: 80, estimate: 88, destroy: 96, source: 104, warm_up: 120, facts: 128);
layout!(Learner: 224, size: 0, reserved: 4, capabilities: 8, id: 16, doc: 32, params: 48, n_params: 56,
    source: 64, create: 80, begin: 88, fit: 96, predict: 104, model: 112, save: 120, load: 128, estimate: 136,
    destroy: 144, warm_up: 152, facts: 160);
layout!(Fit: 104, size: 0, threads: 4, seed: 8, inputs: 16, y: 24, mean: 32, flags: 40, network: 48, passes: 56,
    ctx: 64, batch: 72, charge: 80, observe: 88, extension: 96);
layout!(Network: 32, size: 0, activation: 4, widths: 8, n_widths: 16, random: 24);
layout!(Store: 32, size: 0, reserved: 4, ctx: 8, put: 16, get: 24);
layout!(FitTrace: 16, size: 0, reserved: 4, note: 8);
layout!(Operator: 64, size: 0, flags: 4, ctx: 8, n: 16, m: 24, apply: 32, diag: 40, charge: 48, extension: 56);
layout!(Problem: 88, size: 0, threads: 4, seed: 8, tolerance: 16, max_epochs: 24, op: 32, rhs: 40, x: 48,
    n_targets: 56, ctx: 64, observe: 72, extension: 80);
layout!(Report: 56, size: 0, reason: 4, iterations: 8, claimed: 16, n_claimed: 24, names: 32, values: 40,
    n_values: 48);
layout!(Rows: 24, size: 0, reserved: 4, apply: 8, fused: 16);
layout!(Columns: 16, size: 0, reserved: 4, update: 8);
layout!(Block: 16, size: 0, reserved: 4, get: 8);
layout!(Inputs: 104, size: 0, family: 4, x: 8, basis: 40, signal_scale: 72, noise_scale: 80, length_scale: 88,
    scales: 96);
layout!(Features: 24, size: 0, reserved: 4, apply: 8, apply_transposed: 16);
layout!(Targets: 72, size: 0, reserved: 4, f: 8, noise: 40);
layout!(State: 24, size: 0, reserved: 4, load: 8, save: 16);
layout!(Volatile: 24, size: 0, reserved: 4, keep: 8, take: 16);
layout!(Trace: 16, size: 0, reserved: 4, note: 8);
layout!(ParallelFor: 16, size: 0, reserved: 4, run: 8);
layout!(Script: 48, size: 0, threads: 4, file: 8, runtime: 24, memory: 40);
layout!(Process: 16, size: 0, reserved: 4, adopt: 8);
layout!(Parts: 16, size: 0, reserved: 4, add: 8);

/// Function pointers may be null, and a status is an `int32_t`.
const _: () = {
    assert!(size_of::<Option<EntryFn>>() == 8);
    assert!(size_of::<Status>() == 4);
};

#[test]
fn the_entry_is_named_after_the_major_version() {
    assert_eq!(ENTRY.to_str(), Ok(format!("gpbench_plugin_v{MAJOR}").as_str()));
}
