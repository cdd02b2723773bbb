//! The apps on a device.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::device::{AndroidDevice, Result, reason, unmet};

impl AndroidDevice {
    /// Installed apps: `[{id, version?, system}]`, by id. The version is the number the system
    /// compares (`versionCode`); names would need each app's resources.
    pub(super) async fn list_apps(&self, system: bool, deadline: Instant) -> Result<Value> {
        let mut apps = self.packages("-3", false, deadline).await?;
        if system {
            apps.extend(self.packages("-s", true, deadline).await?);
        }
        apps.sort();
        let apps = apps.into_iter().map(|(id, version, system)| {
            let mut app = json!({ "id": id, "system": system });
            if let (Some(version), Some(app)) = (version, app.as_object_mut()) {
                app.insert("version".to_owned(), version.into());
            }
            app
        });
        Ok(apps.collect())
    }

    async fn packages(
        &self,
        which: &str,
        system: bool,
        deadline: Instant,
    ) -> Result<Vec<(String, Option<String>, bool)>> {
        let command = format!("pm list packages {which} --show-versioncode");
        let output = self.shell(&command, deadline).await?;
        let output = match output.exit {
            0 => output,
            // Systems before Android 8 have no such option.
            _ => {
                self.shell(&format!("pm list packages {which}"), deadline)
                    .await?
            }
        };
        if output.exit != 0 {
            return Err(unmet(format!("list apps: {}", reason(&output))));
        }
        let out = output.out();
        let read = out.lines().filter_map(read_line);
        Ok(read.map(|(id, version)| (id, version, system)).collect())
    }
}

/// `package:com.example.shop versionCode:12`
fn read_line(line: &str) -> Option<(String, Option<String>)> {
    let mut words = line.trim().strip_prefix("package:")?.split_whitespace();
    let id = words.next()?.to_owned();
    let version = words.find_map(|word| word.strip_prefix("versionCode:"));
    Some((id, version.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_with_and_without_their_version() {
        let with = read_line("package:com.a versionCode:12\r");
        assert_eq!(with, Some(("com.a".into(), Some("12".into()))));
        assert_eq!(read_line("package:com.a"), Some(("com.a".into(), None)));
        assert_eq!(read_line("Warning: something"), None);
    }
}
