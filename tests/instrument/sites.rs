//! Pages of published packages that nobody here wrote: what is right in them is to be silent.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A page of a package, a line of `sites.txt`.
pub(crate) struct Site {
    pub(crate) name: &'static str,
    /// With its version.
    pub(crate) package: &'static str,
    /// The page below the package's folder.
    page: &'static str,
    /// What is on it when it is there.
    ready: &'static str,
}

pub(crate) fn all() -> Vec<Site> {
    let lines = include_str!("sites.txt").lines();
    let sites = lines.filter_map(|line| {
        let mut columns = line.split('|').map(str::trim);
        Some(Site {
            name: columns.next()?,
            package: columns.next()?,
            page: columns.next()?,
            ready: columns.next()?,
        })
    });
    sites.collect()
}

/// Where packages are.
pub(crate) fn folder(recordings: &Path) -> PathBuf {
    recordings.join("sites/node_modules")
}

impl Site {
    /// Has npm fetch it with the others, once.
    pub(crate) fn fetch(&self, recordings: &Path) -> io::Result<()> {
        let modules = folder(recordings);
        if modules.join(self.path()).is_file() {
            return Ok(());
        }
        std::fs::create_dir_all(&modules)?;
        let how =
            "install --no-audit --no-fund --no-save --ignore-scripts --legacy-peer-deps --prefix";
        let ended = Command::new("npm")
            .args(how.split(' '))
            .arg(recordings.join("sites"))
            .args(all().iter().map(|site| site.package))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()?;
        match modules.join(self.path()).is_file() {
            true => Ok(()),
            false => Err(io::Error::other(format!("{}: npm: {ended}", self.package))),
        }
    }

    fn path(&self) -> String {
        let name = self
            .package
            .rsplit_once('@')
            .map_or(self.package, |(name, _)| name);
        format!("{name}/{}", self.page)
    }

    pub(crate) fn trail(&self) -> String {
        let (path, ready) = (self.path(), self.ready);
        format!(
            "config: {{ id: site, title: {} }}
trail:
  - step: Open the page
    recording:
      web:
        - web_navigate: {{ url: \"sites/{path}\" }}
        - web_verifyElementVisible: {{ nodeSelector: {{ web: {{ cssSelector: \"{ready}\" }} }} }}
  - step: Scroll down
    recording: {{ web: [{{ web_scroll: {{ direction: DOWN }} }}] }}
",
            self.name
        )
    }
}
