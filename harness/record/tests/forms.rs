//! JSON forms of the shared terms, byte for byte: journals, plans and messages hold them.

use std::fmt::Debug;

use gpbench_record::{
    Activation, Arithmetic, Bound, Capability, CaseStatus, Clock, Covariance, Entries, Exploit, Facts,
    Family, FaultCause, Frequencies, InputScaling, ModelKind, ModelSelection, NetworkShape, ParamKind,
    ParamSchema, ParamValue, ProbeDistribution, RuleStatus, Scale, SolverInfo, SolverKind, Start, StopReason,
    TargetScaling, TaskKind, TaskUnit, WarmStart,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Checks that a value has this JSON form, and that the form is read as the value.
#[track_caller]
fn form<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, json: &str) {
    assert_eq!(serde_json::to_string(&value).unwrap(), json);
    assert_eq!(serde_json::from_str::<T>(json).unwrap(), value);
}

#[track_caller]
fn forms<T: Serialize + DeserializeOwned + PartialEq + Debug, const N: usize>(values: [(T, &str); N]) {
    for (value, json) in values {
        form(value, json);
    }
}

#[test]
fn covariance_functions() {
    forms([
        (Family::Rbf, r#""rbf""#),
        (Family::Matern12, r#""matern12""#),
        (Family::Matern32, r#""matern32""#),
        (Family::Matern52, r#""matern52""#),
    ]);
    forms([
        (Covariance::Stationary(Family::Rbf), r#""rbf""#),
        (Covariance::Stationary(Family::Matern12), r#""matern12""#),
        (Covariance::Stationary(Family::Matern32), r#""matern32""#),
        (Covariance::Stationary(Family::Matern52), r#""matern52""#),
        (Covariance::Linear, r#""linear""#),
    ]);
}

#[test]
fn reasons_and_statuses() {
    forms([
        (StopReason::Converged, r#""converged""#),
        (StopReason::Epochs, r#""epochs""#),
        (StopReason::Time, r#""time""#),
        (StopReason::Iterations, r#""iterations""#),
        (StopReason::Stagnated, r#""stagnated""#),
        (StopReason::Diverged, r#""diverged""#),
        (StopReason::Target, r#""target""#),
    ]);
    forms([
        (CaseStatus::Ok, r#""ok""#),
        (CaseStatus::NotConverged, r#""not_converged""#),
        (CaseStatus::Diverged, r#""diverged""#),
        (CaseStatus::Timeout, r#""timeout""#),
        (CaseStatus::OutOfMemory, r#""out_of_memory""#),
        (CaseStatus::Crashed, r#""crashed""#),
        (CaseStatus::Invalid, r#""invalid""#),
        (CaseStatus::Skipped, r#""skipped""#),
    ]);
    forms([
        (RuleStatus::Passed, r#""passed""#),
        (RuleStatus::Failed, r#""failed""#),
        (RuleStatus::Skipped, r#""skipped""#),
    ]);
    forms([
        (FaultCause::Dataset, r#""dataset""#),
        (FaultCause::Reference, r#""reference""#),
        (FaultCause::Checkpoint, r#""checkpoint""#),
        (FaultCause::Solution, r#""solution""#),
        (FaultCause::Plugin, r#""plugin""#),
        (FaultCause::Worker, r#""worker""#),
        (FaultCause::Storage, r#""storage""#),
        (FaultCause::Resources, r#""resources""#),
        (FaultCause::Standstill, r#""standstill""#),
    ]);
}

#[test]
fn capabilities() {
    forms([
        (Capability::Exact, r#""exact""#),
        (Capability::Randomized, r#""randomized""#),
        (Capability::WarmStart, r#""warm_start""#),
        (Capability::BlasThreads, r#""blas_threads""#),
        (Capability::Dense, r#""dense""#),
        (Capability::Inducing, r#""inducing""#),
        (Capability::Network, r#""network""#),
        (Capability::Finite, r#""finite""#),
        (Capability::Kernel, r#""kernel""#),
        (Capability::Mean, r#""mean""#),
    ]);
}

#[test]
fn parameters() {
    forms([
        (ParamKind::Bool, r#""bool""#),
        (ParamKind::Int, r#""int""#),
        (ParamKind::Float, r#""float""#),
        (ParamKind::Text, r#""text""#),
    ]);
    forms([
        (ParamValue::Bool(true), "true"),
        (ParamValue::Int(1), "1"),
        (ParamValue::Int(-3), "-3"),
        (ParamValue::Float(1.0), "1.0"),
        (ParamValue::Float(0.3), "0.3"),
        (ParamValue::Float(1e-7), "1e-7"),
        (ParamValue::Text("adam".to_owned()), r#""adam""#),
        (ParamValue::Text("true".to_owned()), r#""true""#),
    ]);
    let text = ParamSchema {
        name: "optimiser".to_owned(),
        kind: ParamKind::Text,
        doc: "Optimiser.".to_owned(),
        default: ParamValue::Text("adam".to_owned()),
        min: None,
        max: None,
        choices: vec!["adam".to_owned(), "adadelta".to_owned()],
    };
    form(
        text,
        concat!(
            r#"{"name":"optimiser","kind":"text","doc":"Optimiser.","default":"adam","#,
            r#""choices":["adam","adadelta"]}"#
        ),
    );
    let whole = ParamSchema {
        name: "rank".to_owned(),
        kind: ParamKind::Int,
        doc: "Rank.".to_owned(),
        default: ParamValue::Int(100),
        min: Some(0.0),
        max: Some(4096.0),
        choices: Vec::new(),
    };
    form(whole, r#"{"name":"rank","kind":"int","doc":"Rank.","default":100,"min":0.0,"max":4096.0}"#);
}

#[test]
fn solvers_and_learners() {
    forms([(SolverKind::Solver, r#""solver""#), (SolverKind::Learner, r#""learner""#)]);
    let solver = SolverInfo {
        id: "cg".to_owned(),
        kind: SolverKind::Solver,
        doc: "Conjugate gradients.".to_owned(),
        source: Some("Hestenes and Stiefel, 1952".to_owned()),
        facts: Facts { memory: "4 n s".to_owned(), ..Facts::default() },
        capabilities: vec![Capability::WarmStart, Capability::Dense],
        params: Vec::new(),
        listed_only: false,
    };
    form(
        solver,
        concat!(
            r#"{"id":"cg","kind":"solver","doc":"Conjugate gradients.","source":"Hestenes and Stiefel, 1952","#,
            r#""facts":{"step":"","memory":"4 n s","guarantees":"","advice":""},"#,
            r#""capabilities":["warm_start","dense"],"params":[]}"#
        ),
    );
    let learner = SolverInfo {
        id: "svgp".to_owned(),
        kind: SolverKind::Learner,
        doc: String::new(),
        source: None,
        facts: Facts::default(),
        capabilities: Vec::new(),
        params: Vec::new(),
        listed_only: true,
    };
    form(
        learner,
        r#"{"id":"svgp","kind":"learner","doc":"","capabilities":[],"params":[],"listed_only":true}"#,
    );
}

#[test]
fn networks_and_models() {
    form(Activation::Relu, r#""relu""#);
    let network = NetworkShape { widths: vec![128, 64], activation: Activation::Relu, random: None };
    form(network.clone(), r#"{"widths":[128,64],"activation":"relu"}"#);
    let network = NetworkShape { random: Some(256), ..network };
    form(network, r#"{"widths":[128,64],"activation":"relu","random":256}"#);
    forms([
        (ModelKind::Gp, r#""gp""#),
        (ModelKind::Inducing, r#""inducing""#),
        (ModelKind::Features, r#""features""#),
        (ModelKind::NetworkGp, r#""network_gp""#),
        (ModelKind::NetworkInducing, r#""network_inducing""#),
        (ModelKind::Experts, r#""experts""#),
        (ModelKind::Neighbours, r#""neighbours""#),
        (ModelKind::Actions, r#""actions""#),
    ]);
}

#[test]
fn measures() {
    forms([(Arithmetic::F64, r#""f64""#), (Arithmetic::Mixed, r#""mixed""#)]);
    form(Clock { wall: 1.5, cpu: 3.0 }, r#"{"wall":1.5,"cpu":3.0}"#);
    let entries = Entries { used: 9.0, evaluated: 4.0, found: 5.0, setup: 1.0, self_reported: 0.0 };
    form(entries, r#"{"used":9.0,"evaluated":4.0,"found":5.0,"setup":1.0,"self_reported":0.0}"#);
    let earlier = r#"{"used":9.0,"evaluated":4.0,"setup":1.0,"self_reported":0.0}"#;
    assert_eq!(serde_json::from_str::<Entries>(earlier).unwrap(), Entries { found: 0.0, ..entries });
    forms([(Bound::Dgemm, r#""dgemm""#), (Bound::Sgemm, r#""sgemm""#), (Bound::Memory, r#""memory""#)]);
}

#[test]
fn choices_of_a_spec() {
    forms([
        (TaskKind::Solve, r#""solve""#),
        (TaskKind::Posterior, r#""posterior""#),
        (TaskKind::Train, r#""train""#),
        (TaskKind::Likelihood, r#""likelihood""#),
        (TaskKind::Learn, r#""learn""#),
        (TaskKind::Thompson, r#""thompson""#),
    ]);
    forms([
        (ModelSelection::Last, r#""last""#),
        (ModelSelection::Objective, r#""objective""#),
        (ModelSelection::Nlml, r#""nlml""#),
        (ModelSelection::ValidationNll, r#""validation_nll""#),
        (ModelSelection::ValidationRmse, r#""validation_rmse""#),
    ]);
    forms([(Frequencies::MultivariateT, r#""multivariate_t""#), (Frequencies::ProductT, r#""product_t""#)]);
    forms([(ProbeDistribution::Normal, r#""normal""#), (ProbeDistribution::Rademacher, r#""rademacher""#)]);
    forms([
        (Start::Cold, r#""cold""#),
        (Start::Warm, r#""warm""#),
        (Start::Extrapolated, r#""extrapolated""#),
    ]);
    forms([(Exploit::Shifted, r#""shifted""#), (Exploit::Public2023, r#""public-2023""#)]);
    forms([(WarmStart::None, r#""none""#), (WarmStart::Mean, r#""mean""#), (WarmStart::All, r#""all""#)]);
    forms([
        (Scale::NoiseScale, r#""noise_scale""#),
        (Scale::SignalScale, r#""signal_scale""#),
        (Scale::LengthScale, r#""length_scale""#),
    ]);
    forms([(TargetScaling::Standardised, r#""standardised""#), (TargetScaling::Centred, r#""centred""#)]);
    forms([(InputScaling::Standardised, r#""standardised""#), (InputScaling::Box, r#""box""#)]);
    forms([(TaskUnit::Block, r#""block""#), (TaskUnit::Case, r#""case""#)]);
}

#[test]
fn a_text_that_is_no_word_is_refused_with_the_words() {
    let refusal = |json: &str| serde_json::from_str::<ParamKind>(json).unwrap_err().to_string();
    assert_eq!(
        refusal(r#""real""#),
        "unknown variant `real`, expected one of `bool`, `int`, `float`, `text` at line 1 column 6"
    );
    assert_eq!(refusal("3"), "expected value at line 1 column 1");
    let refusal = serde_json::from_str::<Covariance>(r#""matern""#).unwrap_err().to_string();
    assert_eq!(refusal, "unknown kernel family `matern`; known are rbf, matern12, matern32, matern52");
}
