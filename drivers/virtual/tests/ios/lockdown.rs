//! lockdownd, asked by Debian's libimobiledevice through usbmuxd and TLS.

use super::bench::Bench;

const FIRST: &str = "00008110-000A1B2C00000001";

#[tokio::test]
async fn ideviceinfo_reads_every_value_in_a_tls_session() {
    let bench = Bench::new().await;
    let printed = bench.run("ideviceinfo", &["-u", FIRST]).await;
    for line in [
        "DeviceName: iPhone 14 Pro 1",
        "ProductType: iPhone15,2",
        "ProductVersion: 16.7.8",
        "SerialNumber: VPKT00000001",
        "UniqueDeviceID: 00008110-000A1B2C00000001",
    ] {
        assert!(
            printed.lines().any(|printed| printed == line),
            "{line} is missing:\n{printed}"
        );
    }
    bench.end().await;
}

#[tokio::test]
async fn ideviceinfo_reads_a_domain() {
    let bench = Bench::new().await;
    let printed = bench
        .run(
            "ideviceinfo",
            &["-u", FIRST, "-q", "com.apple.mobile.iTunes"],
        )
        .await;
    assert_eq!(
        printed,
        "ScreenHeight: 2556\nScreenScaleFactor: 3\nScreenWidth: 1179\n"
    );
    bench.end().await;
}

#[tokio::test]
async fn idevicename_gives_the_phone_another_name() {
    let bench = Bench::new().await;
    bench.run("idevicename", &["-u", FIRST, "Desk three"]).await;
    let name = bench.run("idevicename", &["-u", FIRST]).await;
    assert_eq!(name, "Desk three\n");
    bench.end().await;
}

#[tokio::test]
async fn lockdownd_and_webdriveragent_know_the_same_battery() {
    let bench = Bench::new().await;
    bench.phone().device().set_battery(31);
    let battery = "com.apple.mobile.battery";
    let asked = ["-u", FIRST, "-q", battery, "-k", "BatteryCurrentCapacity"];
    assert_eq!(bench.run("ideviceinfo", &asked).await, "31\n");
    let told = bench.in_shop().await.get("/wda/batteryInfo").await.ok();
    assert_eq!(told["level"], 0.31);
    bench.end().await;
}

#[tokio::test]
async fn without_a_session_only_what_is_public_is_told() {
    let bench = Bench::new().await;
    let told = bench
        .run("ideviceinfo", &["-s", "-u", FIRST, "-k", "ProductVersion"])
        .await;
    assert_eq!(told, "16.7.8\n");
    let all = bench.run("ideviceinfo", &["-s", "-u", FIRST]).await;
    assert!(
        all.contains("UniqueDeviceID") && !all.contains("SerialNumber"),
        "{all}"
    );
    bench.end().await;
}

#[tokio::test]
async fn a_host_can_be_forgotten_and_pair_again_with_keys_of_its_own() {
    let bench = Bench::new().await;
    let valid = bench.run("idevicepair", &["-u", FIRST, "validate"]).await;
    assert!(valid.starts_with("SUCCESS: Validated"), "{valid}");
    let unpaired = bench.run("idevicepair", &["-u", FIRST, "unpair"]).await;
    assert!(unpaired.starts_with("SUCCESS: Unpaired"), "{unpaired}");
    let paired = bench.run("idevicepair", &["-u", FIRST, "pair"]).await;
    assert!(paired.starts_with("SUCCESS: Paired"), "{paired}");
    let serial = bench
        .run("ideviceinfo", &["-u", FIRST, "-k", "SerialNumber"])
        .await;
    assert_eq!(serial, "VPKT00000001\n");
    bench.end().await;
}

#[tokio::test]
async fn what_needs_a_developer_image_cannot_be_started() {
    let bench = Bench::new().await;
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("picture.png");
    let (succeeded, printed) = bench
        .try_run(
            "idevicescreenshot",
            &["-u", FIRST, &picture.display().to_string()],
        )
        .await;
    assert!(
        !succeeded && printed.contains("Could not start screenshotr service"),
        "{printed}"
    );
    let noted = bench.phone().device().unhandled();
    assert_eq!(noted[0].0, "lockdown service com.apple.mobile.screenshotr");
    bench.end().await;
}

#[tokio::test]
async fn a_locked_phone_refuses_sessions_and_still_tells_its_name() {
    let locked = "rules: [{ match: { connect: lockdown }, do: password_protected }]";
    let bench = Bench::with(1, locked).await;
    let (succeeded, printed) = bench.try_run("ideviceinfo", &["-u", FIRST]).await;
    assert!(!succeeded, "{printed}");
    let name = bench
        .run("ideviceinfo", &["-s", "-u", FIRST, "-k", "DeviceName"])
        .await;
    assert_eq!(name, "iPhone 14 Pro 1\n");
    bench.end().await;
}

#[tokio::test]
async fn a_phone_that_forgot_its_hosts_says_so() {
    let forgot = "rules: [{ match: { connect: lockdown }, do: invalid_host_id }]";
    let bench = Bench::with(1, forgot).await;
    let (succeeded, printed) = bench
        .try_run("idevicepair", &["-u", FIRST, "validate"])
        .await;
    assert!(
        !succeeded && printed.contains("is not paired with this host"),
        "{printed}"
    );
    bench.end().await;
}
