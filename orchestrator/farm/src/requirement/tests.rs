//! Requirements and an Android phone, an iPhone and a browser.

use std::collections::BTreeMap;

use packtrain_drivers::{Classifier, DeviceId, DeviceInfo, Platform, Size};
use proptest::prelude::*;

use super::*;
use crate::wire::{DeviceAdvert, DeviceKey};

fn device(
    id: &str,
    host: &str,
    words: [&str; 2],
    model: &str,
    system: &str,
) -> (DeviceKey, DeviceAdvert) {
    let id: DeviceId = id.parse().unwrap();
    let driver = match id.platform() {
        Platform::Android => "android-host",
        Platform::Ios => "ios-host",
        Platform::Web => "playwright-native",
    };
    let advert = DeviceAdvert {
        info: DeviceInfo {
            id: id.clone(),
            driver: driver.to_owned(),
            classifiers: words.into_iter().map(Classifier::from).collect(),
            model: model.to_owned(),
            system: system.to_owned(),
            screen: Size {
                width: 390.0,
                height: 844.0,
            },
        },
        api: None,
        labels: BTreeMap::from([("lab".to_owned(), "berlin".to_owned())]),
        tools: vec!["acme_login".to_owned()],
        has: Vec::new(),
        out_of_service: None,
    };
    let key = DeviceKey {
        host: host.parse().unwrap(),
        device: id,
    };
    (key, advert)
}

fn pixel() -> (DeviceKey, DeviceAdvert) {
    let (key, mut advert) = device(
        "android/emulator-5554",
        "mac-1",
        ["android", "phone"],
        "Pixel 9",
        "Android 14.1",
    );
    advert.api = Some(31);
    advert.labels.insert("flaky".to_owned(), String::new());
    (key, advert)
}

fn iphone() -> (DeviceKey, DeviceAdvert) {
    device(
        "ios/UD-1",
        "mac-2",
        ["ios", "phone"],
        "iPhone 15",
        "iOS 17.4 (21E213)",
    )
}

fn browser() -> (DeviceKey, DeviceAdvert) {
    device(
        "web/1",
        "linux-1",
        ["web", "desktop"],
        "desktop 390x844",
        "a browser",
    )
}

fn matching(on: &str) -> Vec<&'static str> {
    let requirement = Requirement::parse(on).unwrap_or_else(|error| panic!("{error}"));
    [
        ("pixel", pixel()),
        ("iphone", iphone()),
        ("browser", browser()),
    ]
    .into_iter()
    .filter(|(_, (key, advert))| requirement.matches(&Subject::new(key, advert)))
    .map(|(name, _)| name)
    .collect()
}

fn why_not(on: &str, (key, advert): (DeviceKey, DeviceAdvert)) -> Vec<String> {
    let requirement = Requirement::parse(on).unwrap();
    let mismatches = requirement.why_not(&Subject::new(&key, &advert));
    mismatches.iter().map(ToString::to_string).collect()
}

fn error(on: &str) -> String {
    Requirement::parse(on).unwrap_err().to_string()
}

#[test]
fn each_requirement_finds_its_devices() {
    let all = vec!["pixel", "iphone", "browser"];
    for on in [
        "",
        "  ",
        "*",
        "lab=berlin",
        "label=lab:berlin",
        "berlin",
        "LAB",
        "width>=390",
        "tool=acme_login",
    ] {
        assert_eq!(matching(on), all, "{on}");
    }
    for on in [
        "android",
        "Android",
        "platform=android",
        "android-phone",
        "classifier=android-phone",
        "api>=31",
        "api=31",
        "api<33",
        "os<17",
        "os>14 & os<14.2",
        "model~\"Pixel*\"",
        "model~pixel?9",
        "host=mac-1",
        "android/*",
        "*@mac-1",
        "android/emulator-5554",
        "device=android/emulator-5554@mac-1",
        "device=emulator-5554",
        "flaky",
        "label=flaky",
        "driver=android-host",
        "os~14.*",
        "lab=berlin && android",
    ] {
        assert_eq!(matching(on), ["pixel"], "{on}");
    }
    for on in [
        "os>=17.4",
        "os=17.4.0",
        "os>14.1",
        "ios & !label=flaky",
        "(ios | web) & phone",
        "os!=14.1",
    ] {
        assert_eq!(matching(on), ["iphone"], "{on}");
    }
    assert_eq!(
        matching("(ios | web) & !label=flaky"),
        ["iphone", "browser"]
    );
    assert_eq!(matching("label!=flaky"), ["iphone", "browser"]);
    assert_eq!(matching("ios | web & desktop"), ["iphone", "browser"]);
    assert_eq!(matching("phone"), ["pixel", "iphone"]);
    for on in [
        "height<844",
        "host=mac-3",
        "lab=paris",
        "room=4",
        "room!=4",
        "driver=ios",
        "model=Pixel",
        "os~18*",
    ] {
        assert!(matching(on).is_empty(), "{on}");
    }
}

#[test]
fn versions_compare_by_segment() {
    let ordered = [
        "9",
        "14",
        "14.1",
        "14.1.2",
        "14.10",
        "17",
        "100000000000000000000000",
    ];
    for pair in ordered.windows(2) {
        assert!(
            Version::parse(pair[0]).unwrap() < Version::parse(pair[1]).unwrap(),
            "{pair:?}"
        );
    }
    assert_eq!(Version::parse("17"), Version::parse("17.0"));
    assert_eq!(Version::parse("17."), None);
}

#[test]
fn what_is_not_known_never_matches_and_says_so() {
    assert_eq!(
        why_not("api>=33", iphone()),
        ["api>=33: its API level is not known"]
    );
    assert_eq!(
        why_not("api<33", iphone()),
        ["api<33: its API level is not known"]
    );
    assert_eq!(
        why_not("os>=1", browser()),
        ["os>=1: its version is not known"]
    );
}

#[test]
fn a_device_that_does_not_match_says_what_it_has() {
    assert_eq!(
        why_not("android & api>=33", pixel()),
        ["api>=33: it has 31"]
    );
    assert_eq!(
        why_not("ios & os>=17.4 & lab=paris", pixel()),
        [
            "ios: it is android",
            "os>=17.4: it has 14.1",
            "lab=paris: it has berlin"
        ]
    );
    assert_eq!(
        why_not("(ios | web) & phone", pixel()),
        ["ios | web: it is android"]
    );
    assert_eq!(
        why_not("!label=flaky", pixel()),
        ["!label=flaky: it is just that"]
    );
    assert_eq!(why_not("tool=x", pixel()), ["tool=x: it has acme_login"]);
    assert_eq!(
        why_not("hots=mac-1", pixel()),
        ["hots=mac-1: it has no label `hots` (did you mean `host`?)"]
    );
    assert_eq!(
        why_not("andriod", pixel()),
        [
            "andriod: it is android-phone, and neither a label nor its id says so (did you mean `android`?)"
        ]
    );
    assert!(why_not("android", pixel()).is_empty());
}

#[test]
fn mistakes_are_shown_where_they_are() {
    assert_eq!(
        error("android & & ios"),
        "expected an attribute, a platform, a classifier, a label or a device, found `&` at column 11 of `android & & ios`"
    );
    assert_eq!(
        error("(ios"),
        "expected `&`, `|` or `)`, found the end at column 5 of `(ios`"
    );
    assert_eq!(
        error("ios web"),
        "expected `&`, `|` or the end, found `w` at column 5 of `ios web`"
    );
    assert_eq!(
        error("api>="),
        "expected a value, found the end at column 6 of `api>=`"
    );
    assert_eq!(
        error("api>=new"),
        "expected a number, found `new` at column 6 of `api>=new`"
    );
    assert_eq!(
        error("model~\"Pixel"),
        "expected the closing `\"`, found the end at column 13 of `model~\"Pixel`"
    );
    assert_eq!(
        error("host=mac-*"),
        "expected `~` before a pattern, or quotes around the value, found `mac-*` at column 6 of `host=mac-*`"
    );
    assert_eq!(
        error("model>3"),
        "`model` has no order, at column 1 of `model>3`: use `=`, `!=` or `~`"
    );
    assert_eq!(
        error("ios & platfrom=web"),
        "unknown attribute `platfrom` at column 7 of `ios & platfrom=web`: did you mean `platform`? \
         available: platform, classifier, device, host, model, os, api, driver, label, tool, has, width, height, and \
         `label=<key>:<value>`"
    );
    assert!(error("room>3").contains("unknown attribute `room`"));
    assert!(error(&"a".repeat(2_001)).contains("2000 characters at most, this one has 2001"));
    assert!(
        error(&format!("{}a{}", "(".repeat(33), ")".repeat(33)))
            .contains("deeper than 32 at column 33")
    );
    assert!(Requirement::parse(&"!".repeat(32)).is_err());
    assert!(Requirement::parse(&format!("{}a", "!".repeat(32))).is_ok());
}

#[test]
fn it_is_written_as_it_reads() {
    for (on, written) in [
        ("", "*"),
        ("( a|b )&c", "(a | b) & c"),
        ("a&(b&c)", "a & b & c"),
        ("a|(b|c)&d", "a | (b | c) & d"),
        ("! ( a & b )", "!(a & b)"),
        ("model~\"Pixel*\"", "model~Pixel*"),
        ("model = \"Pixel 9\"", "model=\"Pixel 9\""),
        ("API >= 33", "api>=33"),
        ("\"*\"", "\"*\""),
        ("\"host\"=x", "\"host\"=x"),
    ] {
        assert_eq!(Requirement::parse(on).unwrap().to_string(), written);
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "[a-c&|!()=<>~\"\\\\ *?.0-9]{0,60}|.{0,200}") {
        let (key, advert) = pixel();
        if let Ok(requirement) = Requirement::parse(&text) {
            let subject = Subject::new(&key, &advert);
            prop_assert_eq!(requirement.matches(&subject), requirement.why_not(&subject).is_empty());
            let written = requirement.to_string();
            prop_assert_eq!(Requirement::parse(&written).map_err(|error| error.to_string()), Ok(requirement));
        }
    }
}

#[test]
fn a_device_is_asked_for_the_programs_of_its_host() {
    let (key, mut bare) = pixel();
    bare.has = vec!["node".to_owned(), "python3".to_owned()];
    let subject = Subject::new(&key, &bare);
    let matches = |text: &str| text.parse::<Requirement>().unwrap().matches(&subject);
    assert!(matches("has=python3 & has=node"));
    assert!(!matches("has=bun") && matches("has!=bun"));
    assert_eq!(
        "has=python3".parse::<Requirement>().unwrap().to_string(),
        "has=python3"
    );
}
