//! The screen: its size, how it is held, and pictures of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Handler;
use crate::paint::PaintError;
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::picture;
use crate::wda::source::number;
use crate::world::Rotation;

impl Handler<'_> {
    pub(super) fn screen(&self) -> Value {
        let shape = self.device().shape();
        self.world(|world, _| {
            json!({
                "screenSize": {"width": number(world.width()), "height": number(world.height())},
                "statusBarSize": {
                    "width": number(world.width()),
                    "height": number(shape.status_bar),
                },
                "scale": number(shape.scale),
            })
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
        let frame = tree
            .get(at)
            .map(|element| element.frame)
            .unwrap_or_default();
        let scale = self.device().shape().scale;
        let cut = tokio::task::spawn_blocking(move || picture::cut(&canvas, frame, scale)).await;
        let png = cut.ok().flatten().ok_or_else(|| {
            WdaError::new(
                ErrorKind::UnableToCaptureScreen,
                "Cannot take a screenshot of an element without a visible part",
            )
        })?;
        Ok(STANDARD.encode(png).into())
    }

    pub(super) fn get_orientation(&self) -> Value {
        // WebDriver knows two ways to hold a phone.
        if self.rotation().is_landscape() {
            "LANDSCAPE".into()
        } else {
            "PORTRAIT".into()
        }
    }

    pub(super) fn set_orientation(&mut self) -> Result<Value, WdaError> {
        let name = self
            .arguments
            .text("orientation")
            .unwrap_or_default()
            .to_uppercase();
        let rotation = match name.as_str() {
            "PORTRAIT" => Some(Rotation::Upright),
            "LANDSCAPE" => Some(Rotation::Left),
            "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT" => Some(Rotation::Right),
            // Apps on phones do not follow on their head.
            _ => None,
        };
        let rotation = rotation.ok_or_else(|| WdaError::unknown("Unable To Rotate Device"))?;
        self.world(|world, now| world.rotate(rotation, now));
        Ok(Value::Null)
    }

    pub(super) fn get_rotation(&self) -> Value {
        let degrees = match self.rotation() {
            Rotation::Upright => 0,
            Rotation::UpsideDown => 180,
            Rotation::Left => 270,
            Rotation::Right => 90,
        };
        json!({"x": 0, "y": 0, "z": degrees})
    }

    pub(super) fn set_rotation(&mut self) -> Result<Value, WdaError> {
        let number = |name| self.arguments.number(name);
        let (Some(x), Some(y), Some(z)) = (number("x"), number("y"), number("z")) else {
            return Err(WdaError::invalid_argument(
                "x, y and z arguments must exist in the request body",
            ));
        };
        let flat = x == 0.0 && y == 0.0;
        let rotation = match z as i64 {
            0 if flat => Rotation::Upright,
            90 if flat => Rotation::Right,
            270 if flat => Rotation::Left,
            180 if flat => {
                return Err(WdaError::invalid_state(
                    "The current rotation cannot be set. Make sure the application supports it",
                ));
            }
            _ => {
                return Err(WdaError::invalid_argument(format!(
                    "{{x = {x}; y = {y}; z = {z};}} rotation is not supported"
                )));
            }
        };
        self.world(|world, now| world.rotate(rotation, now));
        Ok(Value::Null)
    }

    pub(super) fn device_orientation(&self) -> Value {
        match self.rotation() {
            Rotation::Upright => "UIDeviceOrientationPortrait".into(),
            Rotation::UpsideDown => "UIDeviceOrientationPortraitUpsideDown".into(),
            Rotation::Left => "UIDeviceOrientationLandscapeLeft".into(),
            Rotation::Right => "UIDeviceOrientationLandscapeRight".into(),
        }
    }

    fn rotation(&self) -> Rotation {
        self.world(|world, _| world.rotation())
    }
}

fn no_picture(error: PaintError) -> WdaError {
    WdaError::new(ErrorKind::UnableToCaptureScreen, error.to_string())
}
