//! What clients that others wrote ask a phone: a file below `judges/` for each, a request a line.
//! A line that begins with `!` is refused, in the words behind ` -> `.

use std::path::Path;

pub struct Request {
    pub kind: String,
    pub what: String,
    pub refusal: Option<String>,
}

/// The requests of these kinds, by judge.
pub fn requests(kinds: &[&str]) -> Vec<(String, Vec<Request>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges");
    let files = std::fs::read_dir(folder).expect("the judges");
    let mut judges: Vec<_> = files
        .map(|file| {
            let file = file.expect("a file").path();
            let text = std::fs::read_to_string(&file).expect("text");
            let mut all: Vec<Request> = text.lines().map(request).collect();
            all.retain(|request| kinds.contains(&request.kind.as_str()));
            let judge = file.file_stem().expect("a name").to_string_lossy();
            (judge.into_owned(), all)
        })
        .filter(|(_, requests)| !requests.is_empty())
        .collect();
    judges.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!judges.is_empty(), "nobody asks {kinds:?}");
    judges
}

fn request(line: &str) -> Request {
    let refused = line.strip_prefix('!');
    let refused = refused.map(|line| line.rsplit_once(" -> ").expect("a refusal"));
    let line = refused.map_or(line, |(line, _)| line);
    let (kind, what) = line.split_once(' ').expect("a kind and what is asked");
    Request {
        kind: kind.to_owned(),
        what: what.to_owned(),
        refusal: refused.map(|(_, refusal)| refusal.to_owned()),
    }
}
