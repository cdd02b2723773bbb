//! Files that a page is given. For every caller they lie below the folder of the trail or the working
//! directory, and no part of their path is hidden there.

use std::path::PathBuf;
use std::time::Duration;

use packtrain_drivers::{
    CommandContext, DriverError, Observation, Reach, SessionOptions, WebTarget,
};
use playwright_rs::server::channel_owner::ChannelOwner;
use serde_json::json;

use crate::act;
use crate::find::{self, APPEAR_TIMEOUT, Purpose};
use crate::lane::ElementAction;
use crate::session::Session;
use crate::wire;

/// How long a click may take to ask for files, and a page to take them.
const CHOOSER_TIMEOUT: Duration = Duration::from_secs(10);
/// The most files at once.
const MAX_FILES: usize = 100;

/// Gives files to a file input, or to whatever an element opens that is clicked.
pub(crate) async fn upload(
    session: &Session,
    target: &WebTarget,
    files: &[String],
    ctx: &CommandContext,
) -> Result<Observation, DriverError> {
    if files.is_empty() || files.len() > MAX_FILES {
        let count = files.len();
        return Err(DriverError::Invalid(format!(
            "invalid `files`: expected 1 to {MAX_FILES}, not {count}"
        )));
    }
    let paths = files.iter().map(|name| held(name, &session.options));
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    let limit = ctx.remaining_up_to(APPEAR_TIMEOUT);
    let found = find::find(session, target, Purpose::Action, limit).await?;
    let doing = format!("upload to {}", found.by());
    let failed = |error| wire::translate(&error, &doing);
    let mut params = json!({ "localPaths": paths });
    let input = json!("css=input[type=file i]");
    let is_input = format!("{} >> internal:and={input}", found.selector);
    let limit = ctx.remaining_up_to(CHOOSER_TIMEOUT);
    if wire::count(&found.frame, &is_input).await.map_err(failed)? > 0 {
        params["selector"] = found.selector.as_str().into();
        let given = wire::call(&found.frame, "setInputFiles", params, limit).await;
        given.map_err(failed)?;
        return Ok(Observation::Done(found.report()));
    }
    let page = session.page()?;
    let chooser = page.expect_file_chooser(Some(wire::millis(limit))).await;
    let chooser = chooser.map_err(failed)?;
    let clicked = act::on_element(session, target, ctx, ElementAction::Click, "click").await?;
    let Ok(chooser) = chooser.wait().await else {
        return Err(DriverError::unmet(format!(
            "{doing}: it is not a file input, and clicking it opens no file chooser"
        )));
    };
    let count = paths.len();
    if count > 1 && !chooser.is_multiple() {
        return Err(DriverError::unmet(format!(
            "{doing}: it takes one file, not {count}"
        )));
    }
    params["timeout"] = wire::millis(limit).into();
    let element = chooser.element();
    let given = element.channel().send_no_result("setInputFiles", params);
    given.await.map_err(failed)?;
    Ok(clicked)
}

/// Where a file really lies, when the session may read it.
fn held(name: &str, options: &SessionOptions) -> Result<PathBuf, DriverError> {
    let mut files = options.folders.iter().map(|folder| folder.join(name));
    let Some(file) = files.find(|file| file.is_file()) else {
        return Err(DriverError::Invalid(format!("file {name} not found")));
    };
    let holds = |folder: &PathBuf| {
        let reach = Reach {
            folder: folder.clone(),
            ..Reach::default()
        };
        reach.held(&file)
    };
    let held = options.folders.iter().find_map(holds);
    let is_reached = |file: &PathBuf| {
        let reach = options.reach.as_ref();
        reach.is_none_or(|reach| reach.held(file).is_some())
    };
    held.filter(is_reached).ok_or_else(|| {
        DriverError::Invalid(format!(
            "invalid file {name}: expected one below the trail's folder or the working directory, and \
             none that is hidden there"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_session_are_given_to_a_page() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        let trails = project.join("trails");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::create_dir(&trails).unwrap();
        for file in [
            "secret",
            "project/a.txt",
            "project/.env",
            "project/.git/config",
            "project/trails/b.txt",
        ] {
            std::fs::write(root.path().join(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(root.path().join("secret"), project.join("link")).unwrap();
        let mut options = SessionOptions {
            folders: vec![trails.clone(), project.clone()],
            ..SessionOptions::default()
        };
        let absolute = trails.join("b.txt").display().to_string();
        for name in ["b.txt", "a.txt", "../a.txt", "trails/b.txt", &absolute] {
            assert!(held(name, &options).is_ok(), "{name}");
        }
        for name in [
            "../../secret",
            "link",
            ".env",
            ".git/config",
            "/etc/passwd",
            "nowhere",
            "..",
        ] {
            assert!(held(name, &options).is_err(), "{name}");
        }
        options.reach = Some(Reach {
            folder: trails,
            ..Reach::default()
        });
        assert!(held("b.txt", &options).is_ok());
        assert!(held("a.txt", &options).is_err(), "an agent reaches less");
    }
}
