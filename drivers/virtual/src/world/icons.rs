//! The home screen: one icon per app, four in a row, by name.

use crate::app::AppId;
use crate::geometry::Rect;
use crate::world::World;

impl World {
    /// The apps on the home screen and where their icons are, within `area`.
    pub(super) fn icons(&self, area: Rect) -> Vec<(AppId, String, Rect)> {
        let mut apps: Vec<_> = (self.installed.iter())
            .map(|(id, install)| (id.clone(), install.app.app.name.clone()))
            .collect();
        apps.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        let (width, height) = (area.w / 4.0, 104.0);
        (apps.into_iter().enumerate())
            .map(|(i, (id, name))| {
                let (column, row) = ((i % 4) as f64, (i / 4) as f64);
                let x = area.x + column * width;
                let y = area.y + row * height;
                (
                    id,
                    name,
                    Rect::new(x + 8.0, y + 8.0, width - 16.0, height - 16.0),
                )
            })
            .collect()
    }
}
