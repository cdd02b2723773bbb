//! What travels, and what does not.

use std::time::Duration;

use nix::time::ClockId;

use super::*;

#[test]
fn a_project_travels_as_git_sees_it() {
    let lab = Lab::new(&[
        ("packtrain.yaml", "target: shop"),
        (".gitignore", "*.log\n/builds\n"),
        ("trails/buy.trail.yaml", "- prompts: []"),
        ("tools/tax.py", "print(1)"),
        ("noise.log", "x"),
        ("builds/app.apk", "apk"),
        (".env", "PASSWORD=1"),
        (".git/config", "x"),
        ("web/node_modules/left/pad.js", "x"),
        ("env/pyvenv.cfg", ""),
        ("env/bin/python", "x"),
        ("server/Cargo.toml", ""),
        ("server/target/debug/server", "x"),
        ("docs/target/aim.md", "not made by a build"),
        ("runs/1/journal", "x"),
    ]);
    let options = CollectOptions {
        leave_out: vec![lab.project().join("runs"), lab.project().join("absent")],
        ..CollectOptions::default()
    };
    let collected = lab.collect_with(&[], &[], options.clone()).unwrap();
    let usual = [
        "project/docs/target/aim.md",
        "project/packtrain.yaml",
        "project/server/Cargo.toml",
        "project/tools/tax.py",
        "project/trails/buy.trail.yaml",
    ];
    assert_eq!(paths(&collected), usual);

    let options = CollectOptions {
        include: vec!["builds/*.apk".to_owned(), "/.env".to_owned()],
        ..options
    };
    let collected = lab.collect_with(&[], &[], options).unwrap();
    let mut more = vec!["project/.env", "project/builds/app.apk"];
    more.extend(usual);
    assert_eq!(paths(&collected), more);
}

#[test]
fn what_a_trail_names_travels_wherever_it_lies() {
    let lab = Lab::new(&[
        (".gitignore", "builds\n"),
        ("packtrain.yaml", ""),
        ("builds/app.apk", "apk"),
    ]);
    let outside = lab.elsewhere();
    lab.write(&outside.join("pay.trail.yaml"), "- prompts: []");
    lab.write(&outside.join("login.trail.yaml"), "- prompts: []");
    lab.write(&outside.join("diary.txt"), "dear diary");
    lab.write(&outside.join("more/Shop.app/Info.plist"), "x");
    lab.write(&outside.join("more/Shop.app/.hidden/x"), "x");
    let app = lab.project().join("builds/app.apk");
    let bundle = outside.join("more/Shop.app");
    let trail = outside.join("pay.trail.yaml");
    let collected = lab
        .collect_with(
            &[trail.clone(), trail.clone()],
            &[app.clone(), bundle.clone()],
            CollectOptions::default(),
        )
        .unwrap();
    assert_eq!(
        paths(&collected),
        [
            "outside/0/login.trail.yaml",
            "outside/0/pay.trail.yaml",
            "outside/1/Shop.app/.hidden/x",
            "outside/1/Shop.app/Info.plist",
            "project/builds/app.apk",
            "project/packtrain.yaml",
        ]
    );
    let map = |path: &Path| collected.map(path);
    assert_eq!(map(&trail).unwrap(), "outside/0/pay.trail.yaml");
    assert_eq!(map(&bundle).unwrap(), "outside/1/Shop.app");
    assert_eq!(map(&app).unwrap(), "project/builds/app.apk");
    let config = lab.project().join("builds/../packtrain.yaml");
    assert_eq!(map(&config).unwrap(), "project/packtrain.yaml");
    assert_eq!(
        map(&lab.project().join("builds")).unwrap(),
        "project/builds"
    );
    assert_eq!(map(&outside.join("diary.txt")), None);
    assert_eq!(map(&lab.project().join(".gitignore")), None);
    assert_eq!(map(Path::new("/nowhere/at/all")), None);
}

#[test]
fn without_a_project_only_trails_and_what_they_name_travel() {
    let lab = Lab::new(&[
        ("thesis.txt", "private"),
        ("trails/buy.trail.yaml", "- prompts: []"),
        ("trails/login.trail.yaml", "- prompts: []"),
        ("trails/notes.txt", "private"),
        ("photo.png", "x"),
    ]);
    let collected = collect(
        &lab.project(),
        &[lab.project().join("trails/buy.trail.yaml")],
        &[lab.project().join("photo.png")],
        &CollectOptions::default(),
    );
    assert_eq!(
        paths(&collected.unwrap()),
        [
            "project/photo.png",
            "project/trails/buy.trail.yaml",
            "project/trails/login.trail.yaml",
        ]
    );
}

#[test]
fn links_become_what_they_lead_to_and_never_lead_out() {
    let lab = Lab::new(&[("packtrain.yaml", ""), ("shared/a.txt", "a")]);
    let project = lab.project();
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, project.join(name)).unwrap();
    };
    link(Path::new("shared/a.txt"), "file");
    link(Path::new("shared"), "folder");
    link(Path::new("."), "shared/loop");
    link(Path::new("nowhere"), "dangling");
    let collected = lab.collect();
    let found = paths(&collected);
    for expected in [
        "project/file",
        "project/folder/a.txt",
        "project/shared/loop/a.txt",
    ] {
        assert!(
            found.contains(&expected.to_owned()),
            "{expected}: {found:?}"
        );
    }

    lab.write(&lab.elsewhere().join("secret"), "x");
    link(&lab.elsewhere(), "out");
    let refused = lab.collect_with(&[], &[], CollectOptions::default());
    let refused = refused.unwrap_err();
    let told = refused.to_string();
    assert!(
        told.contains("out points outside the project, to "),
        "{told}"
    );
    assert!(refused.hint().is_some());

    lab.write(&project.join(".gitignore"), "/out\n");
    assert!(
        lab.collect_with(&[], &[], CollectOptions::default())
            .is_ok()
    );
}

#[test]
fn too_much_is_refused_with_the_names_of_the_largest_files() {
    let lab = Lab::new(&[
        ("packtrain.yaml", ""),
        ("video.mp4", &"x".repeat(3 * 1024 * 1024)),
        ("a/small.txt", &"x".repeat(2048)),
        ("a/one.txt", "1"),
    ]);
    let with = |most_bytes, most_files| {
        let options = CollectOptions {
            most_bytes,
            most_files,
            ..CollectOptions::default()
        };
        lab.collect_with(&[], &[], options)
    };
    assert!(with(None, None).is_ok());
    let refused = with(Some(1024 * 1024), None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the project has 3.0 MB, and at most 1.0 MB can be sent to hosts; its largest files are \
         video.mp4 (3.0 MB), a/small.txt (2 KB), a/one.txt (1 bytes), packtrain.yaml (0 bytes)"
    );
    assert!(refused.hint().unwrap().contains(".gitignore"));
    let refused = with(None, Some(3)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the project has 4 files, and at most 3 can be sent to hosts; most are in . (2 files), a (2 files)"
    );
}

#[tokio::test]
async fn the_same_project_is_sent_once() {
    let large = "0123456789".repeat(120_000);
    let lab = Lab::new(&[
        ("packtrain.yaml", "a"),
        ("copy", "a"),
        ("large", &large),
        ("empty", ""),
    ]);
    lab.collect().upload(&lab.store).await.unwrap();
    // Two files of one content, three parts, nothing for the empty one.
    assert_eq!(lab.store.len(), 4);
    // What is sent again is what it should be again.
    let small = digest_of(b"a");
    lab.store.alter(&small, Some("x".into()));
    lab.collect().upload(&lab.store).await.unwrap();
    assert_eq!(lab.store.get(&small).await.unwrap(), "x");

    lab.write(&lab.project().join("copy"), "b");
    lab.collect().upload(&lab.store).await.unwrap();
    assert_eq!(lab.store.len(), 5);
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_sent_is_told() {
    let lab = Lab::new(&[("packtrain.yaml", "a")]);
    let collected = lab.collect();
    lab.write(&lab.project().join("packtrain.yaml"), "b");
    let refused = collected.upload(&lab.store).await.unwrap_err();
    assert!(matches!(refused, CollectError::Changed(_)), "{refused}");
    assert_eq!(lab.store.len(), 0);
}

/// How much of the processor it takes to collect so many trails of a folder: how long it takes
/// depends on what else is running.
fn collecting(count: usize) -> Duration {
    let clock = ClockId::CLOCK_THREAD_CPUTIME_ID;
    let lab = Lab::new(&[("packtrain.yaml", "")]);
    let trail = |number: usize| lab.project().join(format!("trails/{number}.trail.yaml"));
    let trails: Vec<_> = (0..count).map(trail).collect();
    for trail in &trails {
        lab.write(trail, "- prompts: []");
    }
    let begun = clock.now().unwrap();
    let collected = lab.collect_with(&trails, &[], CollectOptions::default());
    assert_eq!(collected.unwrap().len(), count + 1);
    (clock.now().unwrap() - begun).into()
}

#[test]
fn ten_times_as_many_trails_of_a_folder_take_about_ten_times_as_much_work() {
    let (few, many) = (collecting(300), collecting(3_000));
    // A hundred times as long, were each looked at for each.
    assert!(many < few * 40, "{few:?} and {many:?}");
}
