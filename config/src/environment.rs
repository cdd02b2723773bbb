//! Settings from environment variables: `PACKTRAIN_RUN_RETRIES` is `run.retries`.

use std::path::Path;

use packtrain_yaml::Source;
use packtrain_yaml::diagnostic::Diagnostic;
use packtrain_yaml::suggest::closest;

use crate::error::ConfigError;
use crate::key::KeyPath;
use crate::layer::{Layer, Setting, settings};
use crate::origin::Origin;

const PREFIX: &str = "PACKTRAIN_";

/// Every variable that is read, with the setting it is for.
pub fn environment_variables() -> Vec<(String, KeyPath)> {
    fixed()
        .into_iter()
        .map(|setting| (variable(&setting.key), setting.key))
        .collect()
}

/// The settings in an environment, and warnings of variables that look like one but are none.
pub(crate) fn layers(
    environment: &[(String, String)],
    base: &Path,
) -> (Vec<Result<Layer, ConfigError>>, Vec<Diagnostic>) {
    let known: Vec<(String, Setting)> = fixed()
        .into_iter()
        .map(|setting| (variable(&setting.key), setting))
        .collect();
    let mut layers = Vec::new();
    let mut warnings = Vec::new();
    for (name, value) in environment
        .iter()
        .filter(|(name, _)| name.starts_with(PREFIX))
    {
        if let Some((_, setting)) = known.iter().find(|(known, _)| known == name) {
            let origin = Origin::Environment { name: name.clone() };
            let layer = Layer::from_value(
                setting.kind,
                &setting.key,
                value.clone().into(),
                origin,
                base,
            );
            layers.push(layer);
        } else if let Some(meant) = meant(name, &known) {
            let message = format!("{name} is not a setting");
            let hint = Some(format!("did you mean {meant}?"));
            warnings.push(Diagnostic::warning(&Source::new(name, ""), None, message).hint(hint));
        }
    }
    (layers, warnings)
}

/// The setting's variable a name was probably meant for. Other variables with the prefix are
/// none of our business, so only the nearest count.
fn meant<'a>(name: &str, known: &'a [(String, Setting)]) -> Option<&'a str> {
    let rest = |name: &'a str| name.strip_prefix(PREFIX).unwrap_or(name);
    let words = known.iter().map(|(known, _)| rest(known));
    let nearest = closest(name.strip_prefix(PREFIX)?, words)?;
    let mut names = known.iter().map(|(known, _)| known.as_str());
    names.find(|known| rest(known) == nearest)
}

fn fixed() -> Vec<Setting> {
    let mut settings = settings();
    settings.retain(Setting::is_fixed);
    settings
}

/// `run.failFast` is `PACKTRAIN_RUN_FAIL_FAST`.
fn variable(key: &KeyPath) -> String {
    let snake = |part: &String| {
        let letters = part.chars().flat_map(|c| {
            let gap = c.is_ascii_uppercase().then_some('_');
            gap.into_iter().chain([c.to_ascii_uppercase()])
        });
        letters.collect::<String>()
    };
    let parts: Vec<String> = key.parts().iter().map(snake).collect();
    format!("{PREFIX}{}", parts.join("_"))
}
