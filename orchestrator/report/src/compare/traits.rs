//! What some devices have in common that the others do not.

use packtrain_drivers::DeviceInfo;

use crate::mark::Mark;
use crate::view::{SessionView, TrailView};

/// How many are worth saying; the rest usually says the same in other words.
const MOST: usize = 2;

/// What the members have in common and no other device that ran the trail to an end has. Only
/// devices that ran can tell anything; with fewer than two members there is nothing in common.
pub(super) fn shared(trail: &TrailView, members: &[usize]) -> Vec<String> {
    let ran = |session: &SessionView| match session.mark() {
        Mark::Passed | Mark::Flaky | Mark::Failed | Mark::Infrastructure | Mark::NeedsAgent => true,
        Mark::Unfinished | Mark::Cancelled | Mark::NotRun | Mark::Skipped => false,
    };
    let (inside, outside): (Vec<_>, Vec<_>) = trail
        .sessions
        .iter()
        .enumerate()
        .filter(|(place, session)| members.contains(place) || ran(session))
        .partition(|(place, _)| members.contains(place));
    let infos = |sessions: Vec<(usize, &SessionView)>| -> Option<Vec<DeviceInfo>> {
        sessions
            .into_iter()
            .map(|(_, session)| session.info.clone())
            .collect()
    };
    let (Some(inside), Some(outside)) = (infos(inside), infos(outside)) else {
        return Vec::new();
    };
    if inside.len() < 2 || outside.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for candidate in candidates(&inside[0]) {
        let text = candidate.text;
        if inside.iter().all(|info| (candidate.has)(info, &text))
            && !outside.iter().any(|info| (candidate.has)(info, &text))
            && !found.contains(&text)
        {
            found.push(text);
        }
    }
    found.extend(screen(&inside, &outside));
    found.truncate(MOST);
    found
}

/// Something one device has and another may have too.
struct Candidate {
    text: String,
    has: fn(&DeviceInfo, &str) -> bool,
}

/// What the device has, what says most first.
fn candidates(device: &DeviceInfo) -> Vec<Candidate> {
    let mut candidates = vec![Candidate {
        text: device.id.platform().to_string(),
        has: |info, text| info.id.platform().as_str() == text,
    }];
    candidates.extend(device.classifiers.iter().map(|classifier| Candidate {
        text: classifier.0.clone(),
        has: |info, text| info.classifiers.iter().any(|c| c.0 == text),
    }));
    candidates.push(Candidate {
        text: orientation(device).to_owned(),
        has: |info, text| orientation(info) == text,
    });
    candidates.push(Candidate {
        text: device.system.clone(),
        has: |info, text| info.system == text,
    });
    candidates.push(Candidate {
        text: device.model.clone(),
        has: |info, text| info.model == text,
    });
    candidates
}

fn orientation(device: &DeviceInfo) -> &'static str {
    if device.screen.width > device.screen.height {
        "landscape"
    } else {
        "portrait"
    }
}

/// Whether all of some are narrower, or wider, than all others. Only within a platform: a pixel
/// of one is not a point of another.
fn screen(inside: &[DeviceInfo], outside: &[DeviceInfo]) -> Option<String> {
    let platform = inside[0].id.platform();
    if inside
        .iter()
        .chain(outside)
        .any(|info| info.id.platform() != platform)
    {
        return None;
    }
    let widths = |infos: &[DeviceInfo]| {
        infos
            .iter()
            .fold((f64::MAX, f64::MIN), |(least, most), info| {
                (least.min(info.screen.width), most.max(info.screen.width))
            })
    };
    let (inside_least, inside_most) = widths(inside);
    let (outside_least, outside_most) = widths(outside);
    if inside_most < outside_least {
        Some(format!("at most {inside_most} wide"))
    } else if inside_least > outside_most {
        Some(format!("at least {inside_least} wide"))
    } else {
        None
    }
}
