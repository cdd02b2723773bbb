//! What the file system of a phone promises.

use super::*;
use crate::android::blobs::Blobs;

fn files() -> (Files, Blob) {
    (
        Files::default(),
        Blobs::new(1 << 20).put(b"content").expect("stored"),
    )
}

#[test]
fn the_sdcard_is_reached_through_its_links() {
    let (mut files, blob) = files();
    let real = files.resolve("/", "/sdcard/Download/../a.txt", FinalLink::Follow);
    assert_eq!(real.as_deref(), Ok("/storage/emulated/0/a.txt"));
    files
        .write(&real.expect("resolved"), blob, 0o644, 5, &FileUser::Shell)
        .expect("written");
    let again = files
        .resolve("/mnt", "sdcard/a.txt", FinalLink::Follow)
        .expect("resolved");
    assert_eq!(files.meta(&again).map(|m| m.size), Some(7));
    assert_eq!(
        files.resolve("/", "/sdcard", FinalLink::Keep).as_deref(),
        Ok("/sdcard")
    );
}

#[test]
fn the_shell_writes_where_a_phone_lets_it() {
    let (mut files, blob) = files();
    let mut write = |path: &str, who: &FileUser| files.write(path, blob.clone(), 0o644, 0, who);
    assert_eq!(write("/data/local/tmp/x", &FileUser::Shell), Ok(()));
    assert_eq!(write("/system/x", &FileUser::Shell), Err(Errno::READ_ONLY));
    assert_eq!(write("/data/x", &FileUser::Shell), Err(Errno::DENIED));
    assert_eq!(write("/data/x", &FileUser::Root), Ok(()));
    assert_eq!(write("/system/x", &FileUser::Root), Err(Errno::READ_ONLY));
    assert_eq!(
        write("/data/local/tmp/no/x", &FileUser::Shell),
        Err(Errno::NO_ENTRY)
    );
}

#[test]
fn directories_are_made_listed_moved_and_removed() {
    let (mut files, blob) = files();
    let me = FileUser::Shell;
    files
        .make_dir("/data/local/tmp/a/b", 0, true, &me)
        .expect("made");
    files
        .write("/data/local/tmp/a/b/f", blob, 0o600, 0, &me)
        .expect("written");
    assert_eq!(
        files.remove("/data/local/tmp/a", false, &me),
        Err(Errno::NOT_EMPTY)
    );
    files
        .rename("/data/local/tmp/a", "/data/local/tmp/c", &me)
        .expect("moved");
    assert_eq!(
        files.list("/data/local/tmp/c/b", &me),
        Ok(vec!["f".to_owned()])
    );
    files
        .remove("/data/local/tmp/c", true, &me)
        .expect("removed");
    assert_eq!(files.list("/data/local/tmp", &me), Ok(vec![]));
    assert_eq!(files.list("/data/data", &me), Err(Errno::DENIED));
}

#[test]
fn links_in_a_circle_are_an_error() {
    let (mut files, _) = files();
    files
        .make_link("/data/local/tmp/a", "/data/local/tmp/b", &FileUser::Shell)
        .expect("made");
    files
        .make_link("/data/local/tmp/b", "/data/local/tmp/a", &FileUser::Shell)
        .expect("made");
    let real = files.resolve("/", "/data/local/tmp/a/x", FinalLink::Follow);
    assert_eq!(real, Err(Errno::TOO_MANY_LINKS));
}
