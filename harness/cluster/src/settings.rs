//! Path of the settings of a site.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

/// The file of the user's settings, `gpbench/cluster.toml` in the folder of settings, where there is one.
pub fn settings_file() -> Option<PathBuf> {
    let file = etcetera::choose_base_strategy().ok()?.config_dir().join("gpbench/cluster.toml");
    file.exists().then_some(file)
}
