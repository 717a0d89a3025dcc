#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# python.sh PAGE: the Python of docs/tokens.md makes the third token of its vectors from the first.
set -eu
command -v python3 >/dev/null || {
    echo "there is no python3"
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk '/^```python$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1" >"$folder/narrow.py"
[ -s "$folder/narrow.py" ]
vector() { sed -n "s/^$1   *\(mcast1\.[^ ]*\)\$/\1/p" "$page"; }
page=$1
given=$(vector token)
wanted=$(vector 'token, all three')
[ -n "$given" ]
[ -n "$wanted" ]
made=$(printf '%s\n' "$given" | python3 "$folder/narrow.py")
[ "$made" = "$wanted" ] || {
    printf 'it made\n%s\nand not\n%s\n' "$made" "$wanted"
    exit 1
}
