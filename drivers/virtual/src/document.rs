//! Reading the YAML files of this crate, and one error for what is wrong with them.
//!
//! Knows nothing of what the files mean.

use packtrain_yaml::diagnostic::Diagnostic;
use packtrain_yaml::{Options, Span, read_documents};
use serde::de::DeserializeOwned;

pub use packtrain_yaml::{At, Position, Source};

/// What a file may hold; 4 MiB at most.
const OPTIONS: Options = Options {
    is_lenient: true,
    documents: true,
    max_bytes: 4 * 1024 * 1024,
    max_nodes: 100_000,
};

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}: {}", .0.location(), .0.message)]
pub struct DocumentError(pub Box<Diagnostic>);

/// Reads every YAML document of a text.
///
/// # Errors
/// The first thing that is not well formed or not of the expected shape.
pub fn read<T: DeserializeOwned>(source: &Source) -> Result<Vec<T>, DocumentError> {
    let (documents, problems) = read_documents(source, OPTIONS);
    if let Some(problem) = problems.into_iter().next() {
        return Err(DocumentError(Box::new(problem)));
    }
    let typed = documents.iter().map(|document| {
        document.decode().map_err(|mistake| {
            let place = mistake.span.or(document.span).unwrap_or_default().start;
            error(source, place, mistake.message, mistake.hint)
        })
    });
    typed.collect()
}

/// An error at `place`; at line 0 it is about the file as a whole.
pub fn error(
    source: &Source,
    place: Position,
    message: impl Into<String>,
    hint: Option<String>,
) -> DocumentError {
    let at = source.position(place.line.into(), place.column.into());
    let span = (place.line > 0).then(|| Span::at(at));
    DocumentError(Box::new(
        Diagnostic::error(source, span, message).hint(hint),
    ))
}
