//! The screen: its size, how it is held, and pictures of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Done, Handler};
use crate::paint::{PaintError, encode};
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::source::number;
use crate::world::Rotation;

impl Handler<'_> {
    pub(super) fn screen(&self) -> Value {
        let shape = self.device().shape();
        let (width, height) = self.world(|world| (world.width(), world.height()));
        json!({
            "screenSize": {"width": number(width), "height": number(height)},
            "statusBarSize": {"width": number(width), "height": number(shape.status_bar)},
            "scale": number(shape.screen.scale),
        })
    }

    pub(super) async fn screenshot(&mut self) -> Result<Value, WdaError> {
        self.device().takes(self.device().latency().screencap).await;
        let png = self.device().screenshot(1.0).await.map_err(no_picture)?;
        Ok(STANDARD.encode(png).into())
    }

    pub(super) async fn element_screenshot(&mut self) -> Result<Value, WdaError> {
        let (tree, at) = self.element().await?;
        self.device().takes(self.device().latency().screencap).await;
        let canvas = self.device().pixels().await.map_err(no_picture)?;
        let frame = tree.frame(at);
        let cut = move || encode(&canvas.cut(&frame)?).ok();
        let cut = tokio::task::spawn_blocking(cut).await;
        let png = cut.ok().flatten().ok_or_else(|| {
            WdaError::new(
                ErrorKind::UNABLE_TO_CAPTURE_SCREEN,
                "Cannot take a screenshot of an element without a visible part",
            )
        })?;
        Ok(STANDARD.encode(png).into())
    }

    pub(super) fn orientation(&self) -> Value {
        // WebDriver knows two ways to hold a phone.
        let lies = self.world(|world| world.rotation().is_landscape());
        if lies { "LANDSCAPE" } else { "PORTRAIT" }.into()
    }

    pub(super) fn set_orientation(&mut self) -> Done {
        let name = self.arguments.text("orientation").map(str::to_uppercase);
        let rotation = match name.as_deref() {
            Some("PORTRAIT") => Rotation::Upright,
            Some("LANDSCAPE") => Rotation::Left,
            Some("UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT") => Rotation::Right,
            // Apps on phones do not follow on their head.
            _ => return Err(WdaError::unknown("Unable To Rotate Device")),
        };
        self.world(|world| world.rotate(rotation));
        Ok(())
    }

    /// In degrees, counted against the way Android counts.
    pub(super) fn rotation(&self) -> Value {
        let turns = self.world(|world| world.rotation()).number();
        json!({"x": 0, "y": 0, "z": (4 - u32::from(turns)) % 4 * 90})
    }

    pub(super) fn set_rotation(&mut self) -> Done {
        let number = |name| self.arguments.number(name);
        let (Some(x), Some(y), Some(z)) = (number("x"), number("y"), number("z")) else {
            return Err(WdaError::invalid_argument(
                "x, y and z arguments must exist in the request body",
            ));
        };
        let rotation = match (x, y, z as i64) {
            (0.0, 0.0, 0) => Rotation::Upright,
            (0.0, 0.0, 90) => Rotation::Right,
            (0.0, 0.0, 270) => Rotation::Left,
            (0.0, 0.0, 180) => {
                return Err(WdaError::invalid_state(
                    "The current rotation cannot be set. Make sure the application supports it",
                ));
            }
            _ => {
                let message = format!("{{x = {x}; y = {y}; z = {z};}} rotation is not supported");
                return Err(WdaError::invalid_argument(message));
            }
        };
        self.world(|world| world.rotate(rotation));
        Ok(())
    }

    pub(super) fn device_orientation(&self) -> Value {
        let way = match self.world(|world| world.rotation()) {
            Rotation::Upright => "Portrait",
            Rotation::UpsideDown => "PortraitUpsideDown",
            Rotation::Left => "LandscapeLeft",
            Rotation::Right => "LandscapeRight",
        };
        format!("UIDeviceOrientation{way}").into()
    }
}

fn no_picture(error: PaintError) -> WdaError {
    WdaError::new(ErrorKind::UNABLE_TO_CAPTURE_SCREEN, error.to_string())
}
