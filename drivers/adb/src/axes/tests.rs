use super::*;

const PHONE: Facts<'_> = Facts {
    api_level: 34,
    app: Some("com.a"),
    hangs_on_its_network: false,
    lies_naturally: false,
};

fn commands(axis: &str, want: &str, facts: Facts<'_>) -> Vec<String> {
    let plan = plan(axis, want, facts).unwrap_or_else(|why| panic!("{axis}: {why}"));
    let settings = plan.settings.iter();
    settings
        .map(|(setting, value)| setting.writes(Some(value)))
        .collect()
}

#[test]
fn each_axis_has_its_commands() {
    for (axis, want, expected) in [
        ("colorScheme", "dark", "cmd uimode night yes"),
        ("fontScale", "1.3", "settings put system font_scale 1.3"),
        ("size", "390x844", "wm size 390x844"),
        ("density", "320", "wm density 320"),
        ("offline", "true", "cmd connectivity airplane-mode enable"),
        (
            "locale",
            "de-DE",
            "cmd locale set-app-locales com.a --user current --locales de-DE",
        ),
    ] {
        assert_eq!(commands(axis, want, PHONE), [expected]);
    }
    let landscape = commands("orientation", "landscape", PHONE);
    assert_eq!(landscape[1], "settings put system user_rotation 1");
    let tablet = Facts {
        lies_naturally: true,
        ..PHONE
    };
    let landscape = commands("orientation", "landscape", tablet);
    assert_eq!(landscape[1], "settings put system user_rotation 0");
    assert_eq!(commands("animation", "false", PHONE).len(), 3);
    let old = Facts {
        api_level: 29,
        ..PHONE
    };
    assert_eq!(
        commands("offline", "true", old),
        ["svc wifi disable", "svc data disable"]
    );
}

#[test]
fn what_a_device_cannot_do_is_not_planned() {
    let old = Facts {
        api_level: 32,
        ..PHONE
    };
    let wifi = Facts {
        hangs_on_its_network: true,
        ..PHONE
    };
    let nobody = Facts { app: None, ..PHONE };
    for (axis, want, facts) in [
        ("locale", "de-DE", old),
        ("locale", "de-DE", nobody),
        ("offline", "true", wifi),
        ("contrast", "increased", PHONE),
    ] {
        assert!(plan(axis, want, facts).is_err(), "{axis}");
    }
}

#[test]
fn what_was_read_is_told_as_it_was_wanted_and_nothing_else_is() {
    let read = |axis: &str, want: &str, values: &[Option<&str>]| {
        let plan = plan(axis, want, PHONE).unwrap_or_else(|why| panic!("{axis}: {why}"));
        let readings: Vec<_> = values
            .iter()
            .map(|value| Reading {
                value: value.map(str::to_owned),
                effective: value.map(str::to_owned),
            })
            .collect();
        told(&plan, &readings, PHONE)
    };
    for (axis, want, values, expected) in [
        ("colorScheme", "dark", &[Some("yes")][..], "dark"),
        ("colorScheme", "dark", &[Some("no")], "light"),
        ("colorScheme", "dark", &[Some("auto")], "auto"),
        ("fontScale", "1.3", &[Some("1.30")], "1.3"),
        ("fontScale", "1.3", &[Some("1.0")], "1.0"),
        ("fontScale", "1", &[None], "1"),
        ("locale", "de-DE", &[Some("de-de")], "de-DE"),
        ("locale", "de-DE", &[None], "null"),
        ("density", "320", &[Some("320")], "320"),
        (
            "orientation",
            "landscape",
            &[Some("0"), Some("1")],
            "landscape",
        ),
        ("orientation", "landscape", &[Some("1"), Some("1")], "free"),
        (
            "animation",
            "false",
            &[Some("0"), Some("0.0"), Some("0")],
            "false",
        ),
        (
            "animation",
            "false",
            &[Some("0"), Some("1"), None],
            "2 of 3",
        ),
        ("animation", "true", &[None, Some("1"), None], "true"),
        ("offline", "true", &[Some("1")], "true"),
        ("offline", "true", &[Some("0")], "false"),
    ] {
        assert_eq!(read(axis, want, values), expected, "{axis} {values:?}");
    }
}

#[test]
fn the_window_managers_word_on_rotation_is_read() {
    assert_eq!(user_rotation("lock 1\n"), Some(1));
    assert_eq!(user_rotation("free\n"), None);
    assert_eq!(user_rotation("Unknown command: user-rotation\n"), None);
}
