use std::fs;
use std::path::Path;

use packtrain_drivers::{DeviceId, DeviceInfo, Platform, Size};
use packtrain_model::{
    Artifact, ArtifactKind, Failure, PlannedSession, RunOptionsSummary, SCHEMA_VERSION, StepIndex,
    TrailSummary,
};

use super::*;
use crate::ARTIFACTS_FOLDER;

/// Which sessions of the plan each of two parts has.
const DIVISION: [&[u32]; 2] = [&[0, 3], &[1, 2]];

fn device(number: u32) -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::new(Platform::Web, format!("d{number}")),
        driver: String::new(),
        classifiers: Vec::new(),
        model: String::new(),
        system: String::new(),
        screen: Size::new(1.0, 1.0),
    }
}

fn planned(place: u32) -> PlannedSession {
    PlannedSession {
        device: Some(device(place).id),
        place: Some(place),
        ..PlannedSession::default()
    }
}

fn started(own: &[u32], part: Option<&str>) -> RunEvent {
    let (own, rest): (Vec<_>, Vec<_>) = (0..4).partition(|place| own.contains(place));
    RunEvent::RunStarted {
        schema_version: SCHEMA_VERSION,
        packtrain: "1.0.0".to_owned(),
        run: RunId("part".to_owned()),
        trails: vec![TrailSummary {
            name: "t".to_owned(),
            title: "T".to_owned(),
            path: "t.trail.yaml".to_owned(),
            tags: Vec::new(),
            steps: Vec::new(),
        }],
        devices: (0..4).map(device).collect(),
        sessions: own.into_iter().map(planned).collect(),
        options: RunOptionsSummary {
            part: part.map(str::to_owned),
            elsewhere: rest.into_iter().map(planned).collect(),
            ..RunOptionsSummary::default()
        },
        matrix: None,
    }
}

/// Writes a run in which every session saves a picture and passes, but for the one in a place.
fn part(
    root: &Path,
    name: &str,
    own: &[u32],
    failing: Option<u32>,
    events: Vec<RunEvent>,
) -> PathBuf {
    let run = RunId(name.to_owned());
    let mut writer = JournalWriter::create(root, &run).unwrap();
    let folder = writer.folder().to_owned();
    let mut all = events;
    let mut verdict = Verdict::default();
    for (index, place) in own.iter().enumerate() {
        let session = SessionId::new(SessionIndex(index), AttemptNumber(1));
        let path = format!("{ARTIFACTS_FOLDER}/{session}/01-end.txt");
        fs::create_dir_all(folder.join(&path).parent().unwrap()).unwrap();
        fs::write(folder.join(&path), place.to_string()).unwrap();
        fs::create_dir_all(folder.join("trees")).unwrap();
        fs::write(folder.join("trees/44136fa355b3678a.json"), "{}").unwrap();
        let outcome = match failing == Some(*place) {
            true => Outcome::Failed(Failure::default()),
            false => Outcome::Passed,
        };
        verdict.count(&outcome, false);
        all.extend([
            RunEvent::session_started(
                session.clone(),
                planned(*place),
                AttemptNumber(1),
                device(*place),
            ),
            RunEvent::ArtifactSaved {
                session: session.clone(),
                step: StepIndex(1),
                artifact: Artifact {
                    kind: ArtifactKind::Snapshot,
                    path,
                    bytes: 1,
                },
            },
            RunEvent::SessionFinished {
                session,
                outcome,
                flaky: false,
                duration_ms: Duration::from_secs(1),
            },
        ]);
    }
    all.push(RunEvent::RunFinished {
        verdict,
        duration_ms: Duration::from_secs(u64::from(own.first().copied().unwrap_or(0)) + 5),
    });
    let at = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
    for (seq, event) in (1..).zip(all) {
        let at = at + Duration::from_millis(seq);
        writer.append([&Entry { seq, at, event }]).unwrap();
    }
    folder
}

fn parts(root: &Path, failing: Option<u32>) -> Vec<PathBuf> {
    let numbered = DIVISION.iter().zip(["1/2", "2/2"]);
    numbered
        .map(|(own, name)| {
            let begun = vec![started(own, Some(name))];
            part(root, &format!("run-{}", &name[..1]), own, failing, begun)
        })
        .collect()
}

fn merged(root: &Path, parts: &[PathBuf]) -> Result<Merged, MergeError> {
    merge(root, &RunId("merged".to_owned()), parts)
}

fn events(folder: &Path) -> Vec<RunEvent> {
    let entries = JournalReader::open(folder).unwrap();
    entries.map(|entry| entry.unwrap().event).collect()
}

fn verdict(events: &[RunEvent]) -> Verdict {
    match events.last() {
        Some(RunEvent::RunFinished { verdict, .. }) => verdict.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_parts_make_the_run_that_one_machine_would_have_made() {
    for turned in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let mut parts = parts(root.path(), Some(3));
        if turned {
            parts.reverse();
        }
        let merged = merged(root.path(), &parts).unwrap();
        assert_eq!((merged.missing, merged.cut_short), (vec![], vec![]));
        let events = events(&merged.folder);
        let RunEvent::RunStarted {
            sessions, options, ..
        } = &events[0]
        else {
            panic!("{events:?}");
        };
        let whole = (0..4).map(|place| PlannedSession {
            place: None,
            ..planned(place)
        });
        assert_eq!(*sessions, whole.collect::<Vec<_>>());
        assert_eq!((&options.part, &options.elsewhere), (&None, &Vec::new()));
        let verdict = verdict(&events);
        assert_eq!((verdict.passed, verdict.failed), (3, 1));
        assert_eq!(verdict.exit, Exit::Failed);
        let saved = events.iter().filter_map(|event| match event {
            RunEvent::ArtifactSaved {
                session, artifact, ..
            } => Some((session, artifact)),
            _ => None,
        });
        let mut places = Vec::new();
        for (session, artifact) in saved {
            let place: usize = fs::read_to_string(merged.folder.join(&artifact.path))
                .unwrap()
                .parse()
                .unwrap();
            assert_eq!(
                session.0,
                format!("s{}", place + 1),
                "the file is the session's"
            );
            places.push(place);
        }
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2, 3]);
        assert!(merged.folder.join("trees/44136fa355b3678a.json").is_file());
    }
}

#[test]
fn a_missing_part_is_told_and_never_a_pass() {
    let root = tempfile::tempdir().unwrap();
    let parts = parts(root.path(), None);
    let merged = merged(root.path(), &parts[1..]).unwrap();
    assert_eq!(merged.missing, [1]);
    let verdict = verdict(&events(&merged.folder));
    assert_eq!((verdict.passed, verdict.infrastructure), (2, 2));
    assert_eq!(verdict.exit, Exit::Infrastructure);
}

#[test]
fn a_part_that_was_cut_short_is_told_and_never_a_pass() {
    let root = tempfile::tempdir().unwrap();
    let parts = parts(root.path(), None);
    let journal = parts[0].join(crate::EVENTS_FILE);
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<_> = text.lines().take(3).collect();
    fs::write(&journal, format!("{}\n{{\"torn", lines.join("\n"))).unwrap();
    let merged = merged(root.path(), &parts).unwrap();
    assert_eq!(merged.cut_short, [1]);
    let verdict = verdict(&events(&merged.folder));
    assert_eq!((verdict.passed, verdict.infrastructure), (2, 2));
    assert_eq!(verdict.exit, Exit::Infrastructure);
}

#[test]
fn a_part_given_twice_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let parts = parts(root.path(), None);
    let twice = [parts[0].clone(), parts[1].clone(), parts[0].clone()];
    let error = merged(root.path(), &twice).unwrap_err();
    assert!(matches!(error, MergeError::Twice { .. }), "{error}");
    assert!(!root.path().join("merged").exists());
}

#[test]
fn a_run_that_is_no_part_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let whole = part(root.path(), "whole", &[0], None, vec![started(&[0], None)]);
    let error = merged(root.path(), &[whole]).unwrap_err();
    assert!(matches!(error, MergeError::NotAPart(_)), "{error}");
}

#[test]
fn parts_of_different_runs_are_refused_with_what_differs() {
    type Change = fn(&mut String, &mut [TrailSummary], &mut RunOptionsSummary);
    let changes: [(&str, Change); 6] = [
        ("from different trails or options", |_, _, options| {
            options.plan = "0123456789abcdef".to_owned();
        }),
        ("1.0.0 and packtrain 2.0.0", |packtrain, _, _| {
            *packtrain = "2.0.0".to_owned();
        }),
        ("only one has the trail t.trail.yaml", |_, trails, _| {
            trails[0].path = "u.trail.yaml".to_owned();
        }),
        ("the trail t.trail.yaml is not the same", |_, trails, _| {
            trails[0].title = "U".to_owned();
        }),
        ("4 planned sessions and 3", |_, _, options| {
            options.elsewhere.pop();
        }),
        ("other devices", |_, _, options| {
            options.elsewhere[0].device = None;
        }),
    ];
    for (told, change) in changes {
        let root = tempfile::tempdir().unwrap();
        let one = part(
            root.path(),
            "one",
            DIVISION[0],
            None,
            vec![started(DIVISION[0], Some("1/2"))],
        );
        let mut event = started(DIVISION[1], Some("2/2"));
        let RunEvent::RunStarted {
            packtrain,
            trails,
            options,
            ..
        } = &mut event
        else {
            panic!("{event:?}");
        };
        change(packtrain, trails, options);
        let other = part(root.path(), "other", DIVISION[1], None, vec![event]);
        let error = merged(root.path(), &[one, other]).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn parts_that_were_divided_in_different_ways_are_refused() {
    for (own, others) in [(&[0, 1][..], &[1, 2, 3][..]), (&[0], &[2, 3])] {
        let root = tempfile::tempdir().unwrap();
        let one = part(
            root.path(),
            "one",
            own,
            None,
            vec![started(own, Some("1/2"))],
        );
        let other = part(
            root.path(),
            "other",
            others,
            None,
            vec![started(others, Some("2/2"))],
        );
        let error = merged(root.path(), &[one, other]).unwrap_err().to_string();
        assert!(error.contains("--times"), "{error}");
    }
}

#[test]
fn a_part_whose_places_are_no_plan_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let mut parts = Vec::new();
    for (name, place) in [("1/2", None), ("2/2", Some(5))] {
        let mut event = started(&[], Some(name));
        if let RunEvent::RunStarted {
            sessions, options, ..
        } = &mut event
        {
            *sessions = place.into_iter().map(planned).collect();
            options.elsewhere.clear();
        }
        let own: Vec<_> = place.into_iter().collect();
        let name = format!("run-{}", &name[..1]);
        parts.push(part(root.path(), &name, &own, None, vec![event]));
    }
    let error = merged(root.path(), &parts).unwrap_err();
    assert!(
        matches!(error, MergeError::NotAPart(ref folder) if *folder == parts[1]),
        "{error}"
    );
}

#[test]
fn a_part_keeps_its_files_whatever_they_are_called() {
    let root = tempfile::tempdir().unwrap();
    let parts = parts(root.path(), None);
    let own = ["s1", "s01", "s+1", "s1.01"].map(|session| {
        let file = parts[0].join(ARTIFACTS_FOLDER).join(session).join("a.txt");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, session).unwrap();
        (file, session)
    });
    let merged = merged(root.path(), &parts).unwrap();
    for (file, session) in own {
        assert_eq!(fs::read_to_string(file).unwrap(), session);
        let odd = merged.folder.join("parts/1/artifacts").join(session);
        assert_eq!(odd.exists(), session != "s1", "{session}");
    }
    let first = merged.folder.join("artifacts/s1/a.txt");
    assert_eq!(fs::read_to_string(first).unwrap(), "s1");
}

#[test]
fn a_file_is_never_written_over() {
    let root = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| root.path().join(name));
    fs::write(&from, "new").unwrap();
    fs::write(&to, "old").unwrap();
    for refused in [files::place(&from, &to, false), files::copy(&from, &to)] {
        refused.unwrap_err();
        assert_eq!(fs::read_to_string(&to).unwrap(), "old");
    }
    let beside = root.path().join("beside");
    files::copy(&from, &beside).unwrap();
    assert_eq!(fs::read_to_string(beside).unwrap(), "new");
}

#[cfg(unix)]
fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_taken() {
    let root = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "x").unwrap();
    let parts = parts(root.path(), None);
    for folder in ["artifacts/s1", "trees"] {
        let folder = parts[0].join(folder);
        pipe(&folder.join("pipe"));
        std::os::unix::fs::symlink(outside.path().join("secret"), folder.join("link")).unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.join("folder")).unwrap();
    }
    let merged = merged(root.path(), &parts).unwrap();
    for folder in ["artifacts/s1", "trees"] {
        for name in ["pipe", "link", "folder"] {
            let taken = merged.folder.join(folder).join(name);
            assert!(fs::symlink_metadata(taken).is_err(), "{folder}/{name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_journal_that_is_no_regular_file_is_refused() {
    type Replace = fn(&Path, &Path);
    let kinds: [Replace; 2] = [
        |journal, kept| std::os::unix::fs::symlink(kept, journal).unwrap(),
        |journal, _| pipe(journal),
    ];
    for replace in kinds {
        let root = tempfile::tempdir().unwrap();
        let parts = parts(root.path(), None);
        let (journal, kept) = (parts[1].join(crate::EVENTS_FILE), root.path().join("kept"));
        fs::rename(&journal, &kept).unwrap();
        replace(&journal, &kept);
        let error = merged(root.path(), &parts).unwrap_err();
        let why = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(why, "it is not a regular file");
    }
}

#[test]
fn of_files_of_one_name_the_one_that_is_what_it_says_is_taken() {
    let root = tempfile::tempdir().unwrap();
    let parts = parts(root.path(), None);
    let (tree, picture) = (
        "trees/44136fa355b3678a.json",
        "pictures/44136fa355b3678a.png",
    );
    fs::write(parts[0].join(tree), "[]").unwrap();
    for part in &parts {
        fs::create_dir_all(part.join("pictures")).unwrap();
        fs::write(part.join(picture), "torn").unwrap();
    }
    let merged = merged(root.path(), &parts).unwrap();
    let taken = fs::read_to_string(merged.folder.join(tree)).unwrap();
    assert_eq!(taken, "{}");
    assert!(!merged.folder.join(picture).exists());
    assert_eq!(merged.damaged, [picture]);
}

#[test]
fn a_session_that_ends_twice_counts_once() {
    let root = tempfile::tempdir().unwrap();
    let end = |outcome| RunEvent::SessionFinished {
        session: SessionId::new(SessionIndex(0), AttemptNumber(1)),
        outcome,
        flaky: false,
        duration_ms: Duration::ZERO,
    };
    let ends = [
        Outcome::Passed,
        Outcome::Passed,
        Outcome::Failed(Failure::default()),
    ];
    let mut begun = vec![started(&[0], Some("1/2"))];
    begun.extend(ends.map(end));
    let one = part(root.path(), "one", &[], None, begun);
    let others = [1, 2, 3];
    let begun = vec![started(&others, Some("2/2"))];
    let other = part(root.path(), "other", &others, None, begun);
    let merged = merged(root.path(), &[one, other]).unwrap();
    let verdict = verdict(&events(&merged.folder));
    assert_eq!((verdict.passed, verdict.failed), (4, 0));
    assert_eq!(verdict.exit, Exit::Passed);
}
