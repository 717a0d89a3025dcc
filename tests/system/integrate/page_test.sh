#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/integrate.md: its commands and its program are run as they stand there, and print what it says;
# it has a word on each answer. page_test.sh BUILD SOURCES CC…
command -v python3 >/dev/null || {
    echo "skipped: there is no python3"
    exit 77
}
# shellcheck source=tests/system/integrate/fixture.sh
. "$(dirname "$0")/fixture.sh"
prepare
shift 2
python3 "$sources/tests/system/integrate/page.py" "$sources/docs/integrate.md" "$dir" "$sources" "$@" ||
    fail "the page is wrong (above)"
