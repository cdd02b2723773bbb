//! Text as `input text` takes it: printable ASCII, with blanks as `%s`, in one word.

use super::Keycode;

/// The most characters one command types: more would run into the device's own limit.
const MAX_CHUNK: usize = 500;

/// What has to be done to type a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typing {
    /// `input text` with this word.
    Word(String),
    /// A key.
    Key(Keycode),
}

/// Whether `input text` and keys can type this.
pub(super) fn is_typeable(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' '..='~' | '\n' | '\t'))
}

/// The steps to type a text that [`is_typeable`].
pub(super) fn steps(text: &str) -> Vec<Typing> {
    let mut steps = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\t' => {
                flush(&mut word, &mut steps);
                steps.push(Typing::Key(match c {
                    '\n' => Keycode::ENTER,
                    _ => Keycode::TAB,
                }));
            }
            // `%s` is a blank to the command; written apart it is what it is.
            's' if word.ends_with('%') => {
                flush(&mut word, &mut steps);
                word.push(c);
            }
            c => word.push(c),
        }
        if word.len() >= MAX_CHUNK {
            flush(&mut word, &mut steps);
        }
    }
    flush(&mut word, &mut steps);
    steps
}

fn flush(word: &mut String, steps: &mut Vec<Typing>) {
    if !word.is_empty() {
        steps.push(Typing::Word(word.replace(' ', "%s")));
        word.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What `InputShellCommand` types.
    fn typed(steps: &[Typing]) -> String {
        steps
            .iter()
            .map(|step| match step {
                Typing::Word(word) => word.replace("%s", " "),
                Typing::Key(Keycode::ENTER) => "\n".to_owned(),
                Typing::Key(_) => "\t".to_owned(),
            })
            .collect()
    }

    proptest! {
        #[test]
        fn what_is_typed_is_what_was_asked_for(text in "[ -~\n\t]{0,60}|(%|s| ){0,20}") {
            prop_assert!(is_typeable(&text));
            prop_assert_eq!(typed(&steps(&text)), text);
        }
    }

    #[test]
    fn long_texts_are_typed_in_parts() {
        let text = "x".repeat(2 * MAX_CHUNK + 1);
        assert_eq!(steps(&text).len(), 3);
        assert_eq!(typed(&steps(&text)), text);
    }

    #[test]
    fn only_ascii_can_be_typed() {
        assert!(!is_typeable("Jörg"));
        assert!(!is_typeable("a\u{7f}"));
        assert!(!is_typeable("👋"));
    }
}
