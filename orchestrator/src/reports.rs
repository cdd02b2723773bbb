//! Reports of a run, made from its journal: written beside it, and wherever else they are wanted.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use packtrain_compare::answer::Comparison;
use packtrain_model::Exit;
use packtrain_record::JournalReader;
use packtrain_report::console::{self, Layout, ReportLink};
use packtrain_report::{HtmlOptions, JunitOptions, RunView};

use crate::baselines::of_run;
use crate::exit::{CliError, OrCliError as _};
use crate::run_files::{file, replace};

/// Copies that somebody asked for.
#[derive(Debug, Clone, Default)]
pub struct Copies {
    /// Whether nothing else is to be written.
    pub only: bool,
    /// JUnit XML.
    pub junit: Option<PathBuf>,
    /// The HTML report.
    pub html: Option<PathBuf>,
    /// A summary in Markdown.
    pub summary: Option<PathBuf>,
    /// Whether every picture goes into the HTML report, however large that gets.
    pub single_file: bool,
    /// Whether the run is also reported to the CI, in its own format.
    pub for_ci: bool,
}

/// What was written.
pub struct Written {
    view: RunView,
    comparison: Comparison,
    html: Option<PathBuf>,
    links: Vec<ReportLink>,
    warnings: Vec<String>,
    copied: Result<(), CliError>,
    annotations: Vec<String>,
    /// What differs from what was approved.
    baselines: Option<String>,
}

impl Written {
    /// Whether every wanted copy was written.
    ///
    /// # Errors
    /// When one was not.
    pub fn copied(self) -> Result<(), CliError> {
        self.copied
    }

    /// The exit code that the run's verdict has, as far as it got.
    pub const fn exit(&self) -> Exit {
        self.view.verdict.exit
    }

    /// The HTML report to look at: that of the run's folder, or the copy when there is no other.
    pub fn html(&self) -> Option<&Path> {
        self.html.as_deref()
    }

    /// What a page that shows the run is given at its end.
    pub fn data(&self, folder: &Path, options: &HtmlOptions) -> Option<String> {
        let (view, comparison) = (&self.view, &self.comparison);
        let files = &mut |path: &str| file(folder, path);
        packtrain_report::html_data(view, comparison, options, files).ok()
    }

    /// What is reported to a CI's runner, a line each.
    pub fn annotations(&self) -> Vec<String> {
        self.annotations.clone()
    }

    /// What a person reads at the end.
    pub fn summary(&self, color: bool) -> String {
        let layout = Layout {
            color,
            ..Layout::default()
        };
        let mut text = console::summary(&self.view, &self.comparison, &self.links, layout);
        text.push_str(self.baselines.as_deref().unwrap_or_default());
        for warning in &self.warnings {
            text.push_str(&format!("warning: {warning}\n"));
        }
        text
    }
}

/// Reads the journal in `folder` and writes `report.html`, `report.json` and `junit.xml` into it,
/// unless only copies are wanted. Those come last: whatever keeps them from being written, the run
/// has its own.
///
/// # Errors
/// When the journal cannot be read. A report that cannot be written into the run's own folder is a
/// warning.
pub fn write(folder: &Path, wanted: &Copies) -> Result<Written, CliError> {
    let (view, torn) = read(folder)?;
    let mut warnings: Vec<String> = torn.into_iter().collect();
    let baselines = of_run::compare(&view, folder);
    let files = &mut |path: &str| file(folder, path);
    let comparison = packtrain_report::comparison::compare_beside(&view, baselines, files);
    let baselines = comparison.baselines.as_ref().map(of_run::told);
    let mut links = Vec::new();
    let mut keep = |kind: &str, name: &str, content: &str| {
        let path = folder.join(name);
        match put(&path, content) {
            Ok(()) => links.push(ReportLink {
                kind: kind.to_owned(),
                path: path.display().to_string(),
            }),
            Err(error) => warnings.push(format!("{}: {error}", path.display())),
        }
    };
    let junit = |file: &Path| {
        let options = JunitOptions {
            run_folder: Some(as_found_from(file, folder)),
        };
        packtrain_report::junit(&view, &comparison, &options)
            .or_infrastructure("cannot write the JUnit report")
    };
    let html = |artifact_root| {
        let mut options = HtmlOptions {
            artifact_root,
            ..HtmlOptions::default()
        };
        if wanted.single_file {
            options.inline_limit = u64::MAX;
        }
        let files = &mut |path: &str| file(folder, path);
        packtrain_report::html(&view, &comparison, &options, files)
            .or_infrastructure("cannot write the HTML report")
    };
    let markdown = || packtrain_report::markdown(&view, &comparison);
    // One after the other, so that no two of them are in memory.
    if !wanted.only {
        keep("html", "report.html", &html(String::new())?);
        keep("junit", "junit.xml", &junit(&folder.join("junit.xml"))?);
        let json = packtrain_report::json(&view, &comparison)
            .or_infrastructure("cannot write the JSON report")?;
        keep("json", "report.json", &json);
        let text = serde_json::to_string_pretty(&comparison)
            .or_infrastructure("cannot write the comparison report")?;
        keep("comparison", "comparison.json", &text);
    }
    let copies = [
        (wanted.junit.as_ref()).map(|path| copy(path, &junit(path)?)),
        (wanted.html.as_ref()).map(|path| copy(path, &html(root_from(path, folder))?)),
        (wanted.summary.as_ref()).map(|path| copy(path, &markdown())),
    ];
    let copied = copies.into_iter().flatten().fold(Ok(()), Result::and);
    let named = crate::ci::summary_file().filter(|_| wanted.for_ci);
    if let Some(file) = named.filter(|file| wanted.summary.as_ref() != Some(file))
        && let Err(error) = crate::ci::append(&file, &markdown())
    {
        warnings.push(format!("{}: {error}", file.display()));
    }
    let annotations = (wanted.for_ci).then(|| crate::ci::annotations(&view, &comparison));
    let own = links.iter().find(|link| link.kind == "html");
    let html = own.map(|link| PathBuf::from(&link.path));
    Ok(Written {
        annotations: annotations.unwrap_or_default(),
        comparison,
        baselines,
        html: html.or_else(|| wanted.html.clone().filter(|_| copied.is_ok())),
        view,
        links,
        warnings,
        copied,
    })
}

/// A run as its journal tells it, and what is odd about the journal.
///
/// # Errors
/// When the journal cannot be read.
pub(crate) fn read(folder: &Path) -> Result<(RunView, Option<String>), CliError> {
    let unreadable = "cannot read the run's journal";
    let mut reader = JournalReader::open(folder).or_infrastructure(unreadable)?;
    let mut failure = Ok(());
    let entries = reader.by_ref().map_while(|entry| {
        let entry = entry.or_infrastructure(unreadable);
        entry.map_err(|error| failure = Err(error)).ok()
    });
    let view = RunView::from_events(entries);
    failure?;
    let torn = reader.torn().map(|torn| {
        format!(
            "{}:{}: the last line was cut off and is left out",
            reader.path().display(),
            torn.line
        )
    });
    Ok((view, torn))
}

fn copy(path: &Path, content: &str) -> Result<(), CliError> {
    let folder = path.parent();
    if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .or_infrastructure(format_args!("cannot create {}", folder.display()))?;
    }
    put(path, content).or_infrastructure(format_args!("cannot write {}", path.display()))
}

/// Writes a file whole or not at all. What is there and no plain file, a device, a pipe or a link,
/// takes what is written to it.
fn put(path: &Path, content: &str) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
        return std::fs::write(path, content);
    }
    replace(path, content.as_bytes()).or_else(|error| match error.kind() {
        // A file that is mounted by itself, or whose folder is not ours.
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::ResourceBusy
            if path.exists() =>
        {
            std::fs::write(path, content)
        }
        _ => Err(error),
    })
}

/// The run's folder as a CI finds it: from the working directory when it lies below it. That is the
/// project's folder in CI: GitLab finds attachments from there only, Jenkins' plugin from there too.
/// Elsewhere it is relative to the folder of the JUnit file. It is never absolute: the files may be read
/// on another machine.
fn as_found_from(junit: &Path, folder: &Path) -> String {
    let folder = absolute(folder);
    let here = std::env::current_dir().unwrap_or_default();
    match folder.strip_prefix(&here) {
        Ok(below) if !here.as_os_str().is_empty() => below.display().to_string(),
        _ => {
            let junit = absolute(junit);
            let beside = junit.parent().unwrap_or_else(|| Path::new("/"));
            let (beside, folder) = (beside.display().to_string(), folder.display().to_string());
            packtrain_report::relative(&beside, &folder)
        }
    }
}

/// What leads from an HTML file to the run's folder, as a browser reads it: by names alone, and from
/// one root to another not at all.
fn root_from(html: &Path, folder: &Path) -> String {
    let (html, folder) = (absolute(html), absolute(folder));
    if html.components().next() != folder.components().next() {
        return format!("{}/", folder.display());
    }
    let beside = html.parent().unwrap_or_else(|| Path::new("/"));
    let (beside, folder) = (beside.display().to_string(), folder.display().to_string());
    match packtrain_report::relative(&beside, &folder).as_str() {
        "." => String::new(),
        relative => relative.bytes().fold(String::new(), in_address) + "/",
    }
}

/// Adds a byte of a path to an address.
fn in_address(mut address: String, byte: u8) -> String {
    match byte {
        b'/' | b'.' | b'-' | b'_' | b'~' => address.push(char::from(byte)),
        _ if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
        _ => address.push_str(&format!("%{byte:02X}")),
    }
    address
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::root_from;

    #[test]
    fn a_copy_leads_to_the_runs_folder_from_where_it_lies() {
        for (html, folder, expected) in [
            ("/w/public/index.html", "/w/runs/r1", "../runs/r1/"),
            ("/w/index.html", "/w/runs/r1", "runs/r1/"),
            ("/w/runs/r1/copy.html", "/w/runs/r1", ""),
            ("/tmp/a.html", "/w/a b#1/r%", "../w/a%20b%231/r%25/"),
        ] {
            assert_eq!(root_from(Path::new(html), Path::new(folder)), expected);
        }
    }
}
