//! What other clients of iPhones ask WebDriverAgent.

use serde_json::{Value, json};

use super::bench::Bench;
use crate::judges;

#[tokio::test]
async fn what_each_judge_asks_is_understood() {
    for (judge, requests) in judges::requests(&["wda"]) {
        let bench = Bench::new().await;
        let mut client = bench.client().await;
        let (mut session, mut element) = (String::new(), String::new());
        for request in requests {
            let words: Vec<&str> = request.what.splitn(3, ' ').collect();
            let path = words[1].replace(":session", &format!("/session/{session}"));
            let path = path.replace(":element", &element);
            let body = words.get(2).map(|body| serde_json::from_str(body).unwrap());
            let body = body.unwrap_or_else(|| json!({}));
            let answer = client.send(words[0], &path, body).await;
            let value = answer.expect("an answer").body["value"].take();
            if path == "/session" {
                session = value["sessionId"].as_str().unwrap().to_owned();
                let find = json!({"using": "accessibility id", "value": "email"});
                let path = format!("/session/{session}/element");
                let found = client.send("POST", &path, find).await.unwrap().ok();
                element = found["ELEMENT"].as_str().unwrap().to_owned();
            }
            let told = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
            let asked = format!("{judge}: {}: {value:#}", request.what);
            match request.refusal {
                Some(refusal) => assert!(told("message").contains(&refusal), "{asked}"),
                None => {
                    let misunderstood = ["unknown command", "invalid argument"];
                    assert!(!misunderstood.contains(&told("error")), "{asked}");
                }
            }
        }
        bench.end().await;
    }
}
