//! The report while the run goes on, and reports that are opened.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use packtrain_tests::{Lab, ended, until};
use parking_lot::{Condvar, Mutex};
use serde_json::Value;

use crate::lab;

/// A page that is not answered before somebody says so.
pub(crate) struct Gate {
    address: SocketAddr,
    open: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    pub(crate) fn closed() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let open = Arc::new((Mutex::new(false), Condvar::new()));
        let gate = Arc::clone(&open);
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let gate = Arc::clone(&gate);
                std::thread::spawn(move || answer(connection, &gate));
            }
        });
        Self { address, open }
    }

    pub(crate) fn open(&self) {
        *self.open.0.lock() = true;
        self.open.1.notify_all();
    }
}

fn answer(mut connection: TcpStream, (open, opened): &(Mutex<bool>, Condvar)) {
    let _ = connection.read(&mut [0; 4096]);
    let mut is_open = open.lock();
    opened.wait_while(&mut is_open, |is_open| !*is_open);
    drop(is_open);
    let page = "<title>Open</title><h1>Open</h1>";
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n";
    // A browser may have thought better of it.
    let _ = write!(
        connection,
        "{head}Content-Length: {}\r\n\r\n{page}",
        page.len()
    );
}

/// A run that stands still at its second step, whose third fails, and the address of its report.
pub(crate) fn standing(gate: &Gate) -> (Lab, Child, String) {
    let lab = lab();
    lab.write("packtrain.yaml", "devices: { web: { a: {}, b: {} } }\n");
    lab.write(
        "gate.trail.yaml",
        &format!(
            "config: {{ id: gate, title: Gate }}
trail:
  - step: Open a page
    recording: {{ web: [{{ web_navigate: {{ url: 'data:text/html,<h1>Before</h1>' }} }}] }}
  - step: Go through the gate
    recording: {{ web: [{{ web_navigate: {{ url: 'http://{}/' }} }}] }}
  - verify: Nobody was there
    recording: {{ web: [{{ web_verifyTextVisible: {{ text: Nobody, timeoutMs: 100 }} }}] }}
",
            gate.address
        ),
    );
    let run = ["run", "gate.trail.yaml", "-d", "web/a,web/b", "--live"];
    let mut child = lab.start(&run);
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("live: ") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended");
    }
    child.stderr = Some(said.into_inner());
    let url = line.trim_start_matches("live: ").trim().to_owned();
    (lab, child, url)
}

/// Somebody with a browser.
fn watcher(words: &[&str]) -> Child {
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("promises/live/watch.mjs");
    let mut watcher = Command::new("node");
    watcher.arg(script).args(words);
    watcher.stdin(Stdio::piped()).stdout(Stdio::piped());
    watcher.spawn().unwrap()
}

fn line(watcher: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    watcher.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("it said {line:?}"))
}

/// What a report's file holds.
fn embedded(report: &str, id: &str) -> Value {
    let (_, rest) = report
        .split_once(&format!("<script type=\"application/json\" id=\"{id}\">"))
        .unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Pictures by whether they are there: in the file they have a number, beside it a path.
fn without_places_of_pictures(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let is = |key, test: fn(&Value) -> bool| map.get(key).is_some_and(test);
            if map.len() == 1 && (is("p", Value::is_number) || is("h", Value::is_string)) {
                map.clear();
            }
            map.values_mut().for_each(without_places_of_pictures);
        }
        Value::Array(items) => items.iter_mut().for_each(without_places_of_pictures),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn whoever_watches_a_run_sees_it_go_on_and_at_the_end_the_report() {
    let gate = Gate::closed();
    let (lab, child, url) = standing(&gate);
    let mut watcher = watcher(&[&url]);
    let mut said = BufReader::new(watcher.stdout.take().unwrap());
    let before = line(&mut said);
    assert_eq!(before["marks"][0], "✓", "{before}");
    let passed = before["marks"].as_array().unwrap().iter();
    assert!(passed.filter(|mark| *mark == "✓").count() <= 2, "{before}");

    gate.open();
    let after = line(&mut said);
    ended(child).expect(1);
    assert_eq!(after["marks"].to_string(), r#"["✓","✓","✓","✓","✗","✗"]"#);
    assert_ne!(after["title"], before["title"]);
    assert_eq!(after["loads"], 1, "it was loaded once");
    assert_eq!(after["broken"].to_string(), "[]");

    let path = lab.run_folder().join("report.html");
    let report = std::fs::read_to_string(&path).unwrap();
    let mut last: Value = serde_json::from_str(after["last"].as_str().unwrap()).unwrap();
    assert_eq!(last["comparison"], embedded(&report, "comparison"));
    assert_eq!(last["words"], embedded(&report, "words"));
    let mut data = embedded(&report, "data");
    without_places_of_pictures(&mut data);
    without_places_of_pictures(&mut last["data"]);
    assert_eq!(last["data"], data);
    let texts = last["texts"].as_array().unwrap();
    assert!(!texts.is_empty(), "the screens of failed steps are there");
    for (place, text) in texts.iter().enumerate() {
        assert_eq!(*text, embedded(&report, &format!("text-{place}")));
    }

    writeln!(watcher.stdin.take().unwrap(), "{}", path.display()).unwrap();
    let read = line(&mut said);
    assert_eq!(after["shown"], read["shown"]);
    assert_eq!(after["title"], read["title"]);
    assert!(watcher.wait().unwrap().success());
}

#[test]
fn the_end_stays_though_an_older_answer_comes_after_it() {
    let gate = Gate::closed();
    let (_lab, child, url) = standing(&gate);
    let mut watcher = watcher(&[&url, "late"]);
    let mut said = BufReader::new(watcher.stdout.take().unwrap());
    line(&mut said);
    gate.open();
    let after = line(&mut said);
    ended(child).expect(1);
    assert_eq!(after["marks"].to_string(), r#"["✓","✓","✓","✓","✗","✗"]"#);
    assert_eq!(after["broken"].to_string(), "[]");
    assert!(watcher.wait().unwrap().success());
}

/// What is answered to a request as it is written here.
fn asked(host: &str, request: &str) -> (u16, String) {
    let mut connection = TcpStream::connect(host).unwrap();
    write!(connection, "{request}Connection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let code = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (code, answer)
}

#[test]
fn nobody_else_looks_at_a_run_and_nothing_but_its_folder_is_seen() {
    let gate = Gate::closed();
    let (lab, child, url) = standing(&gate);
    let pictures = lab.folder().join(".packtrain/runs/latest/pictures");
    let whole = || {
        let files = std::fs::read_dir(&pictures).into_iter().flatten();
        files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .find(|name| !name.ends_with(".part"))
    };
    until(|| whole().is_some());
    let picture = whole().unwrap();
    lab.write("secret.txt", "secret");
    let run = std::fs::canonicalize(pictures.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(
        lab.folder().join("secret.txt"),
        run.join("pictures/link.txt"),
    )
    .unwrap();
    std::fs::create_dir_all(run.join("logs")).unwrap();
    std::fs::write(run.join("logs/raw.log"), "raw").unwrap();

    let (host, token) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.strip_suffix('/')?.split_once('/'))
        .unwrap();
    assert!(host.starts_with("127.0.0.1:"), "{url}");
    assert!(token.len() >= 32, "{url}");
    let port = host.split_once(':').unwrap().1;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n");

    let (code, answer) = asked(host, &get(&format!("/{token}/pictures/{picture}")));
    assert_eq!(code, 200);
    assert!(answer.contains("image/"), "{answer}");
    for (code, request) in [
        (404, get("/")),
        (404, get("/data.json")),
        (404, get(&format!("/{token}"))),
        (404, get(&format!("/{}/", "0".repeat(token.len())))),
        (404, get(&format!("/{}/data.json", &token[1..]))),
        (404, get(&format!("/{token}/pictures/link.txt"))),
        (404, get(&format!("/{token}/../../secret.txt"))),
        (
            404,
            get(&format!("/{token}/pictures/../../../../secret.txt")),
        ),
        (
            404,
            get(&format!("/{token}/pictures/..%2f..%2f..%2f..%2fsecret.txt")),
        ),
        (
            404,
            get(&format!("/{token}/pictures/%2e%2e/%2e%2e/secret.txt")),
        ),
        (404, get(&format!("/{token}//etc/passwd"))),
        (404, get(&format!("/{token}/logs/raw.log"))),
        (404, get(&format!("/{token}/events.ndjson"))),
        (
            403,
            format!("GET /{token}/ HTTP/1.1\r\nHost: localhost:{port}\r\n"),
        ),
        (
            403,
            format!("GET /{token}/ HTTP/1.1\r\nHost: evil.example\r\n"),
        ),
        (
            403,
            format!("GET /{token}/ HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n"),
        ),
        (
            403,
            format!("GET http://{host}/{token}/ HTTP/1.1\r\nHost: {host}\r\n"),
        ),
        (403, format!("GET /{token}/ HTTP/1.1\r\n")),
        (
            403,
            get(&format!("/{token}/data.json")) + "Origin: http://evil.example\r\n",
        ),
        (
            405,
            format!("POST /{token}/data.json HTTP/1.1\r\nHost: {host}\r\n"),
        ),
        (
            405,
            format!("OPTIONS /{token}/ HTTP/1.1\r\nHost: {host}\r\n"),
        ),
        (200, get(&format!("/{token}/data.json"))),
        (200, get(&format!("/{token}/"))),
    ] {
        let (answered, answer) = asked(host, &request);
        assert_eq!(answered, code, "{request}\n{answer}");
        let answer = answer.to_lowercase();
        assert!(!answer.contains("access-control"), "{answer}");
        assert!(code == 200 || !answer.contains("secret"), "{answer}");
    }
    // However many come, the run goes on.
    let crowd: Vec<_> = (0..100).map(|_| TcpStream::connect(host)).collect();
    gate.open();
    ended(child).expect(1);
    drop(crowd);
    assert!(TcpStream::connect(host).is_err(), "nobody answers any more");
}

const SHORT: &str = "config: { id: short }
trail:
  - step: Open
    recording: { web: [{ web_navigate: { url: 'data:text/html,<h1>Short</h1>' } }] }
";

#[test]
fn reports_open_in_the_browser_somebody_chose() {
    let lab = lab();
    lab.write("packtrain.yaml", "devices: { web: { a: {} } }\n");
    lab.write("short.trail.yaml", SHORT);
    lab.write("browser.sh", "printf '%s\\n' \"$@\" >> opened\n");
    let opened = |arguments: &[&str], browser: &str| {
        let ended = lab.command(arguments).env("BROWSER", browser).output();
        let ended = packtrain_tests::Ended::from(ended.unwrap()).expect(0);
        let file = lab.folder().join("opened");
        let opened = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        (opened, ended.stderr)
    };
    let run = ["run", "short.trail.yaml", "-d", "web/a", "--open"];
    let (what, _) = opened(&run, "no-such-browser:sh browser.sh");
    let report = lab.run_folder().join("report.html");
    assert_eq!(
        std::fs::canonicalize(what.trim()).unwrap(),
        std::fs::canonicalize(&report).unwrap()
    );
    let (what, _) = opened(
        &["report", "--open", "--single-file"],
        "sh browser.sh --new %s -q",
    );
    assert!(what.starts_with("--new\n/"), "{what}");
    assert!(what.ends_with("/report.html\n-q\n"), "{what}");
    let live = ["run", "short.trail.yaml", "-d", "web/a", "--open", "--live"];
    let (what, said) = opened(&live, "sh browser.sh");
    assert!(said.contains(&format!("live: {what}")), "{what}{said}");
    let (what, said) = opened(&["report", "--open"], "no-such-browser");
    assert_eq!(what, "");
    let why = "cannot open the report: no-such-browser: no such program";
    assert!(said.contains(why), "{said}");
}

#[test]
fn a_copy_of_the_report_leads_to_the_runs_folder_wherever_both_are_moved() {
    let lab = lab();
    lab.write("packtrain.yaml", "devices: { web: { a: {} } }\n");
    lab.write("short.trail.yaml", SHORT);
    let run = ["run", "short.trail.yaml", "-d", "web/a"];
    lab.run(&[&run[..], &["--html", "public/site/index.html"]].concat())
        .expect(0);
    let name = lab.run_folder();
    let name = name.file_name().unwrap().to_str().unwrap();
    let data = embedded(&lab.read("public/site/index.html"), "data");
    assert_eq!(data["root"], format!("../../.packtrain/runs/{name}/"));
    let own = std::fs::read_to_string(lab.run_folder().join("report.html")).unwrap();
    assert_eq!(embedded(&own, "data")["root"], "");
}
