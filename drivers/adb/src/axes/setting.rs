//! Settings of Android that axes change: the commands that read and write each, and what they
//! print.

use crate::wire::shell::quote;

/// A setting that a matrix may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Setting {
    /// An entry of one of the tables of `settings`.
    Entry(String, String),
    /// Whether apps are drawn dark.
    Night,
    /// The languages of an app, since Android 13.
    AppLocales(String),
    /// The size of the screen, in pixels, while it differs from the panel's.
    Size,
    /// The density of the screen, while it differs from the panel's.
    Density,
    /// Airplane mode by command, since Android 11.
    Airplane,
    /// A radio by `svc`: `wifi` or `data`.
    Radio(String),
}

/// What a device says of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    /// What it would have to be set to; `None` when it is not set.
    pub(super) value: Option<String>,
    /// What the device goes by, which is the panel's size when none is set.
    pub(super) effective: Option<String>,
}

impl Setting {
    pub(super) fn entry(table: &str, key: &str) -> Self {
        Self::Entry(table.to_owned(), key.to_owned())
    }

    /// Its name in the file of what is to be restored, by which people know it too.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Entry(table, key) => format!("settings {table} {key}"),
            Self::Night => "uimode night".to_owned(),
            Self::AppLocales(id) => format!("locale {id}"),
            Self::Size => "wm size".to_owned(),
            Self::Density => "wm density".to_owned(),
            Self::Airplane => "connectivity airplane-mode".to_owned(),
            Self::Radio(which) => format!("svc {which}"),
        }
    }

    /// The setting of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let words: Vec<&str> = name.split(' ').collect();
        Some(match words.as_slice() {
            ["settings", table, key] => Self::entry(table, key),
            ["uimode", "night"] => Self::Night,
            ["locale", id] => Self::AppLocales((*id).to_owned()),
            ["wm", "size"] => Self::Size,
            ["wm", "density"] => Self::Density,
            ["connectivity", "airplane-mode"] => Self::Airplane,
            ["svc", which @ ("wifi" | "data")] => Self::Radio((*which).to_owned()),
            _ => return None,
        })
    }

    pub(super) fn reads(&self) -> String {
        match self {
            Self::Entry(table, key) => format!("settings get {} {}", quote(table), quote(key)),
            Self::Night => "cmd uimode night".to_owned(),
            Self::AppLocales(id) => {
                format!("cmd locale get-app-locales {} --user current", quote(id))
            }
            Self::Size => "wm size".to_owned(),
            Self::Density => "wm density".to_owned(),
            Self::Airplane => "settings get global airplane_mode_on".to_owned(),
            Self::Radio(which) => format!("settings get global {}", radio_entry(which)),
        }
    }

    /// What [`Self::reads`] printed; `None` when that is not an answer.
    pub(super) fn read(&self, out: &str) -> Option<Reading> {
        let same = |value: Option<String>| Reading {
            effective: value.clone(),
            value,
        };
        let lines = || out.lines().map(str::trim).filter(|line| !line.is_empty());
        Some(match self {
            Self::Entry(..) => same(entry(lines())?),
            Self::Airplane => same(Some(switched(entry(lines())?, "0"))),
            Self::Radio(_) => same(Some(switched(entry(lines())?, "1"))),
            Self::Night => same(Some(
                lines()
                    .find_map(|line| line.strip_prefix("Night mode:"))?
                    .trim()
                    .to_owned(),
            )),
            Self::AppLocales(_) => {
                let (_, list) = lines()
                    .find(|line| line.starts_with("Locales for"))?
                    .rsplit_once('[')?;
                let list = list.strip_suffix(']')?;
                same((!list.is_empty()).then(|| list.to_owned()))
            }
            Self::Size | Self::Density => {
                let after = |word: &str| {
                    let line = lines().find(|line| line.starts_with(word))?;
                    Some(line.rsplit_once(' ')?.1.to_owned())
                };
                let (panel, set) = (after("Physical")?, after("Override"));
                Reading {
                    effective: Some(set.clone().unwrap_or(panel)),
                    value: set,
                }
            }
        })
    }

    pub(super) fn writes(&self, value: Option<&str>) -> String {
        let quoted = value.map(quote);
        match (self, quoted.as_deref()) {
            (Self::Entry(table, key), Some(value)) => {
                format!("settings put {} {} {value}", quote(table), quote(key))
            }
            (Self::Entry(table, key), None) => {
                format!("settings delete {} {}", quote(table), quote(key))
            }
            (Self::Night, value) => format!("cmd uimode night {}", value.unwrap_or("no")),
            (Self::AppLocales(id), value) => {
                let value = value.unwrap_or("\"\"");
                let id = quote(id);
                format!("cmd locale set-app-locales {id} --user current --locales {value}")
            }
            (Self::Size, value) => format!("wm size {}", value.unwrap_or("reset")),
            (Self::Density, value) => format!("wm density {}", value.unwrap_or("reset")),
            (Self::Airplane, value) => {
                format!("cmd connectivity airplane-mode {}", switch(value))
            }
            (Self::Radio(which), value) => format!("svc {} {}", quote(which), switch(value)),
        }
    }
}

/// What `settings get` printed, in one line; the inner `None` is a setting that is not set.
fn entry<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<Option<String>> {
    let line = lines.next()?;
    let is_value = !line.contains("Exception") && !line.starts_with("Invalid");
    let is_all = lines.next().is_none();
    (is_value && is_all).then(|| Some(line.to_owned()).filter(|line| line != "null"))
}

/// `0` or `1`: wifi counts on for being on in airplane mode. What was never set is `unset`.
fn switched(value: Option<String>, unset: &str) -> String {
    let value = value.unwrap_or_else(|| unset.to_owned());
    if value == "0" { "0" } else { "1" }.to_owned()
}

fn radio_entry(which: &str) -> &'static str {
    match which {
        "wifi" => "wifi_on",
        _ => "mobile_data",
    }
}

fn switch(value: Option<&str>) -> &'static str {
    match value {
        None | Some("0") => "disable",
        Some(_) => "enable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Setting; 7] {
        [
            Setting::entry("system", "font_scale"),
            Setting::Night,
            Setting::AppLocales("com.a".to_owned()),
            Setting::Size,
            Setting::Density,
            Setting::Airplane,
            Setting::Radio("wifi".to_owned()),
        ]
    }

    #[test]
    fn a_setting_is_found_by_its_name() {
        for setting in all() {
            assert_eq!(Setting::named(&setting.name()), Some(setting));
        }
        assert_eq!(Setting::named("settings system"), None);
        assert_eq!(Setting::named("reboot"), None);
    }

    #[test]
    fn what_devices_print_is_read() {
        let read = |setting: &Setting, out: &str| {
            let reading = setting.read(out);
            reading.map(|r| (r.value.unwrap_or_default(), r.effective.unwrap_or_default()))
        };
        let [font, night, locales, size, density, airplane, _] = all();
        for (setting, out, value, effective) in [
            (&font, "1.3\n", "1.3", "1.3"),
            (&font, "null\n", "", ""),
            (
                &night,
                "Night mode: custom_schedule\n",
                "custom_schedule",
                "custom_schedule",
            ),
            (
                &locales,
                "Locales for com.a for user 0 are [de-DE]\n",
                "de-DE",
                "de-DE",
            ),
            (&locales, "Locales for com.a for user 0 are []\n", "", ""),
            (&size, "Physical size: 1080x2400\n", "", "1080x2400"),
            (
                &size,
                "Physical size: 1080x2400\nOverride size: 390x844\n",
                "390x844",
                "390x844",
            ),
            (&density, "Physical density: 420\n", "", "420"),
            (&airplane, "0\n", "0", "0"),
        ] {
            let expected = Some((value.to_owned(), effective.to_owned()));
            assert_eq!(read(setting, out), expected, "{out}");
        }
        for (setting, out) in [
            (&font, ""),
            (&font, "java.lang.SecurityException: no"),
            (&night, "cmd: Can't find service: uimode\n"),
            (&locales, "Unknown package com.a"),
            (&size, "Error: no display"),
        ] {
            assert_eq!(read(setting, out), None, "{out}");
        }
    }

    #[test]
    fn what_was_not_set_is_reset_and_values_are_quoted() {
        let [font, _, locales, size, _, airplane, radio] = all();
        for (command, expected) in [
            (
                font.writes(Some("1.3")),
                "settings put system font_scale 1.3",
            ),
            (
                font.writes(Some("1; reboot")),
                "settings put system font_scale '1; reboot'",
            ),
            (font.writes(None), "settings delete system font_scale"),
            (size.writes(None), "wm size reset"),
            (
                locales.writes(None),
                "cmd locale set-app-locales com.a --user current --locales \"\"",
            ),
            (
                airplane.writes(Some("1")),
                "cmd connectivity airplane-mode enable",
            ),
            (radio.writes(Some("0")), "svc wifi disable"),
        ] {
            assert_eq!(command, expected);
        }
    }
}
