//! What pages offer for download is kept with the run.

use crate::lab;

#[test]
fn downloads_of_one_name_are_all_in_the_reports() {
    let lab = lab();
    lab.write(
        "page.html",
        "<h1>Invoices</h1><a download='invoice.txt' href='data:text/plain,first'>May</a>
         <a download='invoice.txt' href='data:text/plain,second'>June</a>",
    )
    .write(
        "get.trail.yaml",
        "config: { id: get }\ntrail:\n  - step: \"Open\"\n    recording:\n      web:\n        - web_navigate: { url: page.html }\n  - step: \"Download both\"\n    recording:\n      web:\n        - web_click: { ref: link \"May\" }\n        - web_click: { ref: link \"June\" }\n",
    );
    lab.run(&["run", "get.trail.yaml", "-d", "web/a"]).expect(0);
    let run = lab.run_folder();
    let kept: Vec<String> = lab
        .events()
        .into_iter()
        .filter(|event| event["event"] == "artifact_saved")
        .filter(|event| event["artifact"]["kind"] == "download")
        .map(|event| event["artifact"]["path"].as_str().unwrap().to_owned())
        .collect();
    let mut contents: Vec<_> = kept.iter().map(|path| lab.read(run.join(path))).collect();
    contents.sort();
    assert_eq!(contents, ["first", "second"], "{kept:?}");
    for report in ["report.html", "report.json"] {
        let report = lab.read(run.join(report));
        for path in &kept {
            assert!(report.contains(path.as_str()), "{path}");
        }
    }
}
