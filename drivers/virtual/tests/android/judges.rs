//! What other clients of Android phones ask: services of adbd, and commands of its shell.

use packtrain_virtual::fleet::Fleet;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::direct::{Host, push};
use crate::judges;
use crate::lab::{Adb, Lab, one_phone};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_each_judge_asks_is_understood() {
    for (judge, requests) in judges::requests(&["push", "shell", "stream"]) {
        let lab = Lab::connected(Adb::New, one_phone()).await;
        let mut known = Vec::new();
        for request in requests {
            let what = request.what.as_str();
            let said = match request.kind.as_str() {
                "push" => {
                    push(lab.phone(), what, b"x").await;
                    String::new()
                }
                "stream" => {
                    let mut follows = lab.follow(["-s", &lab.serial(), "shell", what]);
                    let mut lines = BufReader::new(follows.stdout.take().unwrap()).lines();
                    let first = lines.next_line().await.unwrap();
                    follows.kill().await.unwrap();
                    first.expect("a line")
                }
                _ => lab.shell(what).await.all(),
            };
            let unhandled = lab.phone().device().unhandled();
            match request.refusal {
                Some(refusal) => assert!(said.contains(&refusal), "{judge}: {what}: {said}"),
                None => assert_eq!(unhandled, known, "{judge}: {what}: {said}"),
            }
            known = unhandled;
        }
        lab.end().await;
    }
}

#[tokio::test]
async fn what_each_judge_opens_is_opened() {
    for (judge, requests) in judges::requests(&["service"]) {
        for request in requests {
            // Some of them end adbd.
            let fleet = Fleet::start(one_phone()).await.expect("started");
            let mut host = Host::greeted(&fleet.android()[0], "shell_v2").await;
            let opened = host.open(1, 0, &request.what).await;
            let refused = request.refusal.is_some();
            assert_eq!(opened.is_none(), refused, "{judge}: {}", request.what);
            fleet.shutdown().await;
        }
    }
}
