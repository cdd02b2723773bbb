//! Promises of the configuration.

mod errors;
mod files;
mod layers;
mod matrices;
mod project;
mod rules;
mod schema;
mod sources;
mod trailblaze;
mod values;
