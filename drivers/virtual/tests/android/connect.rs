//! Listing, losing and finding phones again.

use packtrain_virtual::fleet::{FleetOptions, Listen};

use crate::lab::{Adb, Lab, one_phone};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_phone_is_listed_with_its_names() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let listed = lab.adb(["devices", "-l"]).await.ok();
        let line = listed
            .lines()
            .find(|line| line.starts_with(&lab.serial()))
            .expect("listed");
        assert!(
            line.contains(" device product:tokay model:Pixel_9 device:tokay"),
            "{line}"
        );
        assert_eq!(lab.on_phone(["get-state"]).await.ok(), "device\n");
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn phones_can_share_a_port_and_be_told_apart_by_their_addresses() {
    let options = FleetOptions {
        android: 3,
        listen: Listen::PerDeviceIp,
        ..one_phone()
    };
    let lab = Lab::connected(Adb::New, options).await;
    for phone in lab.phones() {
        let serial = phone.address().to_string();
        let said = lab
            .adb(["-s", &serial, "shell", "getprop ro.serialno"])
            .await;
        assert_eq!(said.ok().trim(), phone.device().serial());
    }
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rebooted_phone_goes_away_and_comes_back_fresh() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        lab.shell("am start -n com.example.shop/.MainActivity; echo x > /data/local/tmp/x")
            .await
            .ok();
        lab.on_phone(["reboot"]).await;
        lab.on_phone(["wait-for-disconnect"]).await.ok();
        lab.on_phone(["wait-for-device"]).await.ok();
        assert_eq!(
            lab.shell("pidof com.example.shop").await.code,
            1,
            "nothing runs any more"
        );
        assert_eq!(
            lab.shell("cat /data/local/tmp/x").await.ok(),
            "x\n",
            "files stay"
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn root_and_unroot_restart_adbd_as_another_user() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        assert_eq!(lab.shell("id -u").await.ok(), "2000\n");
        let said = lab.on_phone(["root"]).await.ok();
        assert!(said.contains("restarting adbd as root"), "{said}");
        lab.on_phone(["wait-for-device"]).await.ok();
        assert_eq!(
            lab.shell("id -u; ls /data/data | grep -m 1 .").await.ok(),
            "0\ncom.android.chrome\n"
        );
        lab.on_phone(["unroot"]).await.ok();
        lab.on_phone(["wait-for-device"]).await.ok();
        assert_eq!(lab.shell("id -u").await.ok(), "2000\n");
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_phone_as_sold_has_no_root() {
    let options = FleetOptions {
        build: packtrain_virtual::android::Build::User,
        ..one_phone()
    };
    let lab = Lab::connected(Adb::New, options).await;
    let said = lab.on_phone(["root"]).await;
    assert!(
        said.all()
            .contains("adbd cannot run as root in production builds"),
        "{said:?}"
    );
    let su = lab.shell("su -c id").await;
    assert_eq!(
        (su.code, su.stderr.as_str()),
        (127, "/system/bin/sh: su: inaccessible or not found\n")
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_phones_answer_at_once() {
    let options = FleetOptions {
        android: 60,
        listen: Listen::PerDeviceIp,
        ..one_phone()
    };
    let lab = Lab::connected(Adb::New, options).await;
    let asked = lab.phones().iter().map(|phone| {
        let (lab, serial) = (&lab, phone.address().to_string());
        async move {
            let said = lab
                .adb(["-s", &serial, "shell", "getprop ro.serialno"])
                .await;
            (said.ok().trim().to_owned(), phone.device().serial())
        }
    });
    for (said, serial) in futures::future::join_all(asked).await {
        assert_eq!(said, serial);
    }
    lab.end().await;
}
