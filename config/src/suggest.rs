//! What is wrong with a value in words people use, and what they may have meant.

use packtrain_yaml::suggest::closest;
use packtrain_yaml::{DecodeError, Step};

use crate::key::KeyPath;
use crate::layer::settings;

/// The setting a mistake is about, what is wrong and what to do about it.
pub(crate) fn words(mistake: DecodeError) -> (KeyPath, String, Option<String>) {
    let way = mistake.way().map(|step| match step {
        Step::Key(key) => key.clone(),
        Step::Item(place) => place.to_string(),
    });
    let key = KeyPath::new(way);
    let Some((name, known)) = mistake.unknown_key.as_deref() else {
        return (key, mistake.message.into(), mistake.hint);
    };
    let hint = if closest(name, known.iter().copied()).is_some() {
        mistake.hint
    } else {
        elsewhere(name).or_else(|| Some(format!("known keys: {}", known.join(", "))))
    };
    (key.child(name), mistake.message.into(), hint)
}

/// Where a key belongs that is not known where it stands.
fn elsewhere(name: &str) -> Option<String> {
    let parents: Vec<String> = settings()
        .into_iter()
        .filter(|setting| setting.key.parts().last().is_some_and(|last| last == name))
        .filter_map(|setting| setting.key.parent())
        .map(|parent| {
            format!("`{parent}`")
                .replace('*', "<name>")
                .replace(".#", "[]")
        })
        .collect();
    (!parents.is_empty()).then(|| format!("`{name}` belongs in {}", parents.join(" or ")))
}
