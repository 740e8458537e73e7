//! The units of a file: what its columns were scaled by, and hyperparameters in them.

use serde::{Deserialize, Serialize};

use crate::{Hyperparameters, Kernel};

/// What the columns of a file were scaled by in a split.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FileUnits {
    /// The inputs, in the order of the kernel's length scales. Each value of a column of categories is one.
    pub inputs: Vec<ColumnScale>,
    /// The target.
    pub target: ColumnScale,
}

/// What was subtracted from the values of a column, and what they were then divided by.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ColumnScale {
    /// Its name; its number counted from 0 where the file gives it none.
    pub name: String,
    /// What was subtracted.
    pub centre: f64,
    /// What the differences were divided by.
    pub divisor: f64,
    /// Unit of its numbers, where the reader chose it: that of times, such as `hours`. Empty for other columns.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

impl FileUnits {
    /// Prefix of the names of length scales in the units of the file, before the name of the column.
    pub const LENGTH_SCALE: &str = "length_scale.";

    /// Hyperparameters of a kernel in the units of the file: `noise_scale`, `signal_scale` and `mean` in those of the target,
    /// and `length_scale.COLUMN` in those of each input. A length scale that all inputs share differs between them in their own
    /// units. The length scales of a kernel on the outputs of a network have no such units, and are left out.
    pub fn hyperparameters(&self, kernel: &Kernel, named: &Hyperparameters) -> Hyperparameters {
        let FileUnits { inputs, target } = self;
        let mut found = Hyperparameters::new();
        for name in ["noise_scale", "signal_scale"] {
            found.extend(named.get(name).map(|scale| (name.to_owned(), scale * target.divisor)));
        }
        let mean = named.get("mean").map(|mean| mean * target.divisor + target.centre);
        found.extend(mean.map(|mean| ("mean".to_owned(), mean)));
        if kernel.network.is_some() {
            return found;
        }
        let shared = named.get("length_scale");
        for (index, input) in inputs.iter().enumerate() {
            let own = named.get(&format!("length_scale_{index}")).or(shared);
            found.extend(
                own.map(|scale| (format!("{}{}", Self::LENGTH_SCALE, input.name), scale * input.divisor)),
            );
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn column(name: &str, centre: f64, divisor: f64) -> ColumnScale {
        ColumnScale { name: name.to_owned(), centre, divisor, ..ColumnScale::default() }
    }

    #[test]
    fn scales_are_those_of_their_columns() {
        let inputs = vec![column("lon", 7.0, 0.5), column("depth", 100.0, 20.0)];
        let units = FileUnits { inputs, target: column("oxygen", 8.0, 2.0) };
        let mut kernel = testing::case("cg").kernel;
        let named = |pairs: &[(&str, f64)]| -> Hyperparameters {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let own = named(&[
            ("noise_scale", 0.1),
            ("signal_scale", 1.5),
            ("mean", -0.5),
            ("length_scale_0", 2.0),
            ("length_scale_1", 0.25),
        ]);
        let expected = named(&[
            ("noise_scale", 0.2),
            ("signal_scale", 3.0),
            ("mean", 7.0),
            ("length_scale.lon", 1.0),
            ("length_scale.depth", 5.0),
        ]);
        assert_eq!(units.hyperparameters(&kernel, &own), expected);
        let shared = units.hyperparameters(&kernel, &named(&[("length_scale", 2.0)]));
        assert_eq!(shared, named(&[("length_scale.lon", 1.0), ("length_scale.depth", 40.0)]));
        let network = r#"{"widths":[2],"activation":"relu"}"#;
        kernel.network = Some(serde_json::from_str(network).unwrap());
        let on_outputs = units.hyperparameters(&kernel, &own);
        assert_eq!(on_outputs.keys().collect::<Vec<_>>(), ["mean", "noise_scale", "signal_scale"]);
    }
}
