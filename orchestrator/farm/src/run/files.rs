//! The files of a run: where each lies in the bundle, and what the run calls it.

use std::path::{Path, PathBuf};

use crate::bundle::Collected;

/// The files of a run, as its own process has them.
#[derive(Debug, Clone)]
pub enum Files {
    /// Those of the project.
    Collected(Collected),
    /// Those of a bundle, in this folder: the run was resumed.
    Bundle(PathBuf),
}

impl Files {
    /// Where a file lies in the bundle; `None` when it does not travel.
    pub fn map(&self, path: &Path) -> Option<String> {
        match self {
            Self::Collected(files) => files.map(path),
            Self::Bundle(folder) => {
                let (path, folder) = (path.canonicalize().ok()?, folder.canonicalize().ok()?);
                let below = path.strip_prefix(folder).ok()?;
                let parts = below.components();
                let parts: Vec<_> = parts
                    .map(|part| part.as_os_str().to_string_lossy())
                    .collect();
                Some(parts.join("/"))
            }
        }
    }

    /// Where the run has the file that lies there in the bundle.
    fn source(&self, place: &str) -> Option<PathBuf> {
        match self {
            Self::Collected(files) => files.source(place).map(Path::to_owned),
            Self::Bundle(folder) => {
                let (file, folder) = (folder.join(place), folder.canonicalize().ok()?);
                let file = file.canonicalize().ok()?;
                (file.is_file() && file.starts_with(folder)).then_some(file)
            }
        }
    }

    /// A place in a file, `file:line:column`, as the run calls it, which calls its trail `trail`. Hosts
    /// call it by where the bundle lies with them. `None` when it is in no file of the run.
    pub(super) fn name(&self, at: &str, trail: &Path) -> Option<String> {
        let mut parts = at.rsplitn(3, ':');
        let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
        let below = file.match_indices('/').map(|(slash, _)| &file[slash + 1..]);
        let source = below.into_iter().find_map(|place| self.source(place))?;
        let real = trail.canonicalize().ok()?;
        // What the trail's path starts from.
        let from = real
            .ends_with(trail)
            .then(|| real.ancestors().nth(trail.components().count()))
            .flatten();
        let name = if source == real {
            trail
        } else {
            from.and_then(|from| source.strip_prefix(from).ok())
                .unwrap_or(&source)
        };
        Some(format!("{}:{line}:{column}", name.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{CollectOptions, collect};

    #[test]
    fn a_place_in_a_file_is_called_as_the_run_calls_its_trails() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().canonicalize().unwrap().join("work");
        let trails = work.join("trails");
        std::fs::create_dir_all(&trails).unwrap();
        for name in ["a.trail.yaml", "b.trail.yaml"] {
            std::fs::write(trails.join(name), "trail:\n- step: x\n").unwrap();
        }
        let trail = trails.join("a.trail.yaml");
        let options = CollectOptions::default();
        let files = collect(&work, std::slice::from_ref(&trail), &[], &options).unwrap();
        let files = Files::Collected(files);
        let named = |place: &str| {
            let at = format!("/home/host/.cache/packtrain/bundles/0f3a/{place}:7:11");
            files.name(&at, &trail)
        };
        let called = |name: &str| Some(format!("{}:7:11", trails.join(name).display()));
        assert_eq!(named("project/trails/a.trail.yaml"), called("a.trail.yaml"));
        assert_eq!(named("project/trails/b.trail.yaml"), called("b.trail.yaml"));
        assert_eq!(named("project/trails/c.trail.yaml"), None);
        assert_eq!(files.name("nowhere", &trail), None);
    }
}
