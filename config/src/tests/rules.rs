//! Rules between settings.

use super::project::Project;

fn complaint(yaml: &str) -> String {
    Project::new(yaml).complaint()
}

#[test]
fn an_unknown_target_is_refused_with_the_one_that_was_meant() {
    assert_eq!(
        complaint("targets:\n  shop: {}\ntarget: shp\n"),
        "packtrain.yaml:3:1: target: unknown target `shp`\n\
         hint: did you mean `shop`?"
    );
    assert_eq!(
        Project::new("target: com.example.shop\n").load().warnings,
        []
    );
}

#[test]
fn a_wrong_target_from_a_flag_blames_the_flag() {
    let project = Project::new("targets: {shop: {}}\n").flag("--target", "target", "shp");
    assert_eq!(
        project.complaint(),
        "--target: unknown target `shp`\nhint: did you mean `shop`?"
    );
}

#[test]
fn an_ios_device_is_named_in_exactly_one_way() {
    assert_eq!(
        complaint("devices:\n  ios:\n    bench: {bundleId: a.b}\n"),
        "packtrain.yaml:3:5: devices.ios.bench: `wda` or `udid` is missing\n\
         hint: set `wda` to the URL of its WebDriverAgent, or `udid`"
    );
    let both = complaint("devices: {ios: {bench: {wda: 'http://127.0.0.1:8100', udid: x}}}\n");
    assert!(
        both.starts_with("packtrain.yaml:1:55: devices.ios.bench.udid: "),
        "{both}"
    );
}

#[test]
fn a_scheme_that_agents_may_open_is_a_scheme() {
    let project = Project::new("agents: {schemes: [shop, web+shop, a1, x-y.z]}\n");
    assert_eq!(project.load().config.agents.schemes.len(), 4);
    for wrong in ["'shop:'", "'shop://'", "Shop", "'1a'", "''", "'a b'", "'*'"] {
        assert_eq!(
            complaint(&format!("agents:\n  schemes: [shop, {wrong}]\n")),
            format!(
                "packtrain.yaml:2:3: agents.schemes: invalid scheme `{}`\n\
                 hint: write it in lower case and without a colon: `shop`",
                wrong.trim_matches('\'')
            )
        );
    }
}

#[test]
fn agents_may_do_nothing_besides_unless_it_is_said() {
    let agents = Project::new("").load().config.agents;
    assert_eq!(agents, crate::AgentSettings::default());
    assert!(!agents.host_commands && !agents.device_shell);
    assert!(agents.schemes.is_empty() && agents.port == 0);
    let said = Project::new("agents: {hostCommands: true, port: 7331}\n")
        .variable("PACKTRAIN_AGENTS_DEVICE_SHELL", "yes")
        .variable("PACKTRAIN_AGENTS_SCHEMES", "shop, tel");
    let agents = said.load().config.agents;
    assert!(agents.host_commands && agents.device_shell);
    assert_eq!(agents.schemes, ["shop", "tel"]);
    assert_eq!(agents.port, 7331);
    let port = complaint("agents: {port: 65536}\n");
    assert!(port.contains("agents.port"), "{port}");
}

#[test]
fn values_out_of_range_are_refused() {
    for (yaml, words) in [
        (
            "devices: {web: {a: {geolocation: {latitude: 91, longitude: 0}}}}",
            "between -90 and 90",
        ),
        (
            "devices: {web: {a: {geolocation: {latitude: 0, longitude: 181}}}}",
            "between -180 and 180",
        ),
        (
            "devices: {web: {a: {geolocation: {latitude: 0, longitude: 0, accuracy: -1}}}}",
            "0 metres or more",
        ),
        (
            "devices: {web: {a: {deviceScaleFactor: 0}}}",
            "must be greater than 0",
        ),
        ("devices: {web: {a/b: {}}}", "invalid device name `a/b`"),
        (
            "devices: {web: {a: {baseUrl: 'localhost:80'}}}",
            "`localhost:80` is not an absolute URL",
        ),
        (
            "targets: {shop: {baseUrl: 'ftp://x'}}",
            "`ftp://x` is not an absolute URL",
        ),
        (
            "devices: {ios: {a: {wda: '127.0.0.1:8100'}}}",
            "is not an absolute URL",
        ),
        (
            "devices: {virtual: {app: a, android: 5000}}",
            "must be at most 1000",
        ),
        ("run: {timeout: 0s}", "must be longer than 0s"),
        ("run: {timeLimit: 0s}", "must be longer than 0s"),
        ("devices: {idleTimeout: 59s}", "expected 1m or longer"),
    ] {
        let complaint = complaint(yaml);
        assert!(complaint.contains(words), "{yaml}: {complaint}");
    }
}
