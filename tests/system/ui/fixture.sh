# SPDX-License-Identifier: Apache-2.0
# Sourced after rig/fixture.sh: mcastctl ui beside the broker.
# shellcheck shell=bash disable=SC2154  # $dir is the rig's

ui_listens() { grep -q '^Open this' "$dir/ui.out"; }

# start_ui: what it prints is in $dir/ui.out (with keys that end with it).
start_ui() {
    : >"$dir/ui.out"
    mcastctl ui >>"$dir/ui.out" 2>>"$dir/ui.log" &
    others="$! $others"
    until_it "mcastctl ui listens" ui_listens
}

# The address that was printed last, with its key.
ui_address() { sed -n '$s/.*\(http:.*\)/\1/p' "$dir/ui.out"; }
