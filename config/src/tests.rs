//! Promises of the configuration.

mod errors;
mod files;
mod layers;
mod project;
mod rules;
mod schema;
mod trailblaze;
mod values;
