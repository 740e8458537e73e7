//! The numbers by which terms cross the C interface.

use gpbench_abi::{self as abi, activation, capability, family, log_level, model_kind, reason, value_kind};

use crate::{
    Activation, Capabilities, Capability, Covariance, Family, LogLevel, ModelKind, ParamKind, ParamValue,
    Reason,
};

/// Gives each variant of an enum its number.
macro_rules! numbers {
    ($name:ident: $number:ty { $( $variant:ident = $constant:path ),+ $(,)? }) => {
        impl $name {
            /// The number that crosses the interface.
            pub const fn number(self) -> $number {
                match self { $( $name::$variant => $constant ),+ }
            }

            /// The variant of a number; none if this version has none.
            pub const fn from_number(number: $number) -> Option<$name> {
                match number {
                    $( $constant => Some($name::$variant), )+
                    _ => None,
                }
            }
        }
    };
}

numbers! { Family: i32 {
    Rbf = family::RBF, Matern12 = family::MATERN12, Matern32 = family::MATERN32, Matern52 = family::MATERN52,
} }

numbers! { Reason: i32 {
    Converged = reason::CONVERGED, Stopped = reason::STOPPED, Iterations = reason::ITERATIONS,
    Stagnated = reason::STAGNATED, Diverged = reason::DIVERGED,
} }

numbers! { Capability: u64 {
    Exact = capability::EXACT, Randomized = capability::RANDOMIZED, WarmStart = capability::WARM_START,
    BlasThreads = capability::BLAS_THREADS, Dense = capability::DENSE, Inducing = capability::INDUCING,
    Network = capability::NETWORK, Finite = capability::FINITE, Kernel = capability::KERNEL,
    Mean = capability::MEAN,
} }

numbers! { ParamKind: i32 {
    Bool = value_kind::BOOL, Int = value_kind::INT, Float = value_kind::FLOAT, Text = value_kind::TEXT,
} }

numbers! { Activation: i32 { Relu = activation::RELU } }

numbers! { ModelKind: i32 {
    Gp = model_kind::GP, Inducing = model_kind::INDUCING, Features = model_kind::FEATURES,
    NetworkGp = model_kind::NETWORK_GP, NetworkInducing = model_kind::NETWORK_INDUCING,
    Experts = model_kind::EXPERTS,
} }

numbers! { LogLevel: i32 {
    Warning = log_level::WARNING, Info = log_level::INFO, Debug = log_level::DEBUG,
} }

impl Covariance {
    /// The number that crosses the interface.
    pub const fn number(self) -> i32 {
        match self {
            Covariance::Stationary(family) => family.number(),
            Covariance::Linear => family::LINEAR,
        }
    }

    /// The covariance function of a number; none if this version has none.
    pub const fn from_number(number: i32) -> Option<Covariance> {
        match (number, Family::from_number(number)) {
            (_, Some(family)) => Some(Covariance::Stationary(family)),
            (family::LINEAR, None) => Some(Covariance::Linear),
            _ => None,
        }
    }
}

impl Capabilities {
    /// The bits that cross the interface.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The properties of these bits. Bits that are not known here stay.
    pub const fn from_number(bits: u64) -> Capabilities {
        Capabilities(bits)
    }
}

impl ParamValue {
    /// The value that crosses the interface. It is valid as long as this one, whose text it refers to.
    pub fn to_abi(&self) -> abi::Value {
        let none = abi::Value { kind: self.kind().number(), reserved: 0, i: 0, f: 0.0, s: abi::Str::new("") };
        match self {
            ParamValue::Bool(truth) => abi::Value { i: i64::from(*truth), ..none },
            ParamValue::Int(int) => abi::Value { i: *int, ..none },
            ParamValue::Float(float) => abi::Value { f: *float, ..none },
            ParamValue::Text(text) => {
                abi::Value { s: abi::Str { ptr: text.as_ptr().cast(), len: text.len() as i64 }, ..none }
            }
        }
    }

    /// Reads a value that crosses the interface; none if its kind is unknown here, as that of no value is. `text` reads a
    /// text.
    ///
    /// # Errors
    /// Those of `text`.
    pub fn from_abi<E>(
        value: &abi::Value,
        text: impl FnOnce(abi::Str) -> Result<String, E>,
    ) -> Result<Option<ParamValue>, E> {
        Ok(match ParamKind::from_number(value.kind) {
            None => None,
            Some(ParamKind::Bool) => Some(ParamValue::Bool(value.i != 0)),
            Some(ParamKind::Int) => Some(ParamValue::Int(value.i)),
            Some(ParamKind::Float) => Some(ParamValue::Float(value.f)),
            Some(ParamKind::Text) => Some(ParamValue::Text(text(value.s)?)),
        })
    }
}
