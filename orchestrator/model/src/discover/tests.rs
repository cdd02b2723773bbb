use super::{FoundFile, FoundTrail, file_names, form, group, is_pruned, is_trail_file, short_name};
use crate::trail::Form;

fn found(path: &str, form: Form) -> FoundFile {
    FoundFile {
        path: path.to_owned(),
        form,
    }
}

fn file(path: &str) -> FoundTrail {
    FoundTrail::File(path.to_owned())
}

fn on(trail: &FoundTrail, device: &[&str]) -> Option<String> {
    let classifiers: Vec<_> = device.iter().map(|segment| (*segment).into()).collect();
    trail.file_for(&classifiers)
}

#[test]
fn trails_are_known_by_their_names() {
    for name in [
        "trail.yaml",
        "login.trail.yaml",
        "blaze.yaml",
        "trailblaze.yaml",
    ] {
        assert!(is_trail_file(Some("login"), name), "{name}");
    }
    for name in [
        "login.yaml",
        ".trail.yaml",
        "trail.yml",
        "mytrail.yaml",
        "trails.yaml",
    ] {
        assert!(!is_trail_file(Some("login"), name), "{name}");
    }
}

#[test]
fn the_configuration_of_a_workspace_is_no_trail() {
    assert!(!is_trail_file(Some("config"), "trailblaze.yaml"));
    assert!(is_trail_file(Some("config"), "login.trail.yaml"));
    assert_eq!(form("# ours\ntargets: [clock]\n"), None);
    assert_eq!(form("# nothing\n"), None);
}

#[test]
fn a_glance_tells_the_form() {
    assert_eq!(
        form("# x\nconfig:\n  id: a\ntrail:\n  - step: b\n"),
        Some(Form::Unified)
    );
    assert_eq!(form("\u{feff}trail:\n- step: b\n"), Some(Form::Unified));
    assert_eq!(form("config:\n  id: a\n"), Some(Form::Unified));
    assert_eq!(
        form("---\n\n- config:\n    id: a\n- prompts: []\n"),
        Some(Form::List)
    );
}

#[test]
fn a_broken_trail_is_found_and_somebody_elses_file_is_not() {
    assert!(
        FoundFile::new("trails\\a.trail.yaml", "]")
            .is_some_and(|file| file.path == "trails/a.trail.yaml")
    );
    assert_eq!(
        FoundFile::new("trailblaze.yaml", "targets: [clock]\n"),
        None
    );
    assert!(FoundFile::new("case/blaze.yaml", "- prompts:\n  - step: a\n").is_some());
}

#[test]
fn folders_that_are_not_ours_are_left_out() {
    for name in [
        "node_modules",
        ".git",
        "build",
        ".gradle",
        ".trailblaze",
        ".claude",
        ".packtrain",
    ] {
        assert!(is_pruned(name), "{name}");
    }
    assert!(!is_pruned("trails") && !is_pruned("builds"));
}

#[test]
fn every_named_trail_of_a_folder_is_one() {
    let trails = group([
        found("trails/catalog/b.trail.yaml", Form::Unified),
        found("trails/catalog/a.trail.yaml", Form::List),
        found("trails/catalog/android.trail.yaml", Form::Unified),
        found("trails/clock/trail.yaml", Form::Unified),
    ]);
    assert_eq!(
        trails,
        [
            file("trails/catalog/a.trail.yaml"),
            file("trails/catalog/android.trail.yaml"),
            file("trails/catalog/b.trail.yaml"),
            file("trails/clock/trail.yaml"),
        ]
    );
}

#[test]
fn recordings_for_devices_are_one_trail_and_each_device_gets_its_own() {
    let trails = group([
        found("t/case/blaze.yaml", Form::List),
        found("t/case/ios-iphone.trail.yaml", Form::List),
        found("t/case/android.trail.yaml", Form::List),
        found("t/case/android-phone.trail.yaml", Form::List),
    ]);
    let [trail] = trails.as_slice() else {
        panic!("{trails:?}");
    };
    assert_eq!(
        on(trail, &["android", "phone"]).unwrap(),
        "t/case/android-phone.trail.yaml"
    );
    assert_eq!(
        on(trail, &["android", "tablet"]).unwrap(),
        "t/case/android.trail.yaml"
    );
    assert_eq!(
        on(trail, &["ios", "iphone"]).unwrap(),
        "t/case/ios-iphone.trail.yaml"
    );
    assert_eq!(on(trail, &["web"]).unwrap(), "t/case/blaze.yaml");
}

#[test]
fn a_recording_for_another_device_is_never_run() {
    let trails = group([found("case/ios-iphone.trail.yaml", Form::List)]);
    assert_eq!(on(&trails[0], &["android", "phone"]), None);
    assert_eq!(
        on(&trails[0], &["ios", "iphone"]).unwrap(),
        "case/ios-iphone.trail.yaml"
    );
}

#[test]
fn a_file_found_twice_is_one_trail() {
    let twice = || found("a.trail.yaml", Form::Unified);
    assert_eq!(group([twice(), twice()]), [file("a.trail.yaml")]);
}

#[test]
fn the_older_names_come_last() {
    let classifiers = ["android".into(), "phone".into()];
    assert_eq!(
        file_names(&classifiers),
        [
            "android-phone.trail.yaml",
            "android.trail.yaml",
            "phone.trail.yaml",
            "trail.yaml",
            "blaze.yaml",
            "trailblaze.yaml"
        ]
    );
}

#[test]
fn a_trail_is_called_by_what_tells_it_apart() {
    for (path, name) in [
        ("trails/login.trail.yaml", "login"),
        ("trails/clock/alarm/trail.yaml", "clock/alarm"),
        ("/home/me/app/trails/x/trails/login.trail.yaml", "login"),
        ("C:\\repo\\trails\\suite\\case.trail.yaml", "suite/case"),
        ("./trails/case/blaze.yaml", "case"),
        ("other/login.trail.yaml", "other/login"),
        ("trail.yaml", "trail.yaml"),
    ] {
        assert_eq!(short_name(path), name, "{path}");
    }
}
