use packtrain_drivers::{Platform, Size};

use super::*;
use crate::request::RequestedTrail;

pub(crate) fn device(platform: Platform, name: &str) -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::new(platform, name),
        driver: String::new(),
        classifiers: vec![platform.as_str().into(), "phone".into()],
        model: String::new(),
        system: String::new(),
        screen: Size::new(1.0, 1.0),
    }
}

fn plan(config: &str, shard: Shard, change: impl FnOnce(&mut RunRequest)) -> Plan {
    let text = format!("config: {config}\ntrail: [{{ step: x }}]\n");
    let trail = Trail::parse(&text, "t.trail.yaml").unwrap().trail;
    let mut request = RunRequest {
        run: RunId("r".into()),
        trails: vec![RequestedTrail {
            trail: Arc::new(trail),
            only: None,
            matrix: None,
        }],
        devices: vec![
            device(Platform::Web, "a"),
            device(Platform::Android, "b"),
            device(Platform::Ios, "c"),
        ],
        tags: Vec::new(),
        only_declared: false,
        alike: Vec::new(),
        anywhere: None,
        driver: None,
        shard,
        options: RunOptions::default(),
    };
    change(&mut request);
    resolve(request)
}

fn skipped(plan: &Plan) -> Vec<bool> {
    plan.sessions
        .iter()
        .map(|planned| planned.skip.is_some())
        .collect()
}

#[test]
fn every_trail_runs_on_every_device_in_their_order() {
    let plan = plan("{}", Shard::All, |_| {});
    let devices: Vec<_> = plan
        .sessions
        .iter()
        .map(|p| p.devices[0].to_string())
        .collect();
    assert_eq!(devices, ["web/a", "android/b", "ios/c"]);
}

#[test]
fn split_plans_a_trail_once_for_all_that_may_run_it() {
    let plan = plan("{ skip: { ios: broken } }", Shard::Split, |_| {});
    assert_eq!(plan.sessions.len(), 1);
    assert_eq!(plan.sessions[0].devices.len(), 2);
}

#[test]
fn a_pin_to_a_driver_we_lack_skips_and_another_driver_overrides_it() {
    let pinned = "{ devices: { web: PLAYWRIGHT_ELECTRON } }";
    assert_eq!(
        skipped(&plan(pinned, Shard::All, |_| {})),
        [true, false, false]
    );
    let given = |request: &mut RunRequest| request.driver = Some("playwright-native".into());
    assert_eq!(
        skipped(&plan(pinned, Shard::All, given)),
        [false, true, true]
    );
}

#[test]
fn all_devices_means_those_of_declared_platforms() {
    let pinned = "{ devices: { android-phone: ANDROID_ONDEVICE_ACCESSIBILITY } }";
    let plan = plan(pinned, Shard::All, |request| request.only_declared = true);
    assert_eq!(plan.sessions.len(), 1);
    assert_eq!(plan.sessions[0].devices[0].platform(), Platform::Android);
}

#[test]
fn parts_of_one_plan_tell_it_by_the_same_digest_and_those_of_another_do_not() {
    let digest = |part: Option<&str>, change: fn(&mut RunRequest)| {
        let mut plan = plan("{}", Shard::All, change);
        if let Some(part) = part {
            plan.take(part.parse().unwrap(), |_, _| None);
        }
        match plan.started() {
            RunEvent::RunStarted { options, .. } => options.plan,
            other => panic!("{other:?}"),
        }
    };
    let plain = digest(Some("1/2"), |_| {});
    assert_eq!(plain.len(), 16);
    assert_eq!(digest(Some("2/2"), |_| {}), plain);
    assert_eq!(digest(None, |_| {}), "");
    let changes: [fn(&mut RunRequest); 5] = [
        |request| {
            let text = "config: {}\ntrail: [{ step: x, recordable: false }]\n";
            let trail = Trail::parse(text, "t.trail.yaml").unwrap().trail;
            request.trails[0].trail = Arc::new(trail);
        },
        |request| request.options.targets.base_url = Some("http://other".into()),
        |request| request.options.memory = vec![("name".into(), "value".into())],
        |request| request.options.secrets = vec![("name".into(), "value".into())],
        |request| {
            let meaning = CellSettings {
                base_url: Some("http://other".into()),
                ..CellSettings::default()
            };
            let meanings = BTreeMap::from([(("site".into(), "other".into()), meaning)]);
            request.trails[0].matrix = Some(Arc::new(Matrix {
                meanings,
                ..Matrix::default()
            }));
        },
    ];
    for change in changes {
        assert_ne!(digest(Some("1/2"), change), plain);
    }
    let rotated = |request: &mut RunRequest| {
        request.options.secrets = vec![("name".into(), "another value".into())];
    };
    assert_eq!(
        digest(Some("1/2"), changes[3]),
        digest(Some("1/2"), rotated)
    );
}
