# SPDX-License-Identifier: Apache-2.0
# Sourced after rig/fixture.sh: mcastctl ui beside the broker.
# shellcheck shell=bash disable=SC2154  # $dir is the rig's

ui_listens() { grep -q '^Open this' "$dir/ui.out"; }

# start_ui [OPTION…]: what it prints is in $dir/ui.out (with keys that end with it).
start_ui() {
    : >"$dir/ui.out"
    mcastctl ui "$@" >>"$dir/ui.out" 2>>"$dir/ui.log" &
    others="$! $others"
    until_it "mcastctl ui listens" ui_listens
}

# The address that was printed last, with its key.
ui_address() { sed -n '$s/.*\(http:.*\)/\1/p' "$dir/ui.out"; }

# Opens the session of the address that was printed last: base, port, key, and mine, curl's options.
# shellcheck disable=SC2034  # for who sources this
open_session() {
    local address first
    address=$(ui_address)
    base=${address%%/#*} first=${address##*#}
    port=${base##*:}
    key=$(curl -sS -m 120 "$base/session" -H "Mcast-Key: $first" | sed -n 's/.*"key": *"\([0-9a-f]*\)".*/\1/p')
    mine=(-H "Mcast-Key: $key")
}
