//! Files that a page is given and gives, by a trail on both engines and by an agent.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use packtrain_tests::agent_lab::AgentLab;
use packtrain_tests::outcomes;
use serde_json::json;

use super::refused;

const PAGE: &str = "<input id=many type=file multiple><p id=given></p><a id=save href=/report.txt>Save</a><script>many.onchange = async () => given.textContent = (await Promise.all([...many.files].map(file => file.text()))).join()</script>";

/// Serves the page, and what it gives, as long as the test lasts; where.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            // Browsers connect ahead of what they ask.
            std::thread::spawn(move || {
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let head: Vec<_> = lines
                    .map_while(Result::ok)
                    .take_while(|line| !line.is_empty())
                    .collect();
                let is_file = head
                    .first()
                    .is_some_and(|line| line.contains("/report.txt"));
                let (kind, body) = match is_file {
                    true => (
                        "text/plain\r\nContent-Disposition: attachment",
                        "all is well",
                    ),
                    false => ("text/html", PAGE),
                };
                // Who hung up does not mind.
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
            });
        }
    });
    address
}

fn lab() -> AgentLab {
    let config = "devices: { web: { chromium: {}, firefox: { engine: firefox } } }\n";
    let lab = AgentLab::new(env!("CARGO_BIN_EXE_packtrain-under-test"), config);
    lab.lab().write("trails/data/a.txt", "alpha");
    lab.lab().write("trails/data/b.txt", "beta");
    lab
}

#[test]
fn a_trail_uploads_and_asserts_a_download_in_both_engines() {
    let (lab, page) = (lab(), serve());
    let trail = format!(
        r#"
trail:
  - step: "Upload"
    recording:
      web:
        - web_navigate: {{ url: "{page}" }}
        - web_upload: {{ ref: "css=#many", files: [data/a.txt, trails/data/b.txt] }}
        - web_verifyTextVisible: {{ text: "alpha,beta" }}
  - step: "Download"
    recording:
      web:
        - web_click: {{ ref: "css=#save" }}
        - web_assertDownload: {{ name: report.txt, contains: all is well, minBytes: 11 }}
"#
    );
    lab.lab().write("trails/files.trail.yaml", &trail);
    lab.run(&["check"]).expect(0);
    lab.run(&["run", "trails", "-d", "web"]).expect(0);
    let run = lab.lab().run_folder();
    assert_eq!(outcomes(&lab.lab().events()).len(), 2);
    let events = lab.lab().events();
    let saved = events.iter().map(|event| &event["artifact"]);
    let kept: Vec<_> = saved
        .filter(|artifact| artifact["kind"] == "download")
        .map(|artifact| lab.lab().read(run.join(artifact["path"].as_str().unwrap())))
        .collect();
    assert_eq!(kept, ["all is well", "all is well"]);
}

#[test]
fn an_agent_uploads_files_of_its_project_and_asserts_a_download() {
    let lab = lab();
    let agent = lab.stdio("Claude");
    let lease = agent.acquires("web/chromium");
    agent.does("web_navigate", json!({ "lease": lease, "url": serve() }));
    let upload = |file: &str| json!({ "lease": lease, "ref": "css=#many", "files": [file] });
    agent.does("web_upload", upload("trails/data/a.txt"));
    let shown = json!({ "lease": lease, "text": "alpha" });
    agent.does("web_verifyTextVisible", shown);
    for file in [
        "/etc/hostname",
        "../packtrain.yaml",
        ".run/packtrain/token",
        "..",
    ] {
        refused(agent.call("web_upload", upload(file)));
    }
    agent.does("web_click", json!({ "lease": lease, "ref": "css=#save" }));
    let wanted = json!({ "lease": lease, "nameRegex": "report.*", "contains": "well" });
    agent.does("web_assertDownload", wanted);
}
