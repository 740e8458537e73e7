//! Three hundred rows of real data, and the hyperparameters under which answers are known.

use ndarray::{Array1, Array2};

use crate::json;

/// The first 300 training and 40 test rows of split 0 of the UCI set pol, standardised by mean and
/// population standard deviation of that split's whole training part.
#[derive(Debug, Clone)]
pub struct SmallSystem {
    /// Training inputs, 300 x 26.
    pub x_train: Array2<f64>,
    /// Training targets, 300.
    pub y_train: Array1<f64>,
    /// Test inputs, 40 x 26.
    pub x_test: Array2<f64>,
    /// Test targets, 40.
    pub y_test: Array1<f64>,
    /// The five settings, each with answers of its own.
    pub settings: Vec<Setting>,
}

/// Hyperparameters: H = signal_scale^2 k(X, X) + noise_scale^2 I.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Key of the answers. `*_paper` are published hyperparameters; `*_ones` has every
    /// scale 1; `matern32_smooth` is strongly correlated, with a condition number of 1e3.
    pub name: String,
    /// Kernel family, `matern32` or `rbf`.
    pub kernel: String,
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// Standard deviation of the observation noise.
    pub noise_scale: f64,
    /// One length scale for each input, 26.
    pub length_scale: Vec<f64>,
}

impl SmallSystem {
    /// Reads the system, which is compiled in.
    #[must_use]
    pub fn load() -> SmallSystem {
        let file = json::parse(include_str!("../data/small_system.json"));
        let settings = file["settings"].as_object().expect("settings by name");
        let settings = settings.iter().map(|(name, setting)| Setting {
            name: name.clone(),
            kernel: setting["kernel"].as_str().expect("a kernel family").to_owned(),
            signal_scale: json::number(&setting["signal_scale"]),
            noise_scale: json::number(&setting["noise_scale"]),
            length_scale: json::vector(&setting["length_scale"]).to_vec(),
        });
        SmallSystem {
            x_train: json::matrix(&file["x_train"]),
            y_train: json::vector(&file["y_train"]),
            x_test: json::matrix(&file["x_test"]),
            y_test: json::vector(&file["y_test"]),
            settings: settings.collect(),
        }
    }

    /// The setting of this name.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    #[track_caller]
    pub fn setting(&self, name: &str) -> &Setting {
        let found = self.settings.iter().find(|setting| setting.name == name);
        found.unwrap_or_else(|| panic!("no setting is called {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_what_it_says() {
        let system = SmallSystem::load();
        assert_eq!((system.x_train.dim(), system.y_train.len()), ((300, 26), 300));
        assert_eq!((system.x_test.dim(), system.y_test.len()), ((40, 26), 40));
        let names: Vec<&str> = system.settings.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!(names, ["matern32_paper", "matern32_ones", "rbf_paper", "rbf_ones", "matern32_smooth"]);
        for setting in &system.settings {
            assert!(setting.name.starts_with(&setting.kernel));
            assert_eq!(setting.length_scale.len(), 26);
        }
        let smooth = system.setting("matern32_smooth");
        assert_eq!((smooth.signal_scale, smooth.noise_scale), (1.0, 0.3));
        assert_eq!(smooth.length_scale, [10.0; 26]);
    }
}
