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
    }
}

pub(crate) const ALL: &[Site] = &[
    site("todomvc", "todomvc@0.1.1", "examples/backbone/index.html", "#new-todo"),
    site("sb-admin", "startbootstrap-sb-admin-2@4.1.4", "index.html", "#content"),
    site("agency", "startbootstrap-agency@7.0.12", "dist/index.html", "#services"),
    site("blog", "startbootstrap-clean-blog@6.0.9", "dist/index.html", "h1"),
    site("jsoneditor", "jsoneditor@10.4.3", "examples/01_basic_usage.html", ".jsoneditor"),
    site("swagger", "swagger-ui-dist@5.35.0", "index.html", ".swagger-ui"),
    site("ckeditor", "ckeditor4@4.22.1", "samples/index.html", ".cke_toolbox"),
    site("ckeditor-old", "ckeditor4@4.22.1", "samples/old/replacebyclass.html", ".cke_toolbox"),
    site("reveal", "reveal.js@6.0.2", "demo.html", ".slides h1, .slides img"),
    site("98", "98.css@0.1.21", "dist/index.html", ".window"),
    site("spectre", "spectre.css@0.5.9", "docs/elements/buttons.html", ".btn"),
    site("spectre-tables", "spectre.css@0.5.9", "docs/elements/tables.html", "table"),
];

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
