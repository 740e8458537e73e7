//! The numbers that represent terms in the C interface.

use gpbench_abi::{
    self as abi, activation, capability, family, log_level, model_kind, part_kind, reason, value_kind,
};

use crate::{
    Activation, Capabilities, Capability, Covariance, Family, LogLevel, ModelKind, ParamKind, ParamValue,
    PartKind, Reason, Shape,
};

/// Gives each variant of an enum its number.
macro_rules! numbers {
    ($name:ident: $number:ty { $( $variant:ident = $constant:path ),+ $(,)? }) => {
        impl $name {
            /// The number in the C interface.
            pub const fn number(self) -> $number {
                match self { $( $name::$variant => $constant ),+ }
            }

            /// The variant of a number; `None` if this version does not know the number.
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

numbers! { PartKind: i32 {
    File = part_kind::FILE, Package = part_kind::PACKAGE, Runtime = part_kind::RUNTIME,
} }

numbers! { Activation: i32 { Relu = activation::RELU } }

numbers! { ModelKind: i32 {
    Gp = model_kind::GP, Inducing = model_kind::INDUCING, Features = model_kind::FEATURES,
    NetworkGp = model_kind::NETWORK_GP, NetworkInducing = model_kind::NETWORK_INDUCING,
    Experts = model_kind::EXPERTS, Neighbours = model_kind::NEIGHBOURS, Actions = model_kind::ACTIONS,
} }

numbers! { LogLevel: i32 {
    Warning = log_level::WARNING, Info = log_level::INFO, Debug = log_level::DEBUG,
} }

impl Covariance {
    /// The number in the C interface.
    pub const fn number(self) -> i32 {
        match self {
            Covariance::Stationary(family) => family.number(),
            Covariance::Linear => family::LINEAR,
        }
    }

    /// The covariance function of a number; `None` if this version does not know the number.
    pub const fn from_number(number: i32) -> Option<Covariance> {
        match (number, Family::from_number(number)) {
            (_, Some(family)) => Some(Covariance::Stationary(family)),
            (family::LINEAR, None) => Some(Covariance::Linear),
            _ => None,
        }
    }
}

impl Shape {
    /// The sizes in the C interface.
    pub fn to_abi(self) -> abi::Shape {
        abi::Shape {
            size: size_of::<abi::Shape>() as u32,
            family: self.covariance.map_or(0, Covariance::number),
            n: self.n as i64,
            m: self.m as i64,
            d: self.d as i64,
            s: self.s as i64,
            threads: self.threads as u32,
            reserved: 0,
            batch: self.batch.unwrap_or(0) as i64,
        }
    }

    /// The sizes of the C interface; `None` if one of them is negative. A kernel that this version does not know is
    /// `None`.
    pub fn from_abi(shape: &abi::Shape) -> Option<Shape> {
        let size = |value: i64| usize::try_from(value).ok();
        Some(Shape {
            covariance: Covariance::from_number(shape.family),
            n: size(shape.n)?,
            m: size(shape.m)?,
            d: size(shape.d)?,
            s: size(shape.s)?,
            threads: shape.threads as usize,
            batch: Some(size(shape.batch)?).filter(|&batch| batch > 0),
        })
    }
}

impl Capabilities {
    /// The bits in the C interface.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The properties of these bits. Unknown bits are preserved.
    pub const fn from_number(bits: u64) -> Capabilities {
        Capabilities(bits)
    }
}

impl ParamValue {
    /// The value in the C interface. It is valid as long as this one, because it refers to its text.
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

    /// Reads a value of the C interface; `None` if its kind is unknown or it has none. `text` reads a text.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each variant has a number of its own.
    macro_rules! assert_numbered {
        ($($name:ident),+) => { $(
            for variant in $name::ALL {
                assert_eq!($name::from_number(variant.number()), Some(variant));
            }
        )+ };
    }

    #[test]
    fn every_number_is_that_of_one_term() {
        assert_numbered!(Family, Reason, Capability, ParamKind, Activation, ModelKind, LogLevel);
        for covariance in Covariance::all() {
            assert_eq!(Covariance::from_number(covariance.number()), Some(covariance));
        }
        assert_eq!(Family::from_number(family::LINEAR), None, "the linear one is no stationary family");
        assert_eq!(Covariance::from_number(family::RBF + family::SCALED), None);
        assert_eq!((Reason::from_number(-1), ParamKind::from_number(value_kind::NONE)), (None, None));
    }

    #[test]
    fn capabilities_are_listed_in_the_order_of_their_bits() {
        let both = Capabilities::MEAN.and(Capabilities::EXACT);
        let bits = Capabilities::from_number(both.number() | 1 << 40);
        assert_eq!(bits.iter().collect::<Vec<_>>(), [Capability::Exact, Capability::Mean]);
        assert_eq!((bits.unknown(), both.unknown()), (1 << 40, 0));
        let order = Capability::ALL.map(Capability::number);
        assert!(order.is_sorted());
    }

    #[test]
    fn values_cross_the_interface() {
        for value in [true.into(), (-3).into(), 0.3.into(), "adam".into()] {
            let value: ParamValue = value;
            let read = ParamValue::from_abi(&value.to_abi(), |text| {
                assert_eq!(text.len, 4);
                Ok::<_, ()>("adam".to_owned())
            });
            assert_eq!(read, Ok(Some(value)));
        }
        let none = abi::Value { kind: value_kind::NONE, ..ParamValue::Int(0).to_abi() };
        assert_eq!(ParamValue::from_abi(&none, |_| Err(())), Ok(None));
    }
}
