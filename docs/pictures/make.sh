#!/bin/sh
# Makes the pictures of the README and of docs/reports.md anew: reports of made-up runs, in a browser.
# Needs what `sh tests/run.sh` installs: playwright-core, and Chromium or Chrome.
set -eu
cd "$(dirname "$0")/../.."
export PACKTRAIN_TEST_SOURCES="${PACKTRAIN_TEST_SOURCES:-$PWD/target/test-sources}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for run in cells-24 green difference failure flaky lost matrix; do
    cargo run --quiet -p packtrain-report --example sample -- "$folder" "$run"
done
node docs/pictures/take.mjs "$folder" docs/pictures
