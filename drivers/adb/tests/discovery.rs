//! Which devices there are.

use packtrain_driver_adb::{AdbOptions, AdbPool};
use packtrain_testing::NO_FAULTS;
use packtrain_virtual::fleet::Fleet;

use super::lab::{self, Way, options, socket};
use packtrain_testing::AdbServer;

#[tokio::test]
async fn a_phone_to_which_several_ways_lead_is_one_device() {
    let mut two = options(NO_FAULTS);
    two.android = 2;
    let fleet = Fleet::start(two).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let server = AdbServer::start().await;
    let [first, second] = [0, 1].map(|index| socket(&fleet.android()[index]));
    // By its address, and by a name for it; the second phone by the server alone.
    server.plug_in(&first.to_string()).await;
    let by_name = format!("localhost:{}", first.port());
    server.plug_in(&by_name).await;
    server.plug_in(&second.to_string()).await;
    let address = lab::address(&fleet.android()[0]);
    let pool = AdbPool::new(AdbOptions {
        direct: vec![(first.to_string(), address)],
        ..lab::settings(Way::DIRECT_AGENT, Some(&server), &folder)
    });
    let survey = pool.survey().await.unwrap();
    let mut names: Vec<_> = survey
        .connectors
        .iter()
        .map(|found| found.id().name().to_owned())
        .collect();
    names.sort();
    let mut expected = [first.to_string(), second.to_string()];
    expected.sort();
    assert_eq!(names, expected);
    assert!(survey.unusable.is_empty());
    fleet.shutdown().await;
}
