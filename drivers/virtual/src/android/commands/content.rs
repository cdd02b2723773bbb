//! `content`: the providers clients ask.

use std::collections::BTreeMap;

use crate::android::commands::{Call, CommandResult};
use crate::android::lock;

/// `--uri X --bind k:s:v …` taken apart.
#[derive(Default)]
struct Request {
    uri: String,
    values: BTreeMap<String, String>,
    condition: Option<String>,
}

impl Request {
    fn of(args: &[String]) -> Self {
        let mut request = Self::default();
        for pair in args.windows(2) {
            match pair[0].as_str() {
                "--uri" => request.uri.clone_from(&pair[1]),
                "--where" => request.condition = Some(pair[1].clone()),
                "--bind" => {
                    let mut parts = pair[1].splitn(3, ':');
                    if let (Some(name), Some(_), Some(value)) =
                        (parts.next(), parts.next(), parts.next())
                    {
                        request.values.insert(name.to_owned(), value.to_owned());
                    }
                }
                _ => {}
            }
        }
        request
    }

    /// The table of `content://settings/TABLE`, and the key behind it or in the condition.
    fn setting(&self) -> Option<(&str, Option<String>)> {
        let path = self.uri.strip_prefix("content://settings/")?;
        let (table, key) = path
            .split_once('/')
            .map_or((path, None), |(t, k)| (t, Some(k)));
        let from_condition = || {
            let quoted = self.condition.as_deref()?.split_once('=')?.1.trim();
            Some(quoted.trim_matches(['\'', '"']).to_owned())
        };
        Some((table, key.map(str::to_owned).or_else(from_condition)))
    }
}

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let request = Request::of(call.rest());
    let android = call.android();
    let Some((table, key)) = request.setting() else {
        if call.arg(1) == Some("call") && request.uri == "content://media" {
            // Files are seen without a scan.
            call.out("Result: null\n").await?;
        } else if call.arg(1) == Some("query") {
            call.unhandled();
            call.out("No result found.\n").await?;
        } else {
            call.unhandled();
        }
        return Ok(0);
    };
    match call.arg(1) {
        Some("insert" | "update") => {
            let name = request.values.get("name").cloned().or(key);
            if let (Some(name), Some(value)) = (name, request.values.get("value")) {
                android.put_setting(table, &name, Some(value));
            }
            Ok(0)
        }
        Some("delete") => {
            if let Some(key) = key {
                android.put_setting(table, &key, None);
            }
            Ok(0)
        }
        Some("query") => {
            let rows: Vec<(String, String)> = match key {
                Some(key) => android
                    .setting(table, &key)
                    .map(|v| (key, v))
                    .into_iter()
                    .collect(),
                None => lock(&android.settings).all(table).into_iter().collect(),
            };
            if rows.is_empty() {
                call.out("No result found.\n").await?;
                return Ok(0);
            }
            let text: String = (rows.iter().enumerate())
                .map(|(i, (k, v))| format!("Row: {i} _id={}, name={k}, value={v}\n", i + 1))
                .collect();
            call.out(text).await?;
            Ok(0)
        }
        _ => {
            call.err("usage: adb shell content [subcommand] [options]\n")
                .await?;
            Ok(1)
        }
    }
}
