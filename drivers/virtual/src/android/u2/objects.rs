//! What the server tells of views and of the device.

use serde_json::{Value, json};

use crate::android::Android;
use crate::android::tree::{Pixels, Tree};
use crate::android::u2::selector::ViewIndex;
use crate::world::Display;

fn rect(bounds: &Pixels) -> Value {
    json!({
        "bottom": bounds.bottom,
        "left": bounds.left,
        "right": bounds.right,
        "top": bounds.top,
    })
}

/// `ObjInfo`.
pub(super) fn object(trees: &[Tree], index: ViewIndex) -> Value {
    let view = index.of(trees);
    let flags = &view.flags;
    let resource = (!view.resource.is_empty()).then_some(&view.resource);
    json!({
        "bounds": rect(&view.bounds),
        "childCount": view.children.len(),
        "className": view.class,
        "contentDescription": view.description,
        "packageName": view.package,
        "resourceName": resource,
        "text": view.text,
        "visibleBounds": rect(&view.bounds),
        "checkable": flags.checkable,
        "checked": flags.checked,
        "clickable": flags.clickable,
        "enabled": flags.enabled,
        "focusable": flags.focusable,
        "focused": flags.focused,
        "longClickable": flags.long_clickable,
        "scrollable": flags.scrollable,
        "selected": flags.selected,
    })
}

/// `DeviceInfo`.
pub(super) fn device_info(android: &Android) -> Value {
    let shape = android.device().shape();
    let (rotation, lit, front) = android.device().world(|world| {
        (
            world.rotation(),
            world.display() == Display::On,
            world.front(),
        )
    });
    let screen = android.device().screen();
    let (width, height) = rotation.turn(screen.width_px, screen.height_px);
    let (dp_x, dp_y) = rotation.turn(screen.width(), screen.height());
    json!({
        "currentPackageName": front,
        "displayHeight": height,
        "displayRotation": rotation.number(),
        "displaySizeDpX": dp_x.round() as i64,
        "displaySizeDpY": dp_y.round() as i64,
        "displayWidth": width,
        "productName": shape.product,
        "screenOn": lit,
        "sdkInt": shape.api_level,
        "naturalOrientation": !rotation.is_landscape(),
    })
}
