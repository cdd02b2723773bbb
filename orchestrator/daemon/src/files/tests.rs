//! What is changed is seen, however it is changed. Each test does it with events and without.

use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// A folder, looked at once with what the system tells and once without.
struct Looked {
    folder: TempDir,
    outside: TempDir,
    files: [Files; 2],
}

impl Looked {
    /// After this was done in the folder; the second folder is not looked at.
    fn at(prepare: impl FnOnce(&Path, &Path)) -> Self {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        prepare(folder.path(), outside.path());
        let take = || {
            Files::take(
                vec![folder.path().to_owned()],
                vec![folder.path().join("runs")],
            )
        };
        let (told, mut looks) = (take(), take());
        looks.watch = None;
        let files = [told, looks];
        let mut looked = Self {
            folder,
            outside,
            files,
        };
        looked.sees(&[]);
        looked
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    #[track_caller]
    fn sees(&mut self, names: &[&str]) {
        let folder = self.folder.path();
        for files in &mut self.files {
            let differences = files.differences().unwrap();
            let seen: Vec<_> = differences
                .iter()
                .map(|it| it.path.strip_prefix(folder).unwrap().to_str().unwrap())
                .collect();
            assert_eq!(seen, names);
        }
    }
}

#[test]
fn an_edit_is_seen_whatever_the_name_the_depth_and_the_way() {
    let deep = "a/b/c/d/e/f/g/h/i";
    let names = [
        "greeting.txt",
        "selectors.yaml",
        ".env",
        "noending",
        ".hidden/x.bin",
    ];
    let all: Vec<_> = names.iter().map(|name| format!("{deep}/{name}")).collect();
    let mut looked = Looked::at(|folder, _| {
        for name in &all {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "one").unwrap();
        }
    });
    for name in &all {
        let path = looked.path(name);
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        // As long as before, and as old as before.
        fs::write(&path, "two").unwrap();
        fs::File::open(&path).unwrap().set_modified(before).unwrap();
        looked.sees(&[name]);
        looked.sees(&[]);
    }
    fs::remove_file(looked.path(&all[0])).unwrap();
    looked.sees(&[&all[0]]);
    fs::write(looked.path("new"), "").unwrap();
    looked.sees(&["new"]);
    fs::rename(looked.path("new"), looked.path("newer")).unwrap();
    looked.sees(&["new", "newer"]);
    fs::create_dir(looked.path("folder")).unwrap();
    fs::write(looked.path("folder/x"), "x").unwrap();
    looked.sees(&["folder/x"]);
}

#[test]
fn an_edit_behind_a_link_or_by_another_name_is_seen() {
    let mut looked = Looked::at(|folder, outside| {
        fs::create_dir(outside.join("data")).unwrap();
        fs::create_dir(outside.join("other")).unwrap();
        for name in ["data/x", "other/x", "file", "named"] {
            fs::write(outside.join(name), "one").unwrap();
        }
        symlink(outside.join("data"), outside.join("current")).unwrap();
        symlink(outside.join("current"), folder.join("folder")).unwrap();
        symlink(outside.join("file"), folder.join("file")).unwrap();
        symlink(outside.join("later"), folder.join("later")).unwrap();
        symlink(folder, folder.join("circle")).unwrap();
        fs::hard_link(outside.join("named"), folder.join("named")).unwrap();
    });
    let outside = looked.outside.path().to_owned();
    for (written, seen) in [
        ("data/x", "folder/x"),
        ("file", "file"),
        ("later", "later"),
        ("named", "named"),
    ] {
        fs::write(outside.join(written), "two").unwrap();
        looked.sees(&[seen]);
    }
    fs::remove_file(outside.join("current")).unwrap();
    symlink(outside.join("other"), outside.join("current")).unwrap();
    looked.sees(&["folder/x"]);
}

#[test]
fn what_is_installed_and_the_runs_are_left_out_and_nothing_else() {
    let mut looked = Looked::at(|folder, _| {
        for name in LEFT_OUT.iter().chain(&["runs", "lib"]) {
            fs::create_dir(folder.join(name)).unwrap();
        }
    });
    for name in LEFT_OUT.iter().chain(&["runs"]) {
        fs::write(looked.path(name).join("x"), "x").unwrap();
    }
    looked.sees(&[]);
    fs::write(looked.path("lib/target"), "a file").unwrap();
    looked.sees(&["lib/target"]);
}

#[test]
fn ten_thousand_files_are_seen_and_of_too_many_nothing_is_believed() {
    let mut looked = Looked::at(|folder, _| {
        for number in 0..10_000 {
            let file = fs::File::create(folder.join(number.to_string())).unwrap();
            file.set_len(1).unwrap();
        }
    });
    fs::write(looked.path("9999"), "x").unwrap();
    looked.sees(&["9999"]);
    looked.files[0].found.is_cut_off = true;
    assert_eq!(looked.files[0].differences(), None);
    let everywhere = Files::take(vec!["/".into()], Vec::new()).differences();
    assert_eq!(everywhere, None);
}

#[cfg(target_os = "linux")]
#[test]
fn where_events_run_out_it_is_looked_instead() {
    let mut looked = Looked::at(|folder, _| fs::write(folder.join("a"), "one").unwrap());
    let watch = looked.files[0].watch.as_mut().unwrap();
    assert!(watch.is_quiet(), "nothing has happened");
    // More than the queue holds: the last of them are lost.
    for number in 0..40_000 {
        let name = looked.folder.path().join(format!("b{}", number % 2));
        fs::write(&name, "").unwrap();
        fs::remove_file(name).unwrap();
    }
    fs::write(looked.path("a"), "two").unwrap();
    looked.sees(&["a"]);
    // A file system that does not tell.
    assert!(looked.files[0].is_quiet());
    looked.files[0]
        .watch
        .as_mut()
        .unwrap()
        .add(Path::new("/proc/self"));
    assert!(!looked.files[0].is_quiet());
}

#[cfg(target_os = "linux")]
#[test]
fn what_may_have_been_read_is_told_and_to_look_is_not_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["words.txt", "calls.log", "mapped.bin"] {
        fs::write(path(name), "one").unwrap();
    }
    symlink(path("words.txt"), path("linked")).unwrap();
    let mut files = Files::take(vec![folder.path().to_owned()], Vec::new());
    fs::write(path("calls.log"), "two").unwrap();
    fs::create_dir(path("later")).unwrap();
    fs::write(path("later/x"), "x").unwrap();
    assert_eq!(files.differences().unwrap().len(), 2);
    assert_eq!(fs::read(path("words.txt")).unwrap(), b"one");
    // As one does that maps it.
    drop(fs::File::open(path("mapped.bin")).unwrap());
    let reads = files.reads().unwrap();
    for name in ["words.txt", "*.txt", "linked", "later/x", "mapped.bin"] {
        assert!(reads.contains(&path(name)), "{name}: {reads:?}");
    }
    for name in ["calls.log", "*.log"] {
        assert!(!reads.contains(&path(name)), "{name}: {reads:?}");
    }
}
