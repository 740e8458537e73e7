//! The JSON form of a path: a text, or a list of bytes if the path is not UTF-8.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes(Vec<u8>),
}

/// Writes a path; for `#[serde(with)]`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => path.as_os_str().as_bytes().serialize(serializer),
    }
}

/// Reads a path; for `#[serde(with)]`.
///
/// # Errors
/// If the value is neither a text nor a list of bytes.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Form::deserialize(deserializer).map(PathBuf::from)
}

impl From<Form> for PathBuf {
    fn from(form: Form) -> PathBuf {
        match form {
            Form::Text(text) => text.into(),
            Form::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

/// A path that may be absent; for `#[serde(with)]`.
pub mod optional {
    use super::{Deserialize, Deserializer, Form, OsStr, Path, PathBuf, Serialize, Serializer};

    /// Writes a path, or null.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
        struct Present<'a>(&'a OsStr);
        impl Serialize for Present<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                super::serialize(Path::new(self.0), serializer)
            }
        }
        path.as_ref().map(|path| Present(path.as_os_str())).serialize(serializer)
    }

    /// Reads a path, or null.
    ///
    /// # Errors
    /// If the value is neither null nor a path.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<Form>::deserialize(deserializer)?.map(PathBuf::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Paths {
        #[serde(with = "super")]
        one: PathBuf,
        #[serde(default, with = "super::optional", skip_serializing_if = "Option::is_none")]
        other: Option<PathBuf>,
    }

    #[test]
    fn any_path_has_a_json_form() {
        let strange = PathBuf::from(OsString::from_vec(b"a\xff".to_vec()));
        for (one, other, json) in [
            ("a b".into(), None, r#"{"one":"a b"}"#),
            (strange.clone(), Some("c".into()), r#"{"one":[97,255],"other":"c"}"#),
            ("c".into(), Some(strange), r#"{"one":"c","other":[97,255]}"#),
        ] {
            let paths = Paths { one, other };
            assert_eq!(serde_json::to_string(&paths).unwrap(), json);
            assert_eq!(serde_json::from_str::<Paths>(json).unwrap(), paths);
        }
    }
}
