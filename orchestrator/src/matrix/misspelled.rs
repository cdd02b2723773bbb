//! Axes that are probably a setting with a slip in its name: nothing says what their values mean, no
//! trail names them, and a setting has almost that name.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use packtrain_config::{AxisValue, Config, KeyPath, Loaded, Matrix, ValueSettings};
use packtrain_drivers::{KNOWN_AXES, known_axis};
use packtrain_model::suggest::within;
use packtrain_model::template::references;
use packtrain_model::trail::Trail;
use packtrain_model::{Diagnostic, Source};

use super::{MatrixOptions, given_axis, inline, named, plain};
use crate::exit::CliError;
use crate::names::{SLIPS, place, refused};
use crate::trails;

/// What trails and tools name of the configuration they run in. They are read when there is an axis
/// to doubt, and not before.
pub struct NamedAxes {
    paths: Vec<PathBuf>,
    names: OnceCell<BTreeSet<String>>,
}

impl NamedAxes {
    /// Of everything below the configured folder of trails and below these paths.
    pub fn new(config: &Config, paths: &[PathBuf]) -> Self {
        let all = paths.iter().chain([&config.trails_dir]);
        Self {
            paths: all.cloned().collect(),
            names: OnceCell::new(),
        }
    }

    fn contains(&self, axis: &str) -> bool {
        let names = self.names.get_or_init(|| {
            let found = |path| trails::find(std::slice::from_ref(path)).ok();
            let files = self.paths.iter().filter_map(found).flat_map(|found| {
                let trails = found.trails.into_iter();
                let trails = trails.flat_map(|trail| trails::files(&trail));
                let companions = found.companions.into_iter().map(|(path, _)| path);
                trails.chain(companions).collect::<Vec<_>>()
            });
            let mut names = BTreeSet::new();
            for text in files.filter_map(|file| std::fs::read_to_string(file).ok()) {
                names.extend(references(&text).map(|reference| reference.name.to_owned()));
            }
            names
        });
        names.contains(&format!("axis.{axis}"))
    }

    /// The axes of a matrix that are probably misspelled, each with the setting that was meant.
    pub fn misspelled<'m>(&self, matrix: &'m Matrix) -> Vec<(&'m str, &'static str)> {
        let plain = |value: &AxisValue| value.settings == ValueSettings::default();
        let axes = matrix.axes.0.iter();
        axes.filter(|(_, values)| values.iter().all(plain))
            .filter_map(|(axis, _)| Some((axis.as_str(), meant(axis)?)))
            .filter(|(axis, _)| !self.contains(axis))
            .collect()
    }
}

/// What is wrong with such an axis, and what to do about it.
pub fn words(axis: &str, meant: &str) -> (String, String) {
    let message = format!("unknown axis `{axis}`");
    let hint = format!(
        "did you mean `{meant}`? An axis of your own has settings for its values, or a trail uses \
         {{{{axis.{axis}}}}}"
    );
    (message, hint)
}

fn meant(axis: &str) -> Option<&'static str> {
    match known_axis(axis) {
        Some(_) => None,
        None => within(axis, KNOWN_AXES.iter().map(|known| known.name), SLIPS),
    }
}

/// The axes of configured matrices that are probably misspelled, of those that are `wanted`.
pub fn misspelled(
    loaded: &Loaded,
    axes: &NamedAxes,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let matrices = loaded.config.matrices.iter();
    for (name, matrix) in matrices.filter(|(name, _)| wanted(name)) {
        for (axis, meant) in axes.misspelled(matrix) {
            let (message, hint) = words(axis, meant);
            let key = KeyPath::new(["matrices", name, "axes", axis]);
            found.push(loaded.mistake(key, message, Some(hint)));
        }
    }
    found
}

/// The same of the matrix that a trail has of its own, or that there is none of the name that it says.
pub fn misspelled_of_trail(trail: &Trail, loaded: &Loaded, axes: &NamedAxes) -> Vec<Diagnostic> {
    if let Some(serde_json::Value::String(name)) = &trail.config.matrix
        && !loaded.lacks(&KeyPath::new(["matrices"]))
        && let Err(error) = named(&loaded.config, name)
    {
        let told = *error.explanation;
        let at = place(trail, &["matrix"]);
        return vec![Diagnostic::error(&trail.source, at, told.message).hint(told.hint)];
    }
    let Some(matrix) = inline(trail) else {
        return Vec::new();
    };
    let misspelled = axes.misspelled(&matrix).into_iter();
    let found = misspelled.map(|(axis, meant)| {
        let (message, hint) = words(axis, meant);
        let at = place(trail, &["matrix", "axes", axis]);
        Diagnostic::error(&trail.source, at, message).hint(hint)
    });
    found.collect()
}

/// The same of the matrices that a run has: those of its command line, or else of its trails.
///
/// # Errors
/// When the command line's axes cannot be read.
pub fn misspelled_of_run<'t>(
    trails: impl Iterator<Item = &'t Trail> + Clone,
    loaded: &Loaded,
    wanted: &MatrixOptions,
    axes: &NamedAxes,
) -> Result<Vec<Diagnostic>, CliError> {
    let mut given = Matrix::default();
    for text in &wanted.axes {
        let (axis, values) = given_axis(text)?;
        given.axes.0.push((axis, plain(values)));
    }
    let told = |axis: &str, message: String, hint: Option<String>| {
        let source = Source::new(format!("--axis {axis}"), "");
        Diagnostic::error(&source, None, message).hint(hint)
    };
    let mut found = Vec::new();
    for (axis, meant) in axes.misspelled(&given) {
        let (message, hint) = words(axis, meant);
        found.push(told(axis, message, Some(hint)));
    }
    for (axis, values) in &given.axes.0 {
        let odd = values
            .iter()
            .filter_map(|value| refused(axis, &value.value));
        found.extend(odd.map(|(why, meant)| told(axis, why, meant)));
    }
    let is_of_trails = wanted.name.is_none() && wanted.axes.is_empty();
    let mut names: BTreeSet<&str> = wanted.name.as_deref().into_iter().collect();
    for trail in trails.filter(|_| is_of_trails) {
        found.extend(misspelled_of_trail(trail, loaded, axes));
        let named = trail.config.matrix.as_ref();
        names.extend(named.and_then(serde_json::Value::as_str));
    }
    found.extend(misspelled(loaded, axes, |name| names.contains(name)));
    Ok(found)
}
