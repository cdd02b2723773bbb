#!/bin/sh
# Makes the pictures of the README anew: the report of a made-up run of 24 cells, in a browser.
# Needs what `sh tests/run.sh` installs: playwright-core, and Chromium or Chrome.
set -eu
cd "$(dirname "$0")/../.."
export PACKTRAIN_TEST_SOURCES="${PACKTRAIN_TEST_SOURCES:-$PWD/target/test-sources}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo run --quiet -p packtrain-report --example sample -- "$folder" cells-24
node docs/pictures/take.mjs "$folder/cells-24/report.html" docs/pictures
