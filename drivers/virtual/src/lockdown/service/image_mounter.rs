//! `com.apple.mobile.mobile_image_mounter`: whether a developer disk image is mounted. None is, and
//! none can be: there is nothing behind the services it would bring.

use crate::lockdown::channel::Channel;
use crate::lockdown::frame::FrameError;
use crate::plist::{Value, dictionary, text};

pub(super) async fn serve(mut channel: Channel) -> Result<(), FrameError> {
    while let Some(request) = channel.read().await? {
        let answer = match text(&request, "Command").unwrap_or_default() {
            "LookupImage" => dictionary([
                ("ImageSignature", Value::Array(Vec::new())),
                ("Status", "Complete".into()),
            ]),
            "CopyDevices" => dictionary([("EntryList", Value::Array(Vec::new()))]),
            "QueryDeveloperModeStatus" => dictionary([("DeveloperModeStatus", true.into())]),
            "Hangup" => {
                channel
                    .write(dictionary([("Goodbye", true.into())]))
                    .await?;
                return Ok(());
            }
            "ReceiveBytes" | "MountImage" | "UnmountImage" => dictionary([
                ("Error", "InternalError".into()),
                ("DetailedError", "a virtual phone mounts no images".into()),
            ]),
            _ => dictionary([("Error", "UnknownCommand".into())]),
        };
        channel.write(answer).await?;
    }
    Ok(())
}
