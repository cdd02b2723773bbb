//! From words to arguments: parameters, commands, arithmetic, fields, file names.

use crate::android::files::FinalLink;
use crate::android::lock;
use crate::android::shell::arithmetic;
use crate::android::shell::environment::Shell;
use crate::android::shell::io::{Input, Io, Output};
use crate::android::shell::pattern;
use crate::android::shell::run::Flow;
use crate::android::shell::syntax::{List, Operation, Piece, Word};

/// The most arguments one command line can expand to.
const MAX_ARGUMENTS: usize = 10_000;

/// A field being put together: its text, and the same with `\` before what must not be taken
/// for a pattern.
#[derive(Default)]
struct Field {
    text: String,
    pattern: String,
    /// Whether anything was quoted, so that an empty field stays.
    quoted: bool,
    wild: bool,
}

impl Field {
    fn push(&mut self, c: char, quoted: bool) {
        self.text.push(c);
        if quoted || c == '\\' {
            self.pattern.push('\\');
        } else {
            self.wild |= matches!(c, '*' | '?' | '[');
        }
        self.pattern.push(c);
    }
}

/// What a piece of a word comes to.
enum Value {
    One(String),
    /// `"$@"`: each its own field.
    Many(Vec<String>),
}

impl Shell {
    /// The arguments a list of words comes to.
    ///
    /// # Errors
    /// When the shell has to end.
    pub(super) async fn arguments_of(
        &mut self,
        words: &[Word],
        io: &Io,
    ) -> Result<Vec<String>, Flow> {
        let mut all = Vec::new();
        for word in words {
            for field in self.fields_of(word, io).await? {
                if field.wild {
                    let found = self.files_like(&field.pattern);
                    if !found.is_empty() {
                        all.extend(found);
                        continue;
                    }
                }
                all.push(field.text);
            }
            all.truncate(MAX_ARGUMENTS);
        }
        Ok(all)
    }

    /// A word as one text, as in assignments and redirections.
    ///
    /// # Errors
    /// As [`Shell::arguments_of`].
    pub(super) async fn text_of(&mut self, word: &Word, io: &Io) -> Result<String, Flow> {
        let mut text = String::new();
        for piece in &word.0 {
            match self.value_of(piece, io).await? {
                Value::One(value) => text.push_str(&value),
                Value::Many(values) => text.push_str(&values.join(" ")),
            }
        }
        Ok(self.with_home(&word.0, text))
    }

    /// A word as a pattern: quoted characters stand for themselves.
    ///
    /// # Errors
    /// As [`Shell::arguments_of`].
    pub(super) async fn pattern_of(&mut self, word: &Word, io: &Io) -> Result<String, Flow> {
        let mut field = Field::default();
        for piece in &word.0 {
            let quoted = is_quoted(piece);
            if let Value::One(value) = self.value_of(piece, io).await? {
                value.chars().for_each(|c| field.push(c, quoted));
            }
        }
        Ok(field.pattern)
    }

    async fn fields_of(&mut self, word: &Word, io: &Io) -> Result<Vec<Field>, Flow> {
        let mut done: Vec<Field> = Vec::new();
        let mut open: Option<Field> = None;
        for (i, piece) in word.0.iter().enumerate() {
            let quoted = is_quoted(piece);
            let value = self.value_of(piece, io).await?;
            match value {
                Value::Many(values) => {
                    for (k, value) in values.into_iter().enumerate() {
                        if k > 0 {
                            done.extend(open.take());
                        }
                        let field = open.get_or_insert_default();
                        field.quoted = true;
                        value.chars().for_each(|c| field.push(c, true));
                    }
                }
                Value::One(value) if quoted || matches!(piece, Piece::Literal { .. }) => {
                    let value = if i == 0 {
                        self.with_home(&word.0, value)
                    } else {
                        value
                    };
                    let field = open.get_or_insert_default();
                    field.quoted |= quoted;
                    value.chars().for_each(|c| field.push(c, quoted));
                }
                // What comes from an unquoted expansion is split at spaces.
                Value::One(value) => {
                    for c in value.chars() {
                        if matches!(c, ' ' | '\t' | '\n') {
                            done.extend(open.take());
                        } else {
                            open.get_or_insert_default().push(c, false);
                        }
                    }
                }
            }
        }
        done.extend(open);
        done.retain(|field| field.quoted || !field.text.is_empty());
        Ok(done)
    }

    /// `~` at the front of a word.
    fn with_home(&self, pieces: &[Piece], text: String) -> String {
        let tilde = matches!(pieces.first(), Some(Piece::Literal { text, quoted: false })
            if text == "~" || text.starts_with("~/"));
        if tilde {
            let home = self.get("HOME").unwrap_or_default();
            return format!("{}{}", home.trim_end_matches('/'), &text[1..]);
        }
        text
    }

    async fn value_of(&mut self, piece: &Piece, io: &Io) -> Result<Value, Flow> {
        Ok(match piece {
            Piece::Literal { text, .. } => Value::One(text.clone()),
            Piece::Parameter {
                name,
                operation,
                length,
                quoted,
            } => {
                if *quoted && name == "@" && operation.is_none() {
                    return Ok(Value::Many(self.arguments.clone()));
                }
                let value = self.parameter(name);
                let value = match operation {
                    None => value.unwrap_or_default(),
                    Some((operation, word)) => {
                        Box::pin(self.operate(name, value, *operation, word, io)).await?
                    }
                };
                Value::One(if *length {
                    value.chars().count().to_string()
                } else {
                    value
                })
            }
            Piece::Command { list, .. } => Value::One(Box::pin(self.output_of(list, io)).await?),
            Piece::Arithmetic { expression, .. } => {
                let text = Box::pin(self.text_of(expression, io)).await?;
                match arithmetic::evaluate(&text, &|name| self.parameter(name)) {
                    Some(number) => Value::One(number.to_string()),
                    None => {
                        self.complain(io, &format!("{text}: bad arithmetic expression"))
                            .await?;
                        return Err(Flow::Exit(1));
                    }
                }
            }
        })
    }

    fn parameter(&self, name: &str) -> Option<String> {
        match name {
            "?" => Some(self.status.to_string()),
            "$" => Some(self.pid.to_string()),
            "!" => self.last_background.map(|pid| pid.to_string()),
            "#" => Some(self.arguments.len().to_string()),
            "@" | "*" => Some(self.arguments.join(" ")),
            "-" => Some(if self.exit_on_error {
                "e".to_owned()
            } else {
                String::new()
            }),
            "0" => Some("sh".to_owned()),
            "RANDOM" => Some(self.android.device().roll(32_767).to_string()),
            _ => match name.parse::<usize>() {
                Ok(number) => self.arguments.get(number.wrapping_sub(1)).cloned(),
                Err(_) => self.get(name),
            },
        }
    }

    async fn operate(
        &mut self,
        name: &str,
        value: Option<String>,
        operation: Operation,
        word: &Word,
        io: &Io,
    ) -> Result<String, Flow> {
        let there = |colon: bool| value.as_ref().is_some_and(|v| !colon || !v.is_empty());
        Ok(match operation {
            Operation::Default { colon } if !there(colon) => self.text_of(word, io).await?,
            Operation::Assign { colon } if !there(colon) => {
                let text = self.text_of(word, io).await?;
                self.set(name, &text);
                text
            }
            Operation::Error { colon } if !there(colon) => {
                let text = self.text_of(word, io).await?;
                self.complain(io, &format!("{name}: {text}")).await?;
                return Err(Flow::Exit(1));
            }
            Operation::Alternative { colon } => {
                if there(colon) {
                    self.text_of(word, io).await?
                } else {
                    String::new()
                }
            }
            Operation::CutPrefix { longest } => {
                let (value, pattern) =
                    (value.unwrap_or_default(), self.pattern_of(word, io).await?);
                cut_prefix(&value, &pattern, longest)
            }
            Operation::CutSuffix { longest } => {
                let (value, pattern) =
                    (value.unwrap_or_default(), self.pattern_of(word, io).await?);
                cut_suffix(&value, &pattern, longest)
            }
            Operation::Default { .. } | Operation::Assign { .. } | Operation::Error { .. } => {
                value.unwrap_or_default()
            }
        })
    }

    /// What a command prints, without the line ends at its end.
    async fn output_of(&mut self, list: &List, io: &Io) -> Result<String, Flow> {
        let captured = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
        let inner = Io {
            stdin: Input::empty(),
            stdout: Output::Capture(captured.clone()),
            stderr: io.stderr.clone(),
        };
        let mut copy = self.clone();
        copy.depth += 1;
        self.status = copy.run_as_subshell(list, &inner).await?;
        let text = String::from_utf8_lossy(&lock(&captured)).into_owned();
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// The paths that match a pattern, in order.
    fn files_like(&self, pattern: &str) -> Vec<String> {
        let absolute = pattern.starts_with('/');
        let mut found = vec![if absolute {
            "/".to_owned()
        } else {
            String::new()
        }];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let mut next = Vec::new();
            for base in &found {
                next.extend(self.matching(base, part));
                if next.len() > MAX_ARGUMENTS {
                    return Vec::new();
                }
            }
            found = next;
        }
        found
    }

    fn matching(&self, base: &str, part: &str) -> Vec<String> {
        let files = lock(&self.android.files);
        let dir = if base.is_empty() { "." } else { base };
        let Ok(real) = files.resolve(&self.cwd, dir, FinalLink::Follow) else {
            return Vec::new();
        };
        let joined = |name: &str| match base {
            "" => name.to_owned(),
            "/" => format!("/{name}"),
            _ => format!("{base}/{name}"),
        };
        let plain: String = unescaped(part);
        if !part.contains(['*', '?', '[']) {
            let path = files.resolve(&real, &plain, FinalLink::Follow);
            let there = path.is_ok_and(|path| files.meta(&path).is_some());
            return if there {
                vec![joined(&plain)]
            } else {
                Vec::new()
            };
        }
        let names = files.list(&real, &self.who).unwrap_or_default();
        let hidden = part.starts_with('.');
        (names.iter())
            .filter(|name| (hidden || !name.starts_with('.')) && pattern::matches(part, name))
            .map(|name| joined(name))
            .collect()
    }

    /// The real path of `path`, links followed.
    pub fn real_path(&self, path: &str) -> Result<String, crate::android::files::Errno> {
        lock(&self.android.files).resolve(&self.cwd, path, FinalLink::Follow)
    }
}

const fn is_quoted(piece: &Piece) -> bool {
    match piece {
        Piece::Literal { quoted, .. }
        | Piece::Parameter { quoted, .. }
        | Piece::Command { quoted, .. }
        | Piece::Arithmetic { quoted, .. } => *quoted,
    }
}

fn unescaped(pattern: &str) -> String {
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

fn cut_prefix(value: &str, pattern: &str, longest: bool) -> String {
    let ends = value.char_indices().map(|(i, _)| i).chain([value.len()]);
    let mut matching = ends.filter(|end| pattern::matches(pattern, &value[..*end]));
    let end = if longest {
        matching.next_back()
    } else {
        matching.next()
    };
    value[end.unwrap_or(0)..].to_owned()
}

fn cut_suffix(value: &str, pattern: &str, longest: bool) -> String {
    let starts = value.char_indices().map(|(i, _)| i).chain([value.len()]);
    let mut matching = starts.filter(|start| pattern::matches(pattern, &value[*start..]));
    let start = if longest {
        matching.next()
    } else {
        matching.next_back()
    };
    value[..start.unwrap_or(value.len())].to_owned()
}
