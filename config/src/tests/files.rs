//! Which files are found.

use std::path::{Path, PathBuf};

use super::project::Project;
use crate::{find, user_file};

#[test]
fn the_nearest_folder_with_a_file_is_the_project() {
    let project = Project::new("")
        .file("inner/packtrain.yaml", "")
        .file("inner/deep/er/x", "");
    let found = find(&project.path("inner/deep/er")).unwrap();
    assert_eq!(found.root, project.path("inner"));
    assert_eq!(found.project, Some(project.path("inner/packtrain.yaml")));
    assert_eq!(found.trailblaze, None);
    let found = find(&project.path("other")).unwrap();
    assert_eq!(found.project, Some(project.path("packtrain.yaml")));
}

#[test]
fn a_trailblaze_workspace_is_a_project_too() {
    let project = Project::empty().file("trails/config/trailblaze.yaml", "targets: []\n");
    let found = find(&project.path("trails/config")).unwrap();
    assert_eq!(found.root, project.path(""));
    assert_eq!(found.project, None);
    assert_eq!(
        found.trailblaze,
        Some(project.path("trails/config/trailblaze.yaml"))
    );
    assert_eq!(project.load().root, project.path(""));
}

#[test]
fn a_folder_named_like_the_file_is_not_the_file() {
    let project = Project::empty().file("packtrain.yaml/x", "");
    let found = find(&project.path(""));
    assert!(found.is_none_or(|found| found.root != project.path("")));
}

#[test]
fn a_given_file_is_used_wherever_it_is() {
    let project =
        Project::new("target: a.b\n").file("ci/special.yaml", "target: c.d\ntrailsDir: t\n");
    let mut sources = project.sources();
    sources.project = Some("ci/special.yaml".into());
    let loaded = crate::load(&sources).unwrap();
    assert_eq!(loaded.config.target.as_deref(), Some("c.d"));
    assert_eq!(loaded.config.trails_dir, project.path("ci/t"));
    assert_eq!(loaded.files, [project.path("ci/special.yaml")]);
}

#[test]
fn the_users_file_follows_the_xdg_rules() {
    let file = |variables: &[(&str, &str)]| {
        let owned: Vec<_> = variables
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect();
        user_file(&owned)
    };
    let expected = |folder: &str| Some(Path::new(folder).join("packtrain/config.yaml"));
    assert_eq!(file(&[("HOME", "/home/me")]), expected("/home/me/.config"));
    assert_eq!(
        file(&[("HOME", "/home/me"), ("XDG_CONFIG_HOME", "/etc/me")]),
        expected("/etc/me")
    );
    assert_eq!(
        file(&[("HOME", "/home/me"), ("XDG_CONFIG_HOME", "")]),
        expected("/home/me/.config")
    );
    assert_eq!(file(&[("HOME", "relative")]), None::<PathBuf>);
    assert_eq!(file(&[]), None);
}
