//! What Android's own tools find.

mod auth;
mod connect;
mod direct;
mod fault;
mod files;
mod forward;
mod install;
mod judges;
mod python;
mod scripts;
mod shell;
mod ui;
