#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What ./dev test says was skipped: skipped_test.sh CTEST. Real runs of ctest, of tests that are
# written here.
set -eu
ctest=$1
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-skipped.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/some" "$dir/none"
cat >"$dir/some/CTestTestfile.cmake" <<'TESTS'
add_test(runs echo "all of it")
add_test(whole sh -c "echo 'skipped: no tool is installed'; exit 77")
add_test(silent sh -c "exit 77")
add_test(words echo "skipped: by its words")
add_test(part sh -c "echo 'skipped: its second half'")
add_test(cases sh -c "echo '[  SKIPPED ] noun__verb'; echo '[  SKIPPED ] 1 test(s), listed below:'; echo '[  SKIPPED ] noun__verb'")
add_test(fails sh -c "echo 'skipped: half'; exit 1")
set_tests_properties(whole silent PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(words PROPERTIES SKIP_REGULAR_EXPRESSION "skipped:")
TESTS
echo 'add_test(runs echo "all of it")' >"$dir/none/CTestTestfile.cmake"
for run in some none; do
    "$ctest" --test-dir "$dir/$run" --output-junit Testing/Temporary/junit.xml >"$dir/log" 2>&1 || true
done
expect() { # expect WANTED NAME=BUILD…
    wanted=$1
    shift
    got=$(sh "$here/skipped.sh" "$@")
    [ "$got" = "$wanted" ] || {
        printf 'skipped.sh says\n%s\ninstead of\n%s\n' "$got" "$wanted" >&2
        exit 1
    }
}
expect "" plain="$dir/none"
expect "whole: no tool is installed (plain)
silent (plain)
words: by its words (plain)
part: its second half (plain)
cases, noun__verb (plain)
fails: half (plain)" plain="$dir/some"
mkdir "$dir/other"
echo 'add_test(part echo "skipped: its second half")' >"$dir/other/CTestTestfile.cmake"
"$ctest" --test-dir "$dir/other" --output-junit Testing/Temporary/junit.xml >"$dir/log" 2>&1
expect "part: its second half (plain, sanitized)" plain="$dir/other" sanitized="$dir/other"
