//! iPhones that come and go.

use std::sync::Arc;

use packtrain_driver_wda::{WdaEndpoint, WdaOptions, WdaPool, WdaWatch};
use packtrain_drivers::{Command, Connector, SessionOptions, event_channel};
use packtrain_testing::{NO_FAULTS, TEST_TIMEOUT, context};

use super::lab::{muxer, phones};

async fn next(watch: &mut WdaWatch) -> Vec<Arc<dyn Connector>> {
    let next = tokio::time::timeout(TEST_TIMEOUT, watch.next());
    next.await.expect("it is seen")
}

fn names(found: &[Arc<dyn Connector>]) -> Vec<String> {
    found.iter().map(|one| one.id().name().to_owned()).collect()
}

#[tokio::test]
async fn an_iphone_that_is_plugged_in_again_is_another_way_to_it_that_works() {
    let fleet = phones(2, NO_FAULTS).await;
    let udids = [0, 1].map(|index: usize| fleet.ios()[index].udid().to_string());
    let pool = WdaPool::new(WdaOptions {
        usbmuxd: Some(muxer(&fleet)),
        ..WdaOptions::default()
    });
    let mut watch = pool.watch();
    let both = next(&mut watch).await;
    assert_eq!(names(&both), udids);
    fleet.ios()[0].unplug();
    let other = next(&mut watch).await;
    assert_eq!(names(&other), udids[1..]);
    assert!(Arc::ptr_eq(&both[1], &other[0]), "it never went");
    fleet.ios()[0].plug_in();
    let again = next(&mut watch).await;
    assert_eq!(names(&again), udids);
    assert!(!Arc::ptr_eq(&both[0], &again[0]));
    assert_eq!(again[0].describe(), both[0].describe());
    let (sink, _events) = event_channel();
    let mut driver = again[0].connect(sink, &context()).await.unwrap();
    let begin = Command::Begin(SessionOptions::default());
    driver.execute(begin, &context()).await.unwrap();
    driver.close().await;
    pool.shutdown().await;
    fleet.shutdown().await;
}

#[tokio::test]
async fn what_is_configured_neither_comes_nor_goes() {
    let fleet = phones(2, NO_FAULTS).await;
    let [bench, other] = [0, 1].map(|index: usize| fleet.ios()[index].udid().to_string());
    let pool = WdaPool::new(WdaOptions {
        endpoints: vec![WdaEndpoint {
            name: "bench".to_owned(),
            ..WdaEndpoint::device(bench)
        }],
        usbmuxd: Some(muxer(&fleet)),
        ..WdaOptions::default()
    });
    let mut watch = pool.watch();
    assert_eq!(names(&next(&mut watch).await), [other]);
    // That this one went is not told, but that the other did.
    fleet.ios()[0].unplug();
    fleet.ios()[1].unplug();
    assert_eq!(names(&next(&mut watch).await), [""; 0]);
    pool.shutdown().await;
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_usbmuxd_that_ends_has_no_iphones() {
    let fleet = phones(1, NO_FAULTS).await;
    let pool = WdaPool::new(WdaOptions {
        usbmuxd: Some(muxer(&fleet)),
        ..WdaOptions::default()
    });
    let mut watch = pool.watch();
    assert_eq!(next(&mut watch).await.len(), 1);
    fleet.shutdown().await;
    assert_eq!(next(&mut watch).await.len(), 0);
    pool.shutdown().await;
}
