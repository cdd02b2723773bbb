//! Files in and out.

use crate::lab::{Adb, Lab, one_phone};

fn noise(length: usize) -> Vec<u8> {
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pushed_file_takes_the_place_of_a_link_and_a_link_that_of_a_file() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let there = lab.dir().join("there");
        std::fs::create_dir_all(&there).expect("made");
        std::fs::write(there.join("file"), "content").expect("written");
        std::os::unix::fs::symlink("/no/such", there.join("link")).expect("linked");
        // The other way round on the phone.
        let other = lab.dir().join("other").join("there");
        std::fs::create_dir_all(&other).expect("made");
        std::fs::write(other.join("link"), "x").expect("written");
        std::os::unix::fs::symlink("/system/x", other.join("file")).expect("linked");
        lab.on_phone(["push", &other.display().to_string(), "/data/local/tmp"])
            .await
            .ok();
        let said = lab
            .on_phone(["push", &there.display().to_string(), "/data/local/tmp"])
            .await;
        assert!(said.all().contains("2 files pushed"), "{said:?}");
        let line = "cd /data/local/tmp/there; cat file; ls -l file | grep -c -; ls -l link";
        let said = lab.shell(line).await.ok();
        assert!(
            said.starts_with("content1\nl") && said.ends_with(" link -> /no/such\n"),
            "{said}"
        );
        let again = lab
            .on_phone(["push", &there.display().to_string(), "/data/local/tmp"])
            .await;
        assert!(
            again.all().contains("remote symlink failed: File exists"),
            "{again:?}"
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_and_directories_come_back_as_they_went() {
    for (adb, burst) in [(Adb::Old, false), (Adb::New, false), (Adb::New, true)] {
        let lab = Lab::with_burst(adb, one_phone(), burst).await;
        lab.adb(["connect", &lab.serial()]).await.ok();
        let (there, back) = (lab.dir().join("there"), lab.dir().join("back"));
        std::fs::create_dir_all(there.join("deep/er")).expect("made");
        let files = [
            ("a.bin", noise(3_000_001)),
            ("deep/b.txt", b"text".to_vec()),
            ("deep/er/empty", Vec::new()),
        ];
        for (name, content) in &files {
            std::fs::write(there.join(name), content).expect("written");
        }
        let said = lab
            .on_phone(["push", &there.display().to_string(), "/sdcard/Download"])
            .await;
        assert!(said.all().contains("3 files pushed"), "{said:?}");
        let listed = lab
            .on_phone(["shell", "cd /sdcard/Download/there; ls . deep/er"])
            .await
            .ok();
        assert!(
            listed.contains("a.bin") && listed.contains("empty"),
            "{listed}"
        );
        let said = lab
            .on_phone([
                "pull",
                "/sdcard/Download/there",
                &back.display().to_string(),
            ])
            .await;
        assert!(said.all().contains("3 files pulled"), "{said:?}");
        for (name, content) in &files {
            assert!(
                std::fs::read(back.join(name)).expect("there") == *content,
                "{name}"
            );
        }
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_written_or_read_says_why_and_nothing_hangs() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let file = lab.dir().join("big");
        std::fs::write(&file, noise(2_000_000)).expect("written");
        let file = file.display().to_string();
        let said = lab.on_phone(["push", &file, "/system/x"]).await;
        assert_eq!(said.code, 1);
        assert!(said.all().contains("Read-only file system"), "{said:?}");
        let said = lab.on_phone(["push", &file, "/data/no/x"]).await;
        assert!(
            said.code == 1 && said.all().contains("Permission denied"),
            "{said:?}"
        );
        let said = lab.on_phone(["pull", "/sdcard/no.such", &file]).await;
        assert!(
            said.code == 1 && said.all().to_lowercase().contains("remote object"),
            "{said:?}"
        );
        assert_eq!(lab.shell("echo fine").await.ok(), "fine\n");
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sizes_times_and_modes_are_kept() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let file = lab.dir().join("script.sh");
    std::fs::write(&file, "echo \"not to run\"\n").expect("written");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("set");
    lab.on_phone(["push", &file.display().to_string(), "/data/local/tmp/"])
        .await
        .ok();
    let said = lab.shell("ls -l /data/local/tmp/script.sh").await;
    let said = said.ok();
    assert!(
        said.starts_with("-rwxr-xr-x ") && said.contains(" 18 "),
        "{said}"
    );
    let listed = lab.on_phone(["ls", "/data/local/tmp"]).await.ok();
    assert!(listed.contains(" script.sh"), "{listed}");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_file_on_many_phones_is_kept_once() {
    use packtrain_virtual::fleet::{Fleet, FleetOptions};
    let fleet = Fleet::start(FleetOptions {
        android: 20,
        ..one_phone()
    })
    .await
    .expect("started");
    let before = fleet.files_in_memory();
    let content = noise(1_000_000);
    for phone in fleet.android() {
        super::direct::push(phone, "/data/local/tmp/agent.jar", &content).await;
    }
    let grown = fleet.files_in_memory() - before;
    assert!(grown <= content.len(), "{grown} bytes");
    fleet.shutdown().await;
}
