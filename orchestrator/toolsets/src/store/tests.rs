use std::fs;
use std::path::Path;
use std::process::Command;

use packtrain_tools::Toolset;
use packtrain_tools::toolsets::{MAX_TOOLS, SavedToolset, ToolNote, ToolNotes, ToolRef};
use serde_json::json;

use super::{Listing, MAX_FILE, MAX_TOOLSETS, Place, StoreError, ToolsetStore, lock};

fn store(project: &Path) -> ToolsetStore {
    ToolsetStore::new(Some(project), None, [])
}

fn put(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder.join("toolsets")).unwrap();
    fs::write(folder.join("toolsets").join(name), text).unwrap();
}

fn text(name: &str) -> String {
    json!({ "name": name, "tools": [{ "namespacedName": "mobile.tap" }] }).to_string()
}

async fn build(store: &ToolsetStore, name: &str) -> Result<Place, StoreError> {
    let built = |known: Option<SavedToolset>| Ok::<_, StoreError>((known.unwrap_or_default(), ()));
    store
        .change(name, built)
        .await
        .map(|(stored, ())| stored.place)
}

/// Adds a note to a toolset that is there.
async fn note(store: &ToolsetStore, name: &str, note: String) {
    let add = |known: Option<SavedToolset>| {
        let mut toolset = known.unwrap();
        toolset.tool_notes.push(ToolNotes {
            tool_ref: ToolRef::named("mobile.tap"),
            notes: vec![ToolNote {
                name: note,
                note: "x".to_owned(),
                ..ToolNote::default()
            }],
            ..ToolNotes::default()
        });
        Ok::<_, StoreError>((toolset, ()))
    };
    store.change(name, add).await.unwrap();
}

fn names(listing: &Listing) -> Vec<&str> {
    listing
        .toolsets
        .iter()
        .map(|stored| stored.toolset.name.as_str())
        .collect()
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("toolsets")).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_new_toolset_goes_to_the_project_and_one_of_the_user_stays_there() {
    let (project, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    put(user.path(), "mine.json", &text("mine"));
    let store = ToolsetStore::new(Some(project.path()), Some(user.path()), []);
    assert_eq!(build(&store, "new").await.unwrap(), Place::Project);
    assert_eq!(build(&store, "mine").await.unwrap(), Place::User);
    assert_eq!(files(project.path()), ["new.json"]);
    assert_eq!(files(user.path()), ["mine.json"]);
    let listing = store.list();
    assert_eq!(names(&listing), ["new", "mine"]);
    assert!(listing.problems.is_empty(), "{:?}", listing.problems);

    let alone = ToolsetStore::new(None, Some(user.path()), []);
    assert_eq!(build(&alone, "new").await.unwrap(), Place::User);
    let nowhere = ToolsetStore::new(None, None, []);
    assert!(matches!(
        build(&nowhere, "new").await,
        Err(StoreError::Homeless)
    ));
}

#[tokio::test]
async fn the_project_s_toolset_counts_before_the_user_s() {
    let (project, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    put(project.path(), "both.json", &text("both"));
    put(user.path(), "both.json", &text("both"));
    let store = ToolsetStore::new(Some(project.path()), Some(user.path()), []);
    assert_eq!(store.load("both").unwrap().place, Place::Project);
    let listing = store.list();
    assert_eq!(names(&listing), ["both"]);
    assert!(
        listing.problems[0].contains("more than once"),
        "{:?}",
        listing.problems
    );
    store.delete("both").await.unwrap();
    assert_eq!(store.load("both").unwrap().place, Place::User);
    // A broken file of the project does not become the user's toolset unseen.
    put(project.path(), "both.json", "{");
    assert!(matches!(
        store.load("both"),
        Err(StoreError::Unreadable { .. })
    ));
}

#[tokio::test]
async fn no_name_leads_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("outside.json"), text("outside")).unwrap();
    let store = store(folder.path());
    build(&store, "inside").await.unwrap();
    for name in [
        "../outside",
        "..",
        "/outside",
        "inside/../../outside",
        "INSIDE",
        "inside.json",
        "",
    ] {
        assert!(
            matches!(store.load(name), Err(StoreError::Unknown { .. })),
            "{name}"
        );
        assert!(
            matches!(build(&store, name).await, Err(StoreError::Name(_))),
            "{name}"
        );
        assert!(
            matches!(store.delete(name).await, Err(StoreError::Name(_))),
            "{name}"
        );
    }
    assert_eq!(files(folder.path()), ["inside.json"]);
    assert!(folder.path().join("outside.json").exists());
}

#[tokio::test]
async fn a_file_that_is_no_toolset_is_told_and_the_others_work() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    put(at, "good.json", &text("good"));
    put(at, "corrupt.json", "{ \"name\": \"corrupt\", ");
    put(at, "empty.json", "");
    put(at, "other.json", &text("good"));
    put(at, "Odd Name.json", &text("odd"));
    put(at, "readme.md", "no toolset");
    put(
        at,
        "huge.json",
        &format!("{}{}", text("huge"), " ".repeat(MAX_FILE as usize)),
    );
    let tools = vec![json!({ "namespacedName": "a.b" }); MAX_TOOLS + 1];
    put(
        at,
        "many.json",
        &json!({ "name": "many", "tools": tools }).to_string(),
    );
    fs::create_dir(at.join("toolsets/folder.json")).unwrap();
    std::os::unix::fs::symlink(at.join("toolsets/good.json"), at.join("toolsets/link.json"))
        .unwrap();
    let mkfifo = Command::new("mkfifo")
        .arg(at.join("toolsets/pipe.json"))
        .status();
    assert!(mkfifo.unwrap().success());

    let store = store(at);
    let listing = store.list();
    assert_eq!(names(&listing), ["good"]);
    for odd in [
        "corrupt", "empty", "other", "Odd Name", "huge", "many", "folder", "link", "pipe",
    ] {
        let told = listing
            .problems
            .iter()
            .filter(|told| told.contains(&format!("{odd}.json")));
        assert_eq!(told.count(), 1, "{odd}: {:#?}", listing.problems);
    }
    assert_eq!(listing.problems.len(), 9);
    for odd in ["corrupt", "other", "huge", "many", "folder", "link", "pipe"] {
        assert!(
            matches!(store.load(odd), Err(StoreError::Unreadable { .. })),
            "{odd}"
        );
        assert!(
            matches!(build(&store, odd).await, Err(StoreError::Unreadable { .. })),
            "{odd}"
        );
    }
    assert_eq!(build(&store, "good").await.unwrap(), Place::Project);
}

#[tokio::test]
async fn a_project_s_folder_that_is_a_link_is_not_followed() {
    let (project, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    put(elsewhere.path(), "there.json", &text("there"));
    let link = project.path().join("toolsets");
    std::os::unix::fs::symlink(elsewhere.path().join("toolsets"), link).unwrap();
    let store = store(project.path());
    assert!(names(&store.list()).is_empty());
    assert!(matches!(
        store.load("there"),
        Err(StoreError::Unreadable { .. })
    ));
    assert!(matches!(
        build(&store, "new").await,
        Err(StoreError::Unreadable { .. })
    ));
    assert!(matches!(
        store.delete("there").await,
        Err(StoreError::Unreadable { .. })
    ));
    assert_eq!(files(elsewhere.path()), ["there.json"]);
    // What the user's own folder is, is the user's to say.
    let user = ToolsetStore::new(None, Some(project.path()), []);
    assert_eq!(names(&user.list()), ["there"]);
}

#[tokio::test]
async fn what_is_too_large_is_not_written_and_what_was_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    build(&store, "big").await.unwrap();
    let before = fs::read(folder.path().join("toolsets/big.json")).unwrap();
    let grow = |known: Option<SavedToolset>| {
        let mut toolset = known.unwrap();
        toolset.description = Some("x".repeat(MAX_FILE as usize));
        Ok::<_, StoreError>((toolset, ()))
    };
    assert!(matches!(
        store.change("big", grow).await,
        Err(StoreError::TooLarge { .. })
    ));
    assert_eq!(
        fs::read(folder.path().join("toolsets/big.json")).unwrap(),
        before
    );
    assert_eq!(files(folder.path()), ["big.json"]);
}

#[tokio::test]
async fn a_folder_takes_so_many_toolsets_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..MAX_TOOLSETS {
        let name = format!("set-{number:03}");
        put(folder.path(), &format!("{name}.json"), &text(&name));
    }
    let store = store(folder.path());
    assert!(matches!(
        build(&store, "more").await,
        Err(StoreError::Full(_))
    ));
    build(&store, "set-000").await.unwrap();
    assert!(store.list().problems.is_empty());
    put(folder.path(), "zz.json", &text("zz"));
    let listing = store.list();
    assert_eq!(listing.toolsets.len(), MAX_TOOLSETS);
    assert_eq!(listing.problems.len(), 1);
}

/// Two stores are two processes: each opens and locks the folder by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notes_that_two_processes_add_at_once_are_all_there() {
    const EACH: usize = 25;
    let folder = tempfile::tempdir().unwrap();
    build(&store(folder.path()), "shared").await.unwrap();
    let adding = ["left", "right"].map(|side| {
        let store = store(folder.path());
        tokio::spawn(async move {
            for number in 0..EACH {
                note(&store, "shared", format!("{side}-{number}")).await;
            }
        })
    });
    for side in adding {
        side.await.unwrap();
    }
    let toolset = store(folder.path()).load("shared").unwrap().toolset;
    assert_eq!(toolset.note_count(), 2 * EACH);
    assert_eq!(files(folder.path()), ["shared.json"]);
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_stays_locked_is_told_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    build(&store, "set").await.unwrap();
    let held = lock(&folder.path().join("toolsets")).await.unwrap();
    assert!(matches!(
        build(&store, "other").await,
        Err(StoreError::Locked(_))
    ));
    assert!(matches!(
        store.delete("set").await,
        Err(StoreError::Locked(_))
    ));
    assert_eq!(files(folder.path()), ["set.json"]);
    drop(held);
    store.delete("set").await.unwrap();
    assert!(files(folder.path()).is_empty());
}

#[tokio::test]
async fn a_change_that_is_refused_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let refuse = |_| Err::<(SavedToolset, ()), _>(StoreError::Homeless);
    assert!(store.change("new", refuse).await.is_err());
    assert!(files(folder.path()).is_empty());
    // What a process that was killed left is in nobody's way, and nothing follows it.
    std::os::unix::fs::symlink("/nowhere/at/all", folder.path().join("toolsets/.new.part"))
        .unwrap();
    build(&store, "new").await.unwrap();
    assert_eq!(files(folder.path()), ["new.json"]);
}

#[tokio::test]
async fn times_are_written_and_the_first_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "old.json", &text("old"));
    let store = store(folder.path());
    let was = |known: Option<SavedToolset>| {
        let mut toolset = known.unwrap();
        toolset.created_at = Some("2020-01-01T00:00:00.000Z".to_owned());
        toolset.last_modified = toolset.created_at.clone();
        Ok::<_, StoreError>((toolset, ()))
    };
    store.change("old", was).await.unwrap();
    let toolset = store.load("old").unwrap().toolset;
    assert_eq!(
        toolset.created_at.as_deref(),
        Some("2020-01-01T00:00:00.000Z")
    );
    assert!(toolset.last_modified > toolset.created_at, "{toolset:?}");
}

#[tokio::test]
async fn defined_toolsets_are_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let defined = ["core_web", "auth"].map(|id| Toolset {
        id: id.to_owned(),
        tools: vec!["tap".to_owned()],
        ..Toolset::default()
    });
    let store = ToolsetStore::new(Some(folder.path()), None, &defined);
    assert_eq!(store.load("core_web").unwrap().place, Place::Defined);
    for name in ["core_web", "auth"] {
        assert!(
            matches!(build(&store, name).await, Err(StoreError::ReadOnly(_))),
            "{name}"
        );
        assert!(
            matches!(store.delete(name).await, Err(StoreError::ReadOnly(_))),
            "{name}"
        );
    }
    assert!(!folder.path().join("toolsets").exists());
    assert_eq!(names(&store.list()), ["core_web", "auth"]);
    // A file that somebody put there counts.
    put(folder.path(), "auth.json", &text("auth"));
    assert_eq!(store.load("auth").unwrap().place, Place::Project);
    store.delete("auth").await.unwrap();
}

#[tokio::test]
async fn an_unknown_name_says_which_one_was_meant() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    build(&store, "checkout").await.unwrap();
    let Err(StoreError::Unknown { hint, .. }) = store.load("chekout") else {
        panic!("it was found");
    };
    assert_eq!(hint.as_deref(), Some("did you mean `checkout`?"));
    assert!(matches!(
        store.delete("none").await,
        Err(StoreError::Unknown { .. })
    ));
}
