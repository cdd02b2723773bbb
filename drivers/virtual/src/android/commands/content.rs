//! `content insert`: a setting by the provider of settings.

use crate::android::commands::{Call, CommandResult};

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let (mut table, mut name, mut value) = (None, None, None);
    for pair in call.rest().windows(2) {
        match pair[0].as_str() {
            "--uri" => table = pair[1].strip_prefix("content://settings/"),
            "--bind" => {
                let mut parts = pair[1].splitn(3, ':');
                match (parts.next(), parts.nth(1)) {
                    (Some("name"), bound) => name = bound,
                    (Some("value"), bound) => value = bound,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    match (call.arg(1), table, name) {
        (Some("insert"), Some(table), Some(name)) => {
            call.android().put_setting(table, name, value);
            Ok(0)
        }
        _ => call.not_recorded().await,
    }
}
