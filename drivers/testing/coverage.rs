//! Where each fault that a virtual phone has is met by a test of a driver.

use std::path::Path;

/// Where a fault is met.
#[derive(Debug, PartialEq, Eq)]
pub enum Coverage {
    /// By this test: file and name.
    By(&'static str),
    /// Phones of this platform do not have it.
    NotHere,
}

/// Every test that a table names is in its file below a folder.
#[track_caller]
pub fn names_tests_that_exist(table: &str, tests: &Path) {
    let (table, _) = table.split_once("#[test]").unwrap();
    let named = table.split("Coverage::By(").skip(1);
    for place in named.filter_map(|rest| rest.split('"').nth(1)) {
        let (file, test) = place.split_once("::").unwrap();
        let source = std::fs::read_to_string(tests.join(format!("{file}.rs"))).unwrap();
        let is_there = |end: &str| source.contains(&format!("fn {test}{end}"));
        assert!(is_there("(") || is_there("<"), "{place}");
    }
}
