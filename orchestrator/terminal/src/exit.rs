//! How the program ends: an error with an exit code, a cause chain and a hint.

use std::fmt::Display;

use packtrain_model::Exit;
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::memory::Redactor;

/// Why the program could not do what was asked.
#[derive(Debug)]
pub struct CliError {
    /// The exit code.
    pub exit: Exit,
    /// The text that people see.
    pub explanation: Box<Explanation>,
}

/// An error as people see it.
#[derive(Debug, Default)]
pub struct Explanation {
    /// What happened, in one sentence.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Mistakes in files, each shown with its place.
    pub diagnostics: Vec<Diagnostic>,
}

impl CliError {
    /// Usage error: exit code 3.
    pub fn misuse(message: impl Into<String>) -> Self {
        Self::new(Exit::Misuse, message)
    }

    /// The app did not do what was asked: exit code 1.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// We could not find out: exit code 2.
    pub fn infrastructure(message: impl Into<String>) -> Self {
        Self::new(Exit::Infrastructure, message)
    }

    /// Files with mistakes: exit code 3.
    pub fn files(message: impl Into<String>, diagnostics: Vec<Diagnostic>) -> Self {
        let mut error = Self::misuse(message);
        error.explanation.diagnostics = diagnostics;
        error
    }

    /// Mistakes in something, which may be several files: exit code 3.
    pub fn mistakes(place: &str, diagnostics: Vec<Diagnostic>) -> Self {
        let count = diagnostics.iter().filter(|one| one.is_error()).count();
        let message = match count {
            1 => format!("1 mistake in {place}"),
            _ => format!("{count} mistakes in {place}"),
        };
        Self::files(message, diagnostics)
    }

    /// With the exit code of something that was found out besides, if that takes precedence.
    #[must_use]
    pub fn at_least(mut self, other: Exit) -> Self {
        self.exit = self.exit.max(other);
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.explanation.hint = Some(hint.into());
        self
    }

    /// Adds what to do about it, if anything.
    #[must_use]
    pub fn hinted(mut self, hint: Option<String>) -> Self {
        self.explanation.hint = hint;
        self
    }

    /// Adds a reason.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.explanation.causes.push(cause.into());
        self
    }

    /// The same without secrets.
    #[must_use]
    pub fn redacted(mut self, secrets: &Redactor) -> Self {
        let explanation = &mut *self.explanation;
        let texts = [&mut explanation.message]
            .into_iter()
            .chain(&mut explanation.causes);
        secrets.redact_all(texts.chain(&mut explanation.hint));
        for diagnostic in &mut explanation.diagnostics {
            secrets.redact_all(diagnostic.texts_mut());
        }
        self
    }

    /// Adds an error and its sources as causes.
    #[must_use]
    pub fn because(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.explanation.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            explanation: Box::new(Explanation {
                message: message.into(),
                ..Explanation::default()
            }),
        }
    }
}

/// An error from elsewhere as why the program could not do something.
pub trait OrCliError<T> {
    /// What could not be found out because of it: exit code 2.
    ///
    /// # Errors
    /// The same, as the program's.
    fn or_infrastructure(self, message: impl Display) -> Result<T, CliError>;

    /// What was asked for and cannot be because of it: exit code 3.
    ///
    /// # Errors
    /// The same, as the program's.
    fn or_misuse(self, message: impl Display) -> Result<T, CliError>;
}

impl<T, E: std::error::Error> OrCliError<T> for Result<T, E> {
    fn or_infrastructure(self, message: impl Display) -> Result<T, CliError> {
        self.map_err(|error| CliError::infrastructure(message.to_string()).because(&error))
    }

    fn or_misuse(self, message: impl Display) -> Result<T, CliError> {
        self.map_err(|error| CliError::misuse(message.to_string()).because(&error))
    }
}
