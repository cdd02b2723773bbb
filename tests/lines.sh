#!/bin/sh
# Counts lines by room: the product's, and beside them the tests'. Every budget is by this count.
#
#   sh tests/lines.sh            of this checkout
#   sh tests/lines.sh FOLDER     of another one
#
# A line is a line of a file that git knows or would add: Rust, and JavaScript, TypeScript and Python
# written by hand; blank ones and comments too. Tests are what is in a folder `tests`, what tests
# share (drivers/testing), and in Rust whatever `#[cfg(test)]` stands on, with the files below it.
# Benches, examples, fuzz targets and generated files count as neither.
set -eu
cd "${1:-$(dirname "$0")/..}"

LC_ALL=C
export LC_ALL
git ls-files --cached --others --exclude-standard | grep -E '\.(rs|js|jsx|mjs|cjs|ts|tsx|mts|cts|py)$' | sort -u |
    grep -Ev '^orchestrator/report/src/html/script\.js$|^sdks/typescript/src/generated/|/_generated\.py$' |
    grep -Ev '(^|/)(bench|benches|examples|fuzz)/' | awk '
# The folder of a crate or an SDK; and in the program, what ARCHITECTURE.md has a line of its own for.
function room(file,    name) {
    if (match(file, /^orchestrator\/src\/(cli|farm)(\/|\.rs$)/)) {
        name = substr(file, 1, RLENGTH)
        sub(/(\/|\.rs)$/, "", name)
        return name
    }
    name = file
    if (!sub(/\/(src|tests|page|scripts)\/.*$/, "", name)) sub(/\/[^\/]*$/, "", name)
    if (file ~ /^tests\//) return "tests"
    return name
}

# Where the module `name` that `file` declares has its file and its folder, without the ending.
function below(file, name,    folder) {
    folder = file
    if (!sub(/\/(lib|main|mod)\.rs$/, "", folder)) sub(/\.rs$/, "", folder)
    return folder "/" name
}

# Lines of `file` into `lines` (all) and `inside` (under `#[cfg(test)]`); modules of files into `only`.
function read(file,    line, indent, skipping, awaiting, raw, name) {
    lines[file] = inside[file] = skipping = awaiting = 0
    raw = ""
    while ((getline line < file) > 0) {
        lines[file]++
        if (file !~ /\.rs$/) continue
        if (raw != "") {
            inside[file] += skipping
            if (index(line, raw)) raw = ""
            continue
        }
        if (!skipping && !awaiting && line ~ /^ *#\[cfg\(test\)\]$/) {
            awaiting = 1
            inside[file]++
            match(line, /^ */)
            indent = substr(line, 1, RLENGTH)
            continue
        }
        if (awaiting) {
            inside[file]++
            if (line ~ /^ *(#\[|\/\/)/) continue
            awaiting = 0
            skipping = line !~ /[;}]$/
            if (line ~ /^ *(pub(\([a-z]+\))? )?mod [a-z_0-9]+;$/) {
                name = line
                sub(/^.*mod /, "", name)
                sub(/;$/, "", name)
                only[below(file, name)] = 1
            }
            continue
        }
        inside[file] += skipping
        if (skipping && (line == indent "}" || line == indent "};" || line == indent ");")) skipping = 0
        # A raw string over several lines may have a line that looks like the end.
        if (match(line, /r#+"/)) {
            raw = "\"" substr(line, RSTART + 1, RLENGTH - 2)
            if (index(substr(line, RSTART + RLENGTH), raw)) raw = ""
        }
    }
    close(file)
}

# Is `file`, or a folder it is in, a module for tests only?
function for_tests(file,    path) {
    if (file ~ /(^|\/)tests\// || file ~ /^drivers\/testing\//) return 1
    path = file
    sub(/\.rs$/, "", path)
    do if (path in only) return 1
    while (sub(/\/[^\/]*$/, "", path))
    return 0
}

{ files[++count] = $0; read($0) }

END {
    for (i = 1; i <= count; i++) {
        file = files[i]
        place = room(file)
        if (!(place in known)) { known[place] = 1; rooms[++places] = place }
        test = for_tests(file) ? lines[file] : inside[file]
        tests[place] += test
        product[place] += lines[file] - test
    }
    # By name: files come in the order of their paths, which is nearly that.
    for (i = 2; i <= places; i++)
        for (j = i; j > 1 && rooms[j] < rooms[j - 1]; j--) {
            place = rooms[j]; rooms[j] = rooms[j - 1]; rooms[j - 1] = place
        }
    printf "%-28s %8s %8s\n", "room", "product", "tests"
    for (i = 1; i <= places; i++) {
        place = rooms[i]
        printf "%-28s %8d %8d\n", place, product[place], tests[place]
        all += product[place]
        all_tests += tests[place]
    }
    printf "%-28s %8d %8d\n", "sum", all, all_tests
}'
