//! Taking a program's arguments apart, as `getopt` does.

use std::collections::BTreeMap;

/// Options and what is left of the arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    flags: BTreeMap<String, String>,
    /// The arguments that are no options, in order.
    pub rest: Vec<String>,
}

impl Options {
    /// Takes `args` apart. `with_value` names the options that take a value: single letters as
    /// they are, long ones with `--` and Android's with one `-`.
    pub fn of(args: &[String], with_value: &[&str]) -> Self {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                options.rest.extend(args.cloned());
                break;
            }
            if !arg.starts_with('-') || arg == "-" {
                options.rest.push(arg.clone());
                continue;
            }
            if let Some((name, value)) = arg.split_once('=').filter(|_| arg.starts_with("--")) {
                options.flags.insert(name.to_owned(), value.to_owned());
                continue;
            }
            if with_value.contains(&arg.as_str()) {
                let value = args.next().cloned().unwrap_or_default();
                options.flags.insert(arg.clone(), value);
                continue;
            }
            if arg.starts_with("--") {
                options.flags.insert(arg.clone(), String::new());
                continue;
            }
            options.letters(arg, with_value, &mut args);
        }
        options
    }

    /// `-rf`, `-n5`, `-n 5`
    fn letters<'a>(
        &mut self,
        arg: &str,
        with_value: &[&str],
        args: &mut impl Iterator<Item = &'a String>,
    ) {
        for (i, letter) in arg[1..].char_indices() {
            if with_value.contains(&letter.to_string().as_str()) {
                let glued = &arg[1 + i + letter.len_utf8()..];
                let value = if glued.is_empty() {
                    args.next().cloned().unwrap_or_default()
                } else {
                    glued.to_owned()
                };
                self.flags.insert(letter.to_string(), value);
                return;
            }
            self.flags.insert(letter.to_string(), String::new());
        }
    }

    /// Whether the option was given.
    pub fn has(&self, name: &str) -> bool {
        self.flags.contains_key(name)
    }

    /// An option that was given and is none of these.
    pub fn other_than(&self, known: &str, with_value: &[&str]) -> Option<&String> {
        let is_known = |flag: &str| known.contains(flag) || with_value.contains(&flag);
        self.flags.keys().find(|flag| !is_known(flag))
    }

    /// Whether any of the single letters was given.
    pub fn any(&self, letters: &str) -> bool {
        letters.chars().any(|letter| self.has(&letter.to_string()))
    }

    /// The value of the option.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.flags.get(name).map(String::as_str)
    }

    /// The value of the option as a number.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.value(name)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_apart_as_getopt_does() {
        let args = ["-rfn5", "a", "--user", "0", "--es=x", "-", "--", "-z"].map(str::to_owned);
        let options = Options::of(&args, &["n", "--user"]);
        assert!(options.has("r") && options.any("xf") && !options.has("z"));
        assert_eq!(options.number("n"), Some(5));
        assert_eq!(options.value("--user"), Some("0"));
        assert_eq!(options.value("--es"), Some("x"));
        assert_eq!(options.rest, ["a", "-", "-z"]);
    }
}
