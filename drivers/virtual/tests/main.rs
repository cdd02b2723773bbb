//! What the virtual phones promise to clients that nobody here wrote: Debian's `adb`, the `adb`
//! inside of the Python package `adbutils`, `adbutils`, `uiautomator2` and `facebook-wda`
//! themselves, and libimobiledevice's programs.
//!
//! Needs those programs on PATH and, in PACKTRAIN_TEST_PYTHON, a Python with the packages. A test
//! that misses one says so and fails.

#![expect(
    clippy::unwrap_used,
    reason = "a promise that cannot be checked is broken"
)]

mod android;
mod ios;
mod judges;
mod lab;
