use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::thread;

use packtrain_model::trail::WriteError;
use packtrain_model::{StepIndex, ToolCall, Trail};
use tempfile::TempDir;

use super::{RecordedStep, RecordingError, Saved, save_recordings};

const TRAIL: &str = "\
# Ours.
config:
  id: shop   # keep

trail:
  - step: One
  - verify: Two   # twice
";

fn trail_file() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("shop.trail.yaml");
    fs::write(&path, TRAIL).unwrap();
    (folder, path)
}

fn recorded(step: u32, text: &str, tool: &str) -> RecordedStep {
    RecordedStep {
        step: StepIndex(step),
        text: text.to_owned(),
        calls: ToolCall::parse_list(&format!("- {tool}: {{}}"), "<calls>").unwrap(),
    }
}

fn both(tool: &str) -> [RecordedStep; 2] {
    [recorded(1, "One", tool), recorded(2, "Two", tool)]
}

fn trail(path: &Path) -> Trail {
    Trail::parse(&fs::read_to_string(path).unwrap(), "f")
        .unwrap()
        .trail
}

/// What is recorded of a step, as `classifier: tool`, sorted.
fn recordings(path: &Path, step: usize) -> Vec<String> {
    let trail = trail(path);
    let mut recordings: Vec<String> = trail.steps[step]
        .recordings
        .iter()
        .map(|entry| {
            format!(
                "{}: {}",
                entry.classifier.as_deref().unwrap(),
                entry.value[0].name
            )
        })
        .collect();
    recordings.sort();
    recordings
}

fn files(folder: &TempDir) -> usize {
    fs::read_dir(folder.path()).unwrap().count()
}

#[test]
fn recordings_go_into_the_file_and_all_else_stays() {
    let (folder, path) = trail_file();
    assert_eq!(
        save_recordings(&path, "web", &both("tap")).unwrap(),
        Saved::Written
    );
    let text = fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| TRAIL.contains(line)).collect();
    assert_eq!(kept, TRAIL.lines().collect::<Vec<_>>());
    assert_eq!(recordings(&path, 0), ["web: tap"]);
    assert_eq!(recordings(&path, 1), ["web: tap"]);
    assert_eq!(files(&folder), 1);
}

#[test]
fn the_same_recordings_again_do_not_touch_the_file() {
    let (_folder, path) = trail_file();
    save_recordings(&path, "web", &both("tap")).unwrap();
    let before = File::open(&path).unwrap();
    assert_eq!(
        save_recordings(&path, "web", &both("tap")).unwrap(),
        Saved::Unchanged
    );
    assert!(super::is_same(
        &before.metadata().unwrap(),
        &fs::metadata(&path).unwrap()
    ));
}

#[test]
fn many_writers_at_once_all_land_and_a_reader_never_sees_half_a_file() {
    let (folder, path) = trail_file();
    let devices: Vec<String> = (0..12).map(|n| format!("lab-{n:02}")).collect();
    thread::scope(|scope| {
        let writers: Vec<_> = devices
            .iter()
            .map(|device| scope.spawn(|| save_recordings(&path, device, &both("tap")).unwrap()))
            .collect();
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            assert_eq!(trail(&path).steps.len(), 2);
        }
    });
    let expected: Vec<String> = devices
        .iter()
        .map(|device| format!("{device}: tap"))
        .collect();
    assert_eq!(recordings(&path, 0), expected);
    assert_eq!(recordings(&path, 1), expected);
    assert_eq!(files(&folder), 1);
}

/// Both sides of one test: started by cargo it starts itself several times as a writer.
#[test]
fn writers_in_other_processes_all_land() {
    const ROLE: &str = "PACKTRAIN_TEST_WRITE_AS";
    const FILE: &str = "PACKTRAIN_TEST_WRITE_TO";
    if let (Ok(device), Ok(file)) = (std::env::var(ROLE), std::env::var(FILE)) {
        save_recordings(Path::new(&file), &device, &both("tap")).unwrap();
        return;
    }
    let (_folder, path) = trail_file();
    let devices = [
        "android-phone",
        "ios-iphone",
        "web",
        "desktop",
        "tv",
        "watch",
    ];
    let writers: Vec<_> = devices
        .iter()
        .map(|device| {
            Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "recording::tests::writers_in_other_processes_all_land",
                ])
                .env(ROLE, device)
                .env(FILE, &path)
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let mut expected = devices.map(|device| format!("{device}: tap"));
    expected.sort();
    assert_eq!(recordings(&path, 0), expected);
    assert_eq!(recordings(&path, 1), expected);
}

/// Starts a writer, and lets it save only after `meanwhile` was done under the lock.
fn save_while(path: &Path, meanwhile: impl FnOnce()) {
    let held = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    held.lock().unwrap();
    let started = &Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(move || {
            started.wait();
            save_recordings(path, "web", &both("tap")).unwrap();
        });
        started.wait();
        meanwhile();
        drop(held);
    });
}

#[test]
fn a_writer_waits_for_whoever_holds_the_file() {
    let (_folder, path) = trail_file();
    save_while(&path, || {
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"  - step: Three\n").unwrap();
    });
    assert_eq!(trail(&path).steps.len(), 3);
    assert_eq!(recordings(&path, 0), ["web: tap"]);
}

#[test]
fn a_writer_that_waited_for_a_file_that_was_replaced_takes_the_new_one() {
    let (folder, path) = trail_file();
    save_while(&path, || {
        let new = folder.path().join("new");
        fs::write(&new, format!("{TRAIL}  - step: Three\n")).unwrap();
        fs::rename(&new, &path).unwrap();
    });
    assert_eq!(trail(&path).steps.len(), 3);
    assert_eq!(recordings(&path, 0), ["web: tap"]);
}

#[test]
fn a_step_that_says_something_else_now_is_not_written_to() {
    let (folder, path) = trail_file();
    let steps = [recorded(1, "One", "tap"), recorded(2, "Too", "tap")];
    let error = save_recordings(&path, "web", &steps).unwrap_err();
    assert!(
        matches!(
            error,
            RecordingError::StepChanged {
                step: StepIndex(2),
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), TRAIL, "all or nothing");
    assert_eq!(files(&folder), 1);
}

#[test]
fn a_step_that_is_gone_or_a_file_that_is_no_trail_is_refused() {
    let (_folder, path) = trail_file();
    let error = save_recordings(&path, "web", &[recorded(3, "x", "tap")]).unwrap_err();
    assert!(matches!(
        error,
        RecordingError::Write {
            source: WriteError::NoSuchStep { .. },
            ..
        }
    ));
    fs::write(&path, "trail: [").unwrap();
    let error = save_recordings(&path, "web", &both("tap")).unwrap_err();
    let RecordingError::Write {
        source: WriteError::NotATrail(problems),
        ..
    } = error
    else {
        panic!("{error:?}");
    };
    assert!(
        problems[0].location().ends_with("shop.trail.yaml:1:8"),
        "{}",
        problems[0]
    );
    let missing = path.with_file_name("missing.trail.yaml");
    assert!(matches!(
        save_recordings(&missing, "web", &both("tap")),
        Err(RecordingError::Io { doing: "find", .. })
    ));
}

#[cfg(unix)]
mod unix {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn the_files_permissions_stay() {
        let (_folder, path) = trail_file();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        save_recordings(&path, "web", &both("tap")).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }

    #[test]
    fn a_link_stays_a_link_and_the_file_behind_it_is_written() {
        let (folder, path) = trail_file();
        let link = folder.path().join("link.trail.yaml");
        symlink(&path, &link).unwrap();
        save_recordings(&link, "web", &both("tap")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(recordings(&path, 0), ["web: tap"]);
    }
}
