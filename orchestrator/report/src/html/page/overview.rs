//! Trails by devices: the whole run at a glance.

use serde::Serialize;

use super::{Head, MarkText, density, session_time};
use crate::compare::Comparison;
use crate::mark::Mark;
use crate::view::{RunView, SessionView, TrailView};

#[derive(Serialize)]
pub(super) struct Overview {
    density: &'static str,
    devices: Vec<Head>,
    rows: Vec<OverviewRow>,
}

#[derive(Serialize)]
pub(super) struct OverviewRow {
    trail: usize,
    title: String,
    cells: Vec<Option<OverviewCell>>,
}

#[derive(Serialize)]
pub(super) struct OverviewCell {
    session: String,
    href: String,
    mark: MarkText,
    time: String,
    letter: String,
}

impl Overview {
    pub(super) fn new(view: &RunView, comparisons: &[Comparison], order: &[usize]) -> Self {
        // Devices by name, in the order they were planned; then the worst first.
        let mut devices: Vec<(Head, Vec<Mark>)> = Vec::new();
        for (_, session) in view.sessions() {
            let id = session.name();
            let known = devices.iter().position(|(head, _)| head.id == id);
            let known = known.unwrap_or_else(|| {
                devices.push((Head::of(session), Vec::new()));
                devices.len() - 1
            });
            devices[known].1.push(session.mark());
        }
        for (_, marks) in &mut devices {
            marks.sort_unstable();
        }
        devices.sort_by(|(_, a), (_, b)| a.cmp(b));
        let mut devices: Vec<Head> = devices.into_iter().map(|(head, _)| head).collect();
        Head::tell_apart(&mut devices);
        let rows = order
            .iter()
            .map(|&place| {
                let trail = &view.trails[place];
                let names: Vec<String> = trail.sessions.iter().map(SessionView::name).collect();
                OverviewRow {
                    trail: place,
                    title: trail.summary.title.clone(),
                    cells: devices
                        .iter()
                        .map(|device| {
                            let session = names.iter().position(|name| *name == device.id)?;
                            Some(OverviewCell::new(trail, &comparisons[place], session))
                        })
                        .collect(),
                }
            })
            .collect();
        Self {
            density: density(devices.len()),
            devices,
            rows,
        }
    }
}

impl OverviewCell {
    fn new(trail: &TrailView, comparison: &Comparison, place: usize) -> Self {
        let session = &trail.sessions[place];
        Self {
            session: session.id.0.clone(),
            href: session.id.0.clone(),
            mark: session.mark().into(),
            time: session_time(session),
            letter: comparison
                .cluster_of(place)
                .map_or_else(String::new, |cluster| cluster.letter.clone()),
        }
    }
}
