use packtrain_drivers::{Platform, Size};

use super::*;
use crate::request::RequestedTrail;

fn device(platform: Platform, name: &str) -> DeviceInfo {
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
