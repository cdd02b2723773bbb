//! A YAML file that defines something about tools, and what is wrong with it so far. Knows nothing
//! of what it defines.

use packtrain_drivers::Platform;
use packtrain_model::diagnostic::{Diagnostic, quoted};
use packtrain_model::source::Source;
use packtrain_model::suggest::did_you_mean;
use packtrain_model::yaml::{self, Mapping, Node, Value};
use serde::de::DeserializeOwned;

/// Platforms that Trailblaze drives and Packtrain does not.
const ELSEWHERE: [&str; 1] = ["desktop"];

/// A file being read.
pub(crate) struct Document<'a> {
    pub(crate) source: &'a Source,
    problems: Vec<Diagnostic>,
}

impl<'a> Document<'a> {
    /// Reads a file that must hold a mapping; `what` names what it defines.
    ///
    /// # Errors
    /// What is wrong with it as YAML.
    pub(crate) fn read(source: &'a Source, what: &str) -> Result<(Self, Mapping), Vec<Diagnostic>> {
        let read = yaml::read(source);
        if read.problems.iter().any(Diagnostic::is_error) {
            return Err(read.problems);
        }
        let refused = |span, message: String| vec![Diagnostic::error(source, span, message)];
        let Some(Value { node, span }) = read.value else {
            return Err(refused(None, "the file is empty".to_owned()));
        };
        let kind = Value::from(node.clone()).kind();
        let Node::Mapping(root) = node else {
            return Err(refused(span, format!("expected {what}, found {kind}")));
        };
        let problems = read.problems;
        Ok((Self { source, problems }, root))
    }

    /// Notes a problem.
    pub(crate) fn tell(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    /// What was read, or else its problems noted.
    pub(crate) fn kept<T>(&mut self, read: Result<T, Vec<Diagnostic>>) -> Option<T> {
        read.map_err(|problems| self.problems.extend(problems)).ok()
    }

    /// The file as a `T`.
    pub(crate) fn decoded<T: DeserializeOwned>(&mut self, root: &Mapping) -> Option<T> {
        let value = Value::from(Node::Mapping(root.clone()));
        let decoded = value.decode();
        self.kept(decoded.map_err(|error| vec![error.diagnostic(self.source)]))
    }

    /// Warns of keys that mean nothing.
    pub(crate) fn unknown_keys(&mut self, root: &Mapping, what: &str, known: &[&str]) {
        for entry in &root.entries {
            let key = &entry.key;
            if !known.contains(&key.text.as_str()) {
                let message = format!("unknown key {} in {what}", quoted(&key.text));
                let hint = did_you_mean(&key.text, known.iter().copied());
                self.tell(Diagnostic::warning(self.source, key.span, message).hint(hint));
            }
        }
    }

    /// A list of platforms, empty for all. `None` when none of them is one that Packtrain drives,
    /// and after a mistake.
    pub(crate) fn platforms(&mut self, value: Option<&Value>) -> Option<Vec<Platform>> {
        let words = value.map_or(&[][..], |value| {
            value.as_sequence().unwrap_or(std::slice::from_ref(value))
        });
        let mut platforms = Vec::new();
        for word in words {
            let text = word.as_scalar().map_or("", |scalar| &scalar.text);
            let lower = text.to_ascii_lowercase();
            match lower.parse() {
                Ok(platform) => platforms.push(platform),
                Err(_) if lower == "all" => return Some(Vec::new()),
                Err(_) if ELSEWHERE.contains(&lower.as_str()) => {}
                Err(_) => {
                    let known = Platform::ALL.map(Platform::as_str);
                    let hint = did_you_mean(text, known)
                        .unwrap_or_else(|| format!("expected one of: {}", known.join(", ")));
                    let message = match text {
                        "" => format!("expected a platform, found {}", word.kind()),
                        text => format!("unknown platform {}", quoted(text)),
                    };
                    self.tell(Diagnostic::error(self.source, word.span, message).hint(hint));
                }
            }
        }
        (words.is_empty() || !platforms.is_empty()).then_some(platforms)
    }

    /// The warnings.
    ///
    /// # Errors
    /// All problems in the order of the file, when one of them is a mistake.
    pub(crate) fn finish(mut self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        self.problems.sort_by_key(|problem| problem.span);
        if self.problems.iter().any(Diagnostic::is_error) {
            return Err(self.problems);
        }
        Ok(self.problems)
    }
}
