//! What judges the farm judges runs here, too, and finds nothing: it knows journals as they are.

use packtrain_tests::farm_lab::FarmLab;

use super::{arrivals, entries, farm};
use packtrain_farm::audit::{FindingKind, attempts, devices, journal};

/// A run here on two phones that are kept up elsewhere, of which the second is cut off once, at step 3.
fn run(
    farm: &FarmLab,
) -> (
    Vec<packtrain_model::Entry>,
    Vec<packtrain_farm::audit::Arrival>,
) {
    let faults = "rules:\n  - match: { device: android/virtual-2, command: packtrain-step-3 }\n    \
                  when: { nth: 1 }\n    do: drop\n";
    let phones = farm.phones(2, Some(faults));
    let trail = farm.trail("marked", 5, 1);
    let connect = phones.addresses.join(",");
    farm.lab().write(
        "packtrain.yaml",
        &format!(
            "devices:\n  android:\n    adb: \"{}\"\n    connect: [{connect}]\n",
            phones.adb_server()
        ),
    );
    let run = [
        "run",
        &trail,
        "-d",
        "android",
        "--retries",
        "1",
        "--repeat",
        "3",
    ];
    farm.run_to_end(&[&run[..], &["--observe", "none"]].concat())
        .expect(0);
    (entries(&farm.lab().events()), arrivals("", &phones))
}

#[test]
fn a_run_here_with_a_phone_that_was_cut_off_is_in_order_and_each_session_was_seen_by_its_phone() {
    let farm = farm();
    let (entries, arrivals) = run(&farm);
    assert_eq!(journal(&entries), []);
    let attempts = attempts(&entries);
    assert_eq!(attempts.len(), 7);
    assert!(arrivals.len() >= 33, "{}", arrivals.len());
    assert_eq!(devices(&attempts, &arrivals), []);

    // As real as it is, it is not waved through.
    let last = arrivals.last().unwrap().clone();
    let found = devices(&attempts, &[arrivals, vec![last]].concat());
    assert_eq!(found[0].kind, FindingKind::Stale);
}
