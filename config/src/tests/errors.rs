//! What a person reads when a file is wrong.

use super::project::Project;
use crate::ConfigError;

#[test]
fn an_unknown_key_is_shown_with_file_line_and_the_key_that_was_meant() {
    let project = Project::new("devices:\n  web:\n    phone:\n      viewprt: 1280x800\n");
    assert_eq!(
        project.complaint(),
        "packtrain.yaml:4:7: devices.web.phone.viewprt: unknown key `viewprt`\n\
         hint: did you mean `viewport`?"
    );
}

#[test]
fn a_key_in_the_wrong_place_is_sent_to_the_right_one() {
    let project = Project::new("viewport: 1280x800\n");
    assert!(
        project
            .complaint()
            .ends_with("hint: `viewport` belongs in `devices.web.<name>`")
    );
    let project = Project::new("workingDir: x\n");
    assert!(
        project
            .complaint()
            .ends_with("hint: `workingDir` belongs in `mcpServers[]`")
    );
    let project = Project::new("run: {wda: 'http://x'}\n");
    assert!(
        project
            .complaint()
            .ends_with("hint: `wda` belongs in `devices.ios.<name>`")
    );
}

#[test]
fn a_key_like_no_other_gets_the_list_of_keys() {
    let complaint = Project::new("devices:\n  zx: 1\n").complaint();
    assert!(
        complaint.ends_with("hint: known keys: web, android, ios, virtual, idleTimeout"),
        "{complaint}"
    );
}

#[test]
fn an_unknown_word_is_shown_with_the_words_there_are() {
    let complaint = Project::new("devices: {web: {a: {colorScheme: drak}}}\n").complaint();
    assert_eq!(
        complaint,
        "packtrain.yaml:1:34: devices.web.a.colorScheme: \
         unknown value `drak`\n\
         hint: did you mean `dark`?"
    );
}

#[test]
fn a_value_of_the_wrong_kind_says_which_kind_is_expected() {
    for (yaml, words) in [
        (
            "run: {retries: many}",
            "run.retries: expected a whole number, found `many`",
        ),
        (
            "run: {retries: -1}",
            "run.retries: expected a whole number of at least 0",
        ),
        (
            "run: {failFast: perhaps}",
            "run.failFast: expected true or false",
        ),
        ("target: [shop]", "target: expected text"),
        (
            "mcpServers: {name: acme}",
            "mcpServers.name: expected a mapping",
        ),
        (
            "mcpServers: acme",
            "mcpServers: expected a list, or entries by name",
        ),
        ("devices: web", "devices: expected a mapping"),
        ("- target", "packtrain.yaml:1:1: expected a mapping"),
        (
            "mcpServers: [{command: acme}]",
            "mcpServers.0: `name` is missing",
        ),
        (
            "run: {timeout: soon}",
            "`soon` is not a duration such as 250ms, 30s, 5m or 1h30m",
        ),
        ("run: {timeout: 30}", "`30` is not a duration"),
        ("run: {shard: some}", "run.shard:"),
        (
            "devices: {web: {a: {viewport: wide}}}",
            "`wide` is not a size in pixels",
        ),
        (
            "devices: {android: {adb: localhost}}",
            "`localhost` is not a host and a port",
        ),
        (
            "devices: {web: {a: {geolocation: {latitude: x, longitude: 1}}}}",
            "expected a number",
        ),
    ] {
        let complaint = Project::new(yaml).complaint();
        assert!(complaint.contains(words), "{yaml}: {complaint}");
    }
}

#[test]
fn a_duplicate_key_is_pointed_at() {
    let complaint = Project::new("target: a.b\nrun: {}\ntarget: c.d\n").complaint();
    assert_eq!(
        complaint,
        "packtrain.yaml:3:1: the key `target` is given twice, first on line 1"
    );
}

#[test]
fn a_missing_key_is_missed_where_its_neighbours_stand() {
    let complaint =
        Project::new("devices:\n  web:\n    a:\n      geolocation:\n        latitude: 1\n")
            .complaint();
    assert!(
        complaint
            .starts_with("packtrain.yaml:5:9: devices.web.a.geolocation: `longitude` is missing"),
        "{complaint}"
    );
}

#[test]
fn broken_yaml_names_the_line() {
    let complaint = Project::new("target: a.b\ndevices: {web: [\n").complaint();
    assert!(complaint.starts_with("packtrain.yaml:"), "{complaint}");
    let complaint = Project::new("target: 'a\n").complaint();
    assert!(complaint.starts_with("packtrain.yaml:"), "{complaint}");
}

#[test]
fn all_mistakes_are_told_at_once_and_nothing_that_only_follows_from_them() {
    let complaint = Project::new(
        "target: shp\ntargets: {shop: {}}\ndevices:\n  web: {a: {engine: firefx, locle: x}, b: {engine: chromum}}\n  ios: {c: {wdaa: 'http://localhost'}}\nrun:\n  masks: [{ccs: x}, {css: x, text: y}]\n  retries: many\n",
    )
    .complaint();
    let told: Vec<&str> = complaint
        .lines()
        .filter(|line| !line.starts_with("hint: "))
        .collect();
    let places = [
        "4:21", "4:29", "4:52", "5:13", "7:12", "8:12", "1:1", "7:21",
    ];
    assert_eq!(told.len(), places.len(), "{complaint}");
    for place in places {
        let place = format!("packtrain.yaml:{place}: ");
        assert!(
            told.iter().any(|line| line.starts_with(&place)),
            "{place}\n{complaint}"
        );
    }
}

#[test]
fn a_mistake_in_the_users_file_names_that_file() {
    let project = Project::new("").user("targt: x\n");
    assert!(
        project
            .complaint()
            .starts_with("home/.config/packtrain/config.yaml:1:1: targt: unknown key")
    );
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let project = Project::empty();
    let mut sources = project.sources();
    sources.project = Some("gone.yaml".into());
    let error = crate::load(&sources).unwrap_err();
    assert!(matches!(&error, ConfigError::Unreadable { path, .. } if path.ends_with("gone.yaml")));
}

#[test]
fn a_file_of_a_megabyte_and_more_is_refused() {
    let project = Project::new(&"# padding\n".repeat(200_000));
    assert!(matches!(project.error(), ConfigError::TooLarge { .. }));
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut yaml = String::from("args: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let below = level - 1;
        yaml += &format!(
            "a{level}: &a{level} [{}]\n",
            vec![format!("*a{below}"); 10].join(", ")
        );
    }
    assert!(matches!(
        Project::new(&yaml).error(),
        ConfigError::Invalid(_)
    ));
}
