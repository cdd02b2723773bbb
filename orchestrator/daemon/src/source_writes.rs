//! Which files tool sources write themselves, so that they are not restarted for them: those that
//! nobody has read since they were. Where that is not known, the sources are restarted.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use packtrain_model::discover::Companion;

use super::files::{Difference, kind};

/// At how many starts in a row a file is read and written that is a source's own.
const STARTS: u8 = 3;
/// The most files that are remembered.
const MAX_FILES: usize = 10_000;

/// What sources of a project were seen to write.
#[derive(Default)]
pub(crate) struct SourceWrites {
    /// Files, and kinds of new ones, for which the sources were restarted and which nobody has read
    /// since: whatever depended on them would have. And files that they made.
    unread: BTreeSet<PathBuf>,
    /// What was read and written while they started: how many times in a row, and which was the last.
    rewritten: BTreeMap<PathBuf, (u8, u64)>,
    /// How many times they were restarted.
    starts: u64,
}

impl SourceWrites {
    /// Whether the sources depend on nothing that is different, `is_start` while they started; `reads` is
    /// what may have been read since they began to, when that is known.
    pub(crate) fn explain(
        &mut self,
        differences: Vec<Difference>,
        is_start: bool,
        reads: Option<&HashSet<PathBuf>>,
    ) -> bool {
        if self.unread.len() + self.rewritten.len() > MAX_FILES {
            *self = Self::default();
        }
        let is_unread = |file: &PathBuf| reads.is_some_and(|reads| !reads.contains(file));
        self.unread.retain(is_unread);
        let mut are_explained = true;
        for difference in differences {
            are_explained &= self.explain_one(difference, is_start, reads);
        }
        self.starts += u64::from(!are_explained);
        are_explained
    }

    fn explain_one(
        &mut self,
        difference: Difference,
        is_start: bool,
        reads: Option<&HashSet<PathBuf>>,
    ) -> bool {
        let Difference { path, at, is_new } = difference;
        let kind = kind(&path);
        let is_companion = is_companion(&path);
        if at.is_none() {
            // Nobody is told who looks whether it is there, but what sources make they may remove.
            let is_own = !is_companion && self.unread.contains(&path);
            if !is_own {
                self.unread.remove(&kind);
            }
            return is_own;
        }
        let key = if is_new { kind } else { path.clone() };
        let is_read = reads.map(|reads| is_companion || reads.contains(&key));
        if !is_start {
            // Others may write it, too: it has to be shown again.
            self.rewritten.remove(&key);
        }
        let (times, last) = self.rewritten.get(&key).copied().unwrap_or_default();
        if times >= STARTS
            || (is_read != Some(true) && self.unread.contains(&key))
            || (is_new && is_start && is_read == Some(false))
        {
            self.unread.extend(is_new.then_some(path));
            return true;
        }
        if is_read == Some(false) {
            self.unread.insert(key);
        } else if is_start {
            let times = match self.starts - last {
                0 => times.max(1),
                1 => times + 1,
                _ => 1,
            };
            self.rewritten.insert(key, (times, self.starts));
        }
        false
    }
}

/// Whether Packtrain itself reads it, wherever it lies: it may define tools, or a toolset.
fn is_companion(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    let folder = folder.map(OsStr::to_string_lossy);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Companion::of(folder.as_deref(), &name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sources that have read `a/code.py` when a file is another one; whether that is explained.
    struct Sources(SourceWrites);

    impl Sources {
        fn explain(&mut self, path: &str, is_new: bool, is_start: bool) -> bool {
            let reads = ["a/code.py", "a/*.py"].map(PathBuf::from).into();
            let difference = Difference {
                path: path.into(),
                at: Some(std::time::SystemTime::now()),
                is_new,
            };
            self.0.explain(vec![difference], is_start, Some(&reads))
        }

        fn is_gone(&mut self, path: &str) -> bool {
            let (path, at, is_new) = (path.into(), None, false);
            let difference = Difference { path, at, is_new };
            self.0
                .explain(vec![difference], false, Some(&HashSet::new()))
        }
    }

    #[test]
    fn what_is_read_is_never_explained_and_what_was_tried_and_is_not_read_is() {
        let mut sources = Sources(SourceWrites::default());
        for _ in 0..5 {
            assert!(!sources.explain("a/code.py", false, false));
            assert!(!sources.explain("a/other.py", true, false), "such are read");
        }
        assert!(!sources.explain("a/calls.log", false, false));
        for _ in 0..2 {
            assert!(sources.explain("a/calls.log", false, false));
        }
        // Its dependents read it then.
        let read = HashSet::from(["a/calls.log".into()]);
        assert!(sources.0.explain(Vec::new(), false, Some(&read)));
        assert!(!sources.explain("a/calls.log", false, false));
        assert!(sources.0.explain(Vec::new(), false, None), "not told");
        assert!(!sources.explain("a/calls.log", false, false));
    }

    #[test]
    fn a_file_that_a_start_makes_is_its_own_and_another_new_one_is_not() {
        let mut sources = Sources(SourceWrites::default());
        assert!(sources.explain("a/new.txt", true, true));
        assert!(sources.explain("a/new.txt", false, false));
        assert!(sources.is_gone("a/new.txt"));
        assert!(!sources.explain("a/more.py", true, true));
        assert!(!sources.explain("a/.env", true, false));
        assert!(!sources.is_gone("a/.env"));
        assert!(!sources.explain("a/.env", true, false));
    }

    #[test]
    fn a_tool_file_that_comes_while_sources_start_is_not_theirs() {
        let mut sources = Sources(SourceWrites::default());
        for file in ["tools/shop.tool.yaml", "tools/toolsets/shop.yaml"] {
            assert!(!sources.explain(file, true, true), "{file}");
            for _ in 0..2 {
                assert!(!sources.explain(file, true, false), "{file}");
            }
        }
        // Without reports, any file may have been read.
        let difference = Difference {
            path: "a/new.txt".into(),
            at: Some(std::time::SystemTime::now()),
            is_new: true,
        };
        assert!(!sources.0.explain(vec![difference], true, None));
    }

    #[test]
    fn what_is_read_and_written_is_a_sources_own_after_three_starts_in_a_row() {
        let mut sources = Sources(SourceWrites::default());
        for _ in 0..2 {
            assert!(!sources.explain("a/code.py", false, true));
        }
        assert!(
            !sources.explain("a/x.txt", false, false),
            "a start without it"
        );
        for _ in 0..3 {
            assert!(!sources.explain("a/code.py", false, true));
        }
        assert!(sources.explain("a/code.py", false, true));
        assert!(!sources.explain("a/code.py", false, false), "edited");
        assert!(!sources.explain("a/code.py", false, true), "shown again");
    }
}
