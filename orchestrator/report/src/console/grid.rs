//! A trail on a few devices as a grid: a row for each device, a column for each step.

use packtrain_model::StepKind;

use super::Layout;
use super::paint::pad;
use crate::mark::Mark;
use crate::problem::{Names, Problem};
use crate::view::{SessionView, Status, StepView, TrailView};
use crate::wording;

/// With more devices than this there is no grid: the problems say it better.
pub const MOST_DEVICES: usize = 8;

/// A column with a time, and one with a word of the step as well.
const TIMED: usize = 7;
const WORDED: usize = 9;
/// The widest a column gets.
const WIDEST: usize = 13;
/// A column with nothing but a mark.
const BARE: usize = 3;
/// How much of a message is shown in any case.
const FEW_WORDS: usize = 24;

/// The grid, with a newline at the end; `None` with too many devices, or when there is nothing to
/// show. Each row ends with what went wrong.
pub fn grid(
    trail: &TrailView,
    problems: &[Problem],
    names: &Names<'_>,
    layout: Layout,
) -> Option<String> {
    let steps = trail.summary.steps.len();
    if trail.sessions.is_empty() || trail.sessions.len() > MOST_DEVICES || steps == 0 {
        return None;
    }
    let rows: Vec<&str> = trail.sessions.iter().map(|one| names.get(one)).collect();
    let name_width = rows.iter().map(|name| name.chars().count()).max()?;
    let tags: Vec<String> = (0..rows.len()).map(|place| tag(problems, place)).collect();
    let tag_width = tags.iter().map(|tag| tag.chars().count()).max()?;
    let lead = 1 + name_width + 2 + tag_width + 2;
    let room = layout.width.saturating_sub(lead);
    // The last message in a row begins where its step is.
    let last = trail
        .sessions
        .iter()
        .filter_map(bad_step)
        .max()
        .unwrap_or(0);
    let beside = room.saturating_sub(FEW_WORDS + 2) / last.max(1);
    let column = match (room / steps).min(beside) {
        0..TIMED => BARE,
        fits => fits.min(WIDEST),
    };
    // What does not fit beside goes below.
    let per_block = (room / column).max(4);

    let mut text = String::new();
    for (block, summaries) in trail.summary.steps.chunks(per_block).enumerate() {
        let mut head = " ".repeat(lead);
        for step in summaries {
            let number = match step.kind {
                StepKind::Trailhead => "0".to_owned(),
                StepKind::Step | StepKind::Verify => step.step.to_string(),
            };
            let (word, room) = (wording::one_line(&step.text), column.saturating_sub(2));
            let word = wording::cut(&word, room.saturating_sub(number.len()));
            let title = Some(format!("{number} {word}")).filter(|_| column >= WORDED);
            head.push_str(&pad(&title.unwrap_or(number), column));
        }
        text.push_str(layout.dim(head.trim_end()).as_str());
        text.push('\n');
        let first = block * per_block;
        for ((session, name), tag) in trail.sessions.iter().zip(&rows).zip(&tags) {
            let (name, tag) = (pad(name, name_width), layout.dim(&pad(tag, tag_width)));
            let places = first..first + summaries.len();
            let cells = cells(session, places, column, room, layout);
            let row = format!(" {name}  {tag}  {cells}");
            text.push_str(row.trim_end());
            text.push('\n');
        }
    }
    Some(text)
}

/// The letter of what went wrong on a device.
fn tag(problems: &[Problem], place: usize) -> String {
    let mut own = problems.iter();
    let own = own.find(|problem| problem.sessions.contains(&place));
    own.map_or_else(String::new, |problem| problem.letter.clone())
}

fn cells(
    session: &SessionView,
    places: std::ops::Range<usize>,
    column: usize,
    room: usize,
    layout: Layout,
) -> String {
    let Some(attempt) = session.last() else {
        return why(&session.status, session.mark(), room, layout);
    };
    let mut row = String::new();
    let bad = bad_step(session);
    let mut steps = attempt.steps.iter();
    if steps.all(|step| step.status == Status::NotRun) {
        return why(&session.status, session.mark(), room, layout);
    }
    let start = places.start;
    for place in places {
        let Some(step) = attempt.steps.get(place) else {
            break;
        };
        let mark = step.mark();
        if bad == Some(place) {
            let left = room.saturating_sub((place - start) * column);
            row.push_str(&why(&step.status, mark, left, layout));
            break;
        }
        if mark == Mark::NotRun {
            row.push_str(&pad("", column));
            continue;
        }
        let is_timed = column >= TIMED && mark == Mark::Passed && !step.is_idle();
        // Without a unit; the column has no room for one.
        let time = is_timed.then(|| format!(" {:.1}", step.duration.as_secs_f64()));
        let time = time.unwrap_or_default();
        let cell = pad(&format!("{}{time}", step.sign()), column);
        row.push_str(&cell.replacen(step.sign(), &layout.mark(mark, step.sign()), 1));
    }
    if session.flaky && bad.is_none() {
        row.push_str(&layout.mark(Mark::Flaky, "↻ flaky"));
    }
    row
}

/// The place of the step at which a session came off its trail.
fn bad_step(session: &SessionView) -> Option<usize> {
    session.last()?.steps.iter().position(StepView::is_bad)
}

/// What went wrong, cut to the room that is left; a few words are shown in any case.
fn why(status: &Status, mark: Mark, room: usize, layout: Layout) -> String {
    let message = status.message().unwrap_or_default();
    let message = wording::one_line(&message);
    let said = match mark {
        Mark::Failed => message.into_owned(),
        _ => format!("{}: {message}", status.word()),
    };
    let said = wording::cut(&said, room.saturating_sub(2).max(FEW_WORDS));
    format!("{} {}", layout.sign(mark), layout.mark(mark, &said))
}
