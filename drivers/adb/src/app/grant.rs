//! What apps may do, and what they find: permissions, the network, the position of the screen.

use std::time::Duration;

use packtrain_drivers::DriverError;
use tokio::time::Instant;

use crate::device::{AndroidDevice, Result, reason, unmet};
use crate::session::Restore;
use crate::wire::shell::quote;

/// How long the screen may take to turn.
const ROTATION_TIMEOUT: Duration = Duration::from_secs(3);
/// How often to look at it.
const ROTATION_POLL: Duration = Duration::from_millis(80);

impl AndroidDevice {
    /// Grants permissions; names without a dot are Android's own.
    pub(super) async fn grant(
        &self,
        id: &str,
        permissions: &[String],
        deadline: Instant,
    ) -> Result<()> {
        for permission in permissions {
            let name = if permission.contains('.') {
                permission.clone()
            } else {
                format!("android.permission.{}", permission.to_ascii_uppercase())
            };
            let command = format!("pm grant {id} {}", quote(&name));
            let output = self.shell(&command, deadline).await?;
            let said = output.said();
            if output.exit == 0 && said.is_empty() {
                continue;
            }
            if !self.is_installed(id, deadline).await? {
                return Err(self.not_installed(id, deadline).await);
            }
            let message = format!("grant {name} to {id}: {}", reason(&output));
            // Asked for in vain, whatever the device: the trail names what the app does not.
            let is_callers = [
                "has not requested",
                "Unknown permission",
                "not a changeable",
            ]
            .iter()
            .any(|words| said.contains(words));
            return Err(if is_callers {
                DriverError::Invalid(message).into()
            } else {
                unmet(message)
            });
        }
        Ok(())
    }

    /// Connects or disconnects the device from all networks.
    pub(crate) async fn network(
        &self,
        connected: bool,
        restore: &mut Restore,
        deadline: Instant,
    ) -> Result<()> {
        if !connected && self.phone.hangs_on_its_network() {
            return Err(DriverError::Unsupported {
                command: "set network".to_owned(),
                device: "a device connected over the network that this turns off".to_owned(),
            }
            .into());
        }
        restore.network |= !connected;
        let (airplane, radio) = if connected {
            ("disable", "enable")
        } else {
            ("enable", "disable")
        };
        // Airplane mode by command came with Android 11; before, the radios are switched one by
        // one.
        let command = format!(
            "cmd connectivity airplane-mode {airplane} || {{ svc wifi {radio} && svc data {radio}; }}"
        );
        let output = self.shell(&command, deadline).await?;
        if output.exit != 0 {
            return Err(unmet(format!("set the network: {}", reason(&output))));
        }
        Ok(())
    }

    /// Turns the screen; answers a note when the app keeps it as it was.
    pub(super) async fn rotate(
        &self,
        landscape: bool,
        restore: &mut Restore,
        deadline: Instant,
    ) -> Result<Vec<String>> {
        if restore.rotation.is_none() {
            restore.rotation = Some(self.rotation_settings(deadline).await?);
        }
        let lies_naturally = self.screen.width > self.screen.height;
        let turn = u8::from(landscape != lies_naturally);
        let output = self
            .shell(
                &format!(
                    "settings put system accelerometer_rotation 0 && \
                     settings put system user_rotation {turn}"
                ),
                deadline,
            )
            .await?;
        if output.exit != 0 {
            return Err(unmet(format!("rotate the screen: {}", reason(&output))));
        }
        let limit = deadline.min(Instant::now() + ROTATION_TIMEOUT);
        loop {
            if self.is_landscape(deadline).await? == Some(landscape) {
                return Ok(Vec::new());
            }
            if Instant::now() + ROTATION_POLL >= limit {
                return Ok(vec![
                    "the app in front keeps the screen as it was".to_owned(),
                ]);
            }
            tokio::time::sleep(ROTATION_POLL).await;
        }
    }

    /// `accelerometer_rotation` and `user_rotation`.
    async fn rotation_settings(&self, deadline: Instant) -> Result<[String; 2]> {
        let command = "settings get system accelerometer_rotation; \
                       settings get system user_rotation";
        let out = self.shell(command, deadline).await?.out();
        let mut values = out.lines().map(|line| match line.trim() {
            number if number.len() == 1 && number.as_bytes()[0].is_ascii_digit() => {
                number.to_owned()
            }
            // Never set.
            _ => "0".to_owned(),
        });
        let mut next = || values.next().unwrap_or_else(|| "0".to_owned());
        Ok([next(), next()])
    }

    /// Puts back what [`Self::rotation_settings`] told.
    pub(crate) async fn put_rotation(
        &self,
        [free, turn]: &[String; 2],
        deadline: Instant,
    ) -> Result<()> {
        let command = format!(
            "settings put system user_rotation {turn} && \
             settings put system accelerometer_rotation {free}"
        );
        let output = self.shell(&command, deadline).await?;
        if output.exit != 0 {
            return Err(unmet(format!(
                "rotate the screen back: {}",
                reason(&output)
            )));
        }
        Ok(())
    }

    async fn is_landscape(&self, deadline: Instant) -> Result<Option<bool>> {
        let command = "dumpsys window displays | grep -o 'cur=[0-9]*x[0-9]*'";
        let out = self.shell(command, deadline).await?.out();
        Ok(read_size(&out).map(|(width, height)| width > height))
    }
}

/// The first `cur=1080x2400`, which is that of the device's own display.
fn read_size(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text
        .trim()
        .strip_prefix("cur=")?
        .lines()
        .next()?
        .split_once('x')?;
    Some((width.parse().ok()?, height.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_display_has_the_size_that_counts() {
        assert_eq!(
            read_size("cur=2400x1080\ncur=800x600\n"),
            Some((2400, 1080))
        );
        assert_eq!(read_size(""), None);
        assert_eq!(read_size("cur=x"), None);
    }
}
