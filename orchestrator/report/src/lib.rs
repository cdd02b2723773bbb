//! What people and machines read about a run: a folded view of its events, its comparison, and the
//! console, JUnit, JSON and HTML made of both. All of them begin with the comparison's headline.
//!
//! Pure functions: events in, text out. Nothing here prints, reads files or knows where reports
//! are kept; the HTML report asks its caller for the pictures.

pub mod annotations;
pub mod comparison;
pub mod console;
pub mod html;
pub mod json;
pub mod junit;
pub mod mark;
pub mod markdown;
pub mod notes;
pub mod problem;
pub mod view;

mod again;
mod facts;
mod paths;
mod reported;
mod wording;

pub use again::again;
pub use annotations::{annotations, harmless};
pub use facts::counts;
pub use html::{HtmlError, HtmlOptions, html, html_data};
pub use json::{SUMMARY_SCHEMA_VERSION, json};
pub use junit::{JunitOptions, junit};
pub use mark::Mark;
pub use markdown::markdown;
pub use notes::StepNote;
pub use paths::relative;
pub use problem::{Names, Problem};
pub use view::{
    AttemptView, BrokenSink, CallView, RunState, RunView, SessionView, Status, StepView, TrailView,
    named, numbered,
};
pub use wording::{cut, duration, one_line};
