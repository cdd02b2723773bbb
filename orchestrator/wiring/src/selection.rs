//! What of all there may be is wanted, so that nothing is looked for in vain. Pure.

use packtrain_drivers::{DeviceId, Platform};

use packtrain_terminal::exit::CliError;

/// The most virtual phones of a platform, as in the configuration.
const MAX_VIRTUAL: u32 = 1_000;

/// What the words behind `-d` ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceSelection<'a> {
    /// The words; comma lists were split.
    pub words: &'a [String],
    /// Every device there is.
    pub all: bool,
}

/// Where a platform's devices are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Nowhere: not requested.
    Not,
    /// Where it costs nothing: what is not there is not missed.
    Quietly,
    /// Everywhere: somebody asked for them, so what is missing is an error.
    Thoroughly,
}

impl DeviceSelection<'_> {
    /// How devices of a platform are looked for.
    pub fn search(self, platform: Platform) -> Search {
        let of_platform = |word: &str| match word.split_once('/') {
            Some((prefix, name)) => prefix == platform.as_str() && !is_virtual(name),
            None => word == platform.as_str(),
        };
        let named = self.words.iter().any(|word| of_platform(word));
        // A bare name may be any platform's; a virtual phone's is there already, or is missed in vain.
        let is_bare = |word: &str| match word.split_once('/') {
            Some((prefix, name)) => prefix == platform.as_str() && is_virtual(name),
            None => !word.contains(':') && word.parse::<Platform>().is_err(),
        };
        let bare = self.words.iter().any(|word| is_bare(word));
        if named {
            Search::Thoroughly
        } else if self.all || bare || self.words.is_empty() {
            Search::Quietly
        } else {
            Search::Not
        }
    }

    /// Whether a device that came later is wanted: a part of a name does not count, for it may be one of
    /// several by now.
    pub fn takes(self, id: &DeviceId) -> bool {
        let platform = id.platform().as_str();
        let mut words = self.words.iter();
        self.all
            || words.any(|word| *word == id.to_string() || word == platform || word == id.name())
    }

    /// How many virtual phones of a platform are asked for by `virtual:android` or
    /// `virtual:android:20`; `None` when none are.
    ///
    /// # Errors
    /// When a word that begins with `virtual:` is invalid.
    pub fn virtual_phones(self, platform: Platform) -> Result<Option<u32>, CliError> {
        let mut count = None;
        for word in self.words {
            let Some(rest) = word.strip_prefix("virtual:") else {
                continue;
            };
            let wrong = || {
                CliError::misuse(format!("invalid virtual device `{word}`"))
                    .hint("expected virtual:android, virtual:ios, or virtual:android:20 for twenty; at most 1000")
            };
            let (name, number) = match rest.split_once(':') {
                Some((name, number)) => {
                    let number = number.parse().ok();
                    let number = number.filter(|number| (1..=MAX_VIRTUAL).contains(number));
                    (name, number.ok_or_else(wrong)?)
                }
                None => (rest, 0),
            };
            match name.parse::<Platform>().map_err(|_| wrong())? {
                Platform::Web => return Err(wrong()),
                found if found == platform => count = Some(count.unwrap_or(0).max(number)),
                Platform::Android | Platform::Ios => {}
            }
        }
        Ok(count)
    }
}

/// Whether a device's name is one that virtual phones have.
fn is_virtual(name: &str) -> bool {
    let number = name.strip_prefix("virtual-");
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_what_was_asked_for_is_looked_for() {
        let web = words(&["web/a"]);
        let wanted = DeviceSelection {
            words: &web,
            all: false,
        };
        assert_eq!(wanted.search(Platform::Android), Search::Not);
        let all = DeviceSelection {
            words: &[],
            all: true,
        };
        assert_eq!(all.search(Platform::Android), Search::Quietly);
        let named = words(&["android/emulator-5554"]);
        let wanted = DeviceSelection {
            words: &named,
            all: false,
        };
        assert_eq!(wanted.search(Platform::Android), Search::Thoroughly);
        assert_eq!(wanted.search(Platform::Ios), Search::Not);
    }

    #[test]
    fn a_virtual_phone_gives_no_reason_to_start_what_real_ones_need() {
        let search = |word: &str| {
            let words = words(&[word]);
            let (words, all) = (words.as_slice(), false);
            DeviceSelection { words, all }.search(Platform::Android)
        };
        assert_eq!(search("android/virtual-2"), Search::Quietly);
        assert_eq!(search("ios/virtual-2"), Search::Not);
        assert_eq!(search("android/virtual"), Search::Thoroughly);
    }

    #[test]
    fn a_device_that_comes_is_taken_by_its_whole_name_or_its_platform() {
        let phone = DeviceId::new(Platform::Android, "R3CN30");
        let takes = |word: &str| {
            let words = words(&[word]);
            let (words, all) = (words.as_slice(), false);
            DeviceSelection { words, all }.takes(&phone)
        };
        for word in ["android", "android/R3CN30", "R3CN30"] {
            assert!(takes(word), "{word}");
        }
        for word in ["ios", "R3CN", "ios/R3CN30", "virtual:android"] {
            assert!(!takes(word), "{word}");
        }
    }

    #[test]
    fn virtual_phones_are_counted() {
        let some = words(&["virtual:android:20", "virtual:ios", "web"]);
        let wanted = DeviceSelection {
            words: &some,
            all: false,
        };
        assert_eq!(wanted.virtual_phones(Platform::Android).unwrap(), Some(20));
        assert_eq!(wanted.virtual_phones(Platform::Ios).unwrap(), Some(0));
        let none = words(&["web"]);
        let wanted = DeviceSelection {
            words: &none,
            all: false,
        };
        assert_eq!(wanted.virtual_phones(Platform::Ios).unwrap(), None);
        for wrong in [
            "virtual:web",
            "virtual:android:x",
            "virtual:",
            "virtual:android:0",
            "virtual:android:1001",
        ] {
            let wrong = words(&[wrong]);
            let wanted = DeviceSelection {
                words: &wrong,
                all: false,
            };
            assert!(wanted.virtual_phones(Platform::Android).is_err());
        }
    }
}
