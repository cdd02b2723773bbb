//! Which tools an agent is offered: toolsets on disk, the tools by which agents build and equip them, and
//! the list that they are shown.

pub mod catalog;
pub mod schema;
pub mod store;
pub mod tools;
