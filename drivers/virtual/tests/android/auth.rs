//! Keys: who is let in.

use std::time::Duration;

use packtrain_virtual::android::{AuthPolicy, PublicKey};
use packtrain_virtual::fleet::FleetOptions;

use crate::lab::{Adb, Lab, one_phone};

fn letting_in(auth: AuthPolicy) -> FleetOptions {
    FleetOptions {
        auth,
        ..one_phone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_whose_key_is_not_accepted_is_unauthorized() {
    for adb in Adb::BOTH {
        let lab = Lab::new(adb, letting_in(AuthPolicy::Pending)).await;
        let said = lab.adb(["connect", &lab.serial()]).await;
        assert!(
            said.stdout.starts_with("failed to authenticate to"),
            "{said:?}"
        );
        let listed = lab.adb(["devices"]).await.ok();
        assert!(
            listed.contains(&format!("{}\tunauthorized", lab.serial())),
            "{listed}"
        );
        let said = lab.shell("id").await;
        assert!(
            said.code == 1 && said.stderr.contains("device unauthorized"),
            "{said:?}"
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_accepted_later_lets_the_host_in_without_reconnecting() {
    for adb in Adb::BOTH {
        let later = AuthPolicy::AcceptAfter(Duration::from_millis(300));
        let lab = Lab::new(adb, letting_in(later)).await;
        let said = lab.adb(["connect", &lab.serial()]).await;
        assert!(
            said.stdout.starts_with("failed to authenticate to"),
            "{said:?}"
        );
        lab.on_phone(["wait-for-device"]).await.ok();
        assert_eq!(lab.shell("echo $USER").await.ok(), "shell\n");
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trusting_phone_accepts_a_new_key_and_knows_it_afterwards() {
    let lab = Lab::new(Adb::New, letting_in(AuthPolicy::Trust)).await;
    // The client gives up before the user has answered, and is let in nevertheless.
    lab.adb(["connect", &lab.serial()]).await;
    lab.on_phone(["wait-for-device"]).await.ok();
    lab.adb(["disconnect"]).await.ok();
    // From now on only the signature of a known key helps.
    lab.phone().android().set_auth_policy(AuthPolicy::Pending);
    let said = lab.adb(["connect", &lab.serial()]).await;
    assert!(said.stdout.starts_with("connected to"), "{said:?}");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_owner_of_an_accepted_key_is_let_in() {
    let lab = Lab::new(Adb::New, letting_in(AuthPolicy::Pending)).await;
    let other = lab.dir().join("other");
    lab.adb(["keygen", &other.display().to_string()]).await.ok();
    let accept = |path: std::path::PathBuf| {
        let text = std::fs::read(path).expect("a public key");
        lab.phone()
            .android()
            .accept_key(PublicKey::parse(&text).expect("well formed"));
    };
    accept(other.with_extension("pub"));
    let said = lab.adb(["connect", &lab.serial()]).await;
    assert!(
        said.stdout.starts_with("failed to authenticate to"),
        "{said:?}"
    );
    lab.adb(["disconnect"]).await.ok();
    accept(lab.dir().join(".android").join("adbkey.pub"));
    let said = lab.adb(["connect", &lab.serial()]).await;
    assert!(said.stdout.starts_with("connected to"), "{said:?}");
    lab.end().await;
}
