//! Apps, addresses and the network.

use packtrain_drivers::{AppCommand, Command, LaunchMode, Platform};
use serde_json::json;

use crate::lab::{Lab, on_both, on_ios};

on_both! {
    an_app_is_launched_as_if_newly_installed_unless_told_otherwise
    apps_are_stopped_and_cleared_and_the_network_is_switched
    installed_apps_are_listed_by_id
}

on_ios! {
    apples_own_apps_are_restarted_since_they_cannot_be_reinstalled
}

fn launched(id: &str, mode: LaunchMode) -> Command {
    Command::App(AppCommand::Launch {
        id: id.to_owned(),
        mode,
    })
}

async fn an_app_is_launched_as_if_newly_installed_unless_told_otherwise(platform: Platform) {
    let lab = Lab::new(platform).await;
    let launch = |mode: serde_json::Value| {
        let mut arguments = json!({"appId": "com.example.shop", "reasoning": "start"});
        if !mode.is_null() {
            arguments["launchMode"] = mode;
        }
        arguments
    };
    for (mode, wanted) in [
        (json!(null), LaunchMode::Reinstall),
        (json!("reinstall"), LaunchMode::Reinstall),
        (json!("RESUME"), LaunchMode::Resume),
        (json!("force_restart"), LaunchMode::ForceRestart),
    ] {
        lab.call("launchApp", launch(mode)).await.unwrap();
        assert_eq!(
            lab.phone.told().last(),
            Some(&launched("com.example.shop", wanted))
        );
    }
    lab.failure("launchApp", json!({"appId": ""})).await;
}

async fn apples_own_apps_are_restarted_since_they_cannot_be_reinstalled(platform: Platform) {
    let lab = Lab::new(platform).await;
    let answer = lab
        .call("launchApp", json!({"appId": "com.apple.MobileAddressBook"}))
        .await
        .unwrap();
    assert_eq!(
        lab.phone.told(),
        [launched(
            "com.apple.MobileAddressBook",
            LaunchMode::ForceRestart
        )]
    );
    assert!(answer.report.notes[0].contains("cannot be reinstalled"));
}

async fn apps_are_stopped_and_cleared_and_the_network_is_switched(platform: Platform) {
    let lab = Lab::new(platform).await;
    let app = json!({"appId": "com.example.shop"});
    lab.call("stopApp", app.clone()).await.unwrap();
    lab.call("mobile_clearAppData", app).await.unwrap();
    lab.call("networkConnection", json!({"connected": false}))
        .await
        .unwrap();
    lab.call("openUrl", json!({"url": " https://example.com "}))
        .await
        .unwrap();
    let wanted = [
        AppCommand::Stop("com.example.shop".into()),
        AppCommand::Clear("com.example.shop".into()),
        AppCommand::Network { connected: false },
        AppCommand::OpenUrl("https://example.com".into()),
    ];
    assert_eq!(lab.phone.told(), wanted.map(Command::App));
    lab.failure("openUrl", json!({"url": "  "})).await;
}

async fn installed_apps_are_listed_by_id(platform: Platform) {
    let lab = Lab::new(platform).await;
    let ids = lab
        .call("mobile_listInstalledApps", json!({}))
        .await
        .unwrap();
    let wanted = json!({"appIds": ["com.android.settings", "com.example.shop"]});
    assert_eq!(ids.text.unwrap(), wanted.to_string());
    assert_eq!(ids.data, Some(wanted));
    let arguments = json!({"includeSystemApps": false});
    let detailed = lab
        .call("mobile_listInstalledAppsDetailed", arguments)
        .await
        .unwrap();
    let shop = json!({
        "appId": "com.example.shop", "isSystemApp": false, "label": "Shop", "version": "1.2",
    });
    assert_eq!(detailed.data, Some(json!({"apps": [shop]})));
}
