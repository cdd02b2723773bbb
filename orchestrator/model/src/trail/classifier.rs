//! What holds for which device: the closest classifier wins.

use packtrain_drivers::Classifier;

use crate::source::Span;

/// The names a device answers to, closest first. `[android, phone]` answers to `android-phone`,
/// `android` and `phone`.
pub fn lineage(classifiers: &[Classifier]) -> Vec<String> {
    let segments: Vec<&str> = classifiers
        .iter()
        .map(|classifier| classifier.0.as_str())
        .filter(|segment| !segment.trim().is_empty())
        .collect();
    let mut names: Vec<String> = Vec::new();
    let whole = segments.join("-");
    // A segment that is not an ancestor of the whole is still a name of the device, a weaker one.
    for name in std::iter::once(whole.as_str()).chain(segments.into_iter().rev()) {
        for ancestor in ancestors(name) {
            if !names.iter().any(|known| known == ancestor) {
                names.push(ancestor.to_owned());
            }
        }
    }
    names
}

/// `a-b-c`, `a-b`, `a`.
fn ancestors(name: &str) -> impl Iterator<Item = &str> {
    let first = (!name.is_empty()).then_some(name);
    std::iter::successors(first, |name| {
        let (parent, segment) = name.rsplit_once('-')?;
        (!parent.is_empty() && !segment.is_empty()).then_some(parent)
    })
}

/// Values for classifiers, in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct ByClassifier<T> {
    entries: Vec<ForClassifier<T>>,
}

/// A value and the devices it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct ForClassifier<T> {
    /// The classifier; `None` when it is for every device, as everything in the list form is.
    pub classifier: Option<String>,
    /// The value.
    pub value: T,
    /// Where the classifier stands, or the value when it is for every device.
    pub span: Span,
}

impl<T> Default for ByClassifier<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
        }
    }
}

impl<T> ByClassifier<T> {
    /// The entry closest to a device; the lineage comes from [`lineage`].
    pub fn closest(&self, lineage: &[String]) -> Option<&ForClassifier<T>> {
        lineage
            .iter()
            .find_map(|name| self.get(name))
            .or_else(|| self.entries.iter().find(|entry| entry.classifier.is_none()))
    }

    /// The entry of just this classifier.
    pub fn get(&self, classifier: &str) -> Option<&ForClassifier<T>> {
        self.entries
            .iter()
            .find(|entry| entry.classifier.as_deref() == Some(classifier))
    }

    /// All entries.
    pub fn iter(&self) -> std::slice::Iter<'_, ForClassifier<T>> {
        self.entries.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn push(&mut self, classifier: Option<String>, value: T, span: Span) {
        self.entries.push(ForClassifier {
            classifier,
            value,
            span,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{ByClassifier, lineage};
    use crate::source::Span;

    fn names(segments: &[&str]) -> Vec<String> {
        let classifiers: Vec<_> = segments.iter().map(|segment| (*segment).into()).collect();
        lineage(&classifiers)
    }

    #[test]
    fn a_phone_is_first_a_phone_then_an_android() {
        assert_eq!(
            names(&["android", "phone"]),
            ["android-phone", "android", "phone"]
        );
        assert_eq!(names(&["web"]), ["web"]);
    }

    #[test]
    fn a_segment_with_its_own_family_comes_last() {
        assert_eq!(
            names(&["ios", "lab-cloud"]),
            ["ios-lab-cloud", "ios-lab", "ios", "lab-cloud", "lab"]
        );
    }

    #[test]
    fn blank_segments_and_stray_dashes_make_no_names() {
        assert_eq!(names(&["ios", " ", ""]), ["ios"]);
        assert_eq!(names(&[]), [] as [&str; 0]);
        assert_eq!(names(&["-a", "b-"]), ["-a-b-", "b-", "-a"]);
    }

    #[test]
    fn the_closest_entry_wins_wherever_it_stands() {
        let mut entries = ByClassifier::default();
        entries.push(Some("android".to_owned()), 1, Span::default());
        entries.push(Some("android-phone".to_owned()), 2, Span::default());
        assert_eq!(
            entries
                .closest(&names(&["android", "phone"]))
                .unwrap()
                .value,
            2
        );
        assert_eq!(
            entries
                .closest(&names(&["android", "tablet"]))
                .unwrap()
                .value,
            1
        );
        assert_eq!(entries.closest(&names(&["ios"])), None);
    }
}
