//! Pages of published packages that nobody here wrote: what is right in them is to be silent.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A page of a package.
pub(crate) struct Site {
    pub(crate) name: &'static str,
    /// With its version.
    pub(crate) package: &'static str,
    /// The page below the package's folder.
    page: &'static str,
    /// What is on it when it is there.
    ready: &'static str,
    pub(crate) speaks_arabic: bool,
}

const fn site(
    name: &'static str,
    package: &'static str,
    page: &'static str,
    ready: &'static str,
) -> Site {
    Site {
        name,
        package,
        page,
        ready,
        speaks_arabic: false,
    }
}

pub(crate) const ALL: &[Site] = &[];

/// Where packages are.
pub(crate) fn folder(recordings: &Path) -> PathBuf {
    recordings.join("sites/node_modules")
}

impl Site {
    /// Has npm fetch it, once.
    pub(crate) fn fetch(&self, recordings: &Path) -> io::Result<bool> {
        let modules = folder(recordings);
        if modules.join(self.path()).is_file() {
            return Ok(true);
        }
        std::fs::create_dir_all(&modules)?;
        let npm = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--legacy-peer-deps"])
            .arg("--prefix")
            .arg(recordings.join("sites"))
            .args(ALL.iter().map(|site| site.package))
            .stdin(Stdio::null())
            .status()?;
        println!("npm: {npm}");
        Ok(modules.join(self.path()).is_file())
    }

    fn path(&self) -> String {
        let name = self.package.rsplit_once('@').map_or(self.package, |(name, _)| name);
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
