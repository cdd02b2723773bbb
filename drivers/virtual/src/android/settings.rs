//! The three tables of `settings`: system, secure, global.

use std::collections::BTreeMap;

/// The most settings a client can put.
const MAX_PUT: usize = 1024;

/// What differs from a fresh phone. `None` is a deleted one.
#[derive(Debug, Default)]
pub struct Settings {
    put: BTreeMap<(String, String), Option<String>>,
}

const FRESH: &[(&str, &str, &str)] = &[
    ("global", "adb_enabled", "1"),
    ("global", "airplane_mode_on", "0"),
    ("global", "animator_duration_scale", "1.0"),
    ("global", "auto_time", "1"),
    ("global", "bluetooth_on", "1"),
    ("global", "development_settings_enabled", "1"),
    ("global", "device_provisioned", "1"),
    ("global", "mobile_data", "1"),
    ("global", "stay_on_while_plugged_in", "0"),
    ("global", "transition_animation_scale", "1.0"),
    ("global", "wifi_on", "1"),
    ("global", "window_animation_scale", "1.0"),
    ("secure", "accessibility_enabled", "0"),
    ("secure", "android_id", "a1b2c3d4e5f60718"),
    (
        "secure",
        "default_input_method",
        "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME",
    ),
    (
        "secure",
        "enabled_input_methods",
        "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME",
    ),
    ("secure", "location_mode", "3"),
    ("secure", "show_ime_with_hard_keyboard", "0"),
    ("secure", "user_setup_complete", "1"),
    ("system", "accelerometer_rotation", "0"),
    ("system", "font_scale", "1.0"),
    ("system", "screen_brightness", "102"),
    ("system", "screen_brightness_mode", "0"),
    ("system", "screen_off_timeout", "60000"),
    ("system", "show_touches", "0"),
    ("system", "user_rotation", "0"),
    ("system", "volume_music", "5"),
];

impl Settings {
    /// The value in `table`; `None` when there is none.
    pub fn get(&self, table: &str, key: &str) -> Option<String> {
        match self.put.get(&(table.to_owned(), key.to_owned())) {
            Some(put) => put.clone(),
            None => (FRESH.iter())
                .find(|(t, k, _)| *t == table && *k == key)
                .map(|(_, _, value)| (*value).to_owned()),
        }
    }

    /// Puts a value; nothing when there are too many already.
    pub fn put(&mut self, table: &str, key: &str, value: Option<String>) {
        let at = (table.to_owned(), key.to_owned());
        if self.put.len() < MAX_PUT || self.put.contains_key(&at) {
            self.put.insert(at, value);
        }
    }

    /// All of a table by key.
    pub fn all(&self, table: &str) -> BTreeMap<String, String> {
        let mut all: BTreeMap<String, String> = (FRESH.iter())
            .filter(|(t, ..)| *t == table)
            .map(|(_, key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        for ((t, key), value) in &self.put {
            if t != table {
                continue;
            }
            match value {
                Some(value) => all.insert(key.clone(), value.clone()),
                None => all.remove(key),
            };
        }
        all
    }
}
