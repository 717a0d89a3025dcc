# SPDX-License-Identifier: Apache-2.0
# An instance within a job of another resource manager, in a place without libcxi, without mcast-node, and
# where the NICs show that something is wrong: only then is anything taken away, and it is said (F6).
# shellcheck shell=bash
. "$(dirname "$0")/nodes.sh"

# ours NAME…: an installation of ours that has these programs, and pieces that find them there
ours() {
    local name
    rm -rf "$dir/ours" && mkdir -p "$dir/ours/bin" "$dir/ours/libexec/mcastd"
    cp -a "$hooks" "$dir/ours/libexec/mcastd/flux"
    cp -a "$etc" "$dir/ours/etc"
    for name; do ln -s "$build/bin/$name" "$dir/ours/bin/$name"; done
    sed -i "s|$hooks|$dir/ours/libexec/mcastd/flux|" "$dir"/ours/etc/rc?.d/mcast "$dir/ours/etc/shell/lua.d/mcast.lua"
}
# within PATH: what a job in such an instance is told
within() {
    env PATH="$1" FLUX_RC_EXTRA="$dir/ours/etc" FLUX_SHELL_RC_PATH="$dir/ours/etc/shell/lua.d" \
        SLINGSHOT_VNIS=4711 SLINGSHOT_DEVICES=cxi0,cxi1 SLINGSHOT_SVC_IDS=7,9 SLINGSHOT_TCS=0x0a \
        flux start flux run -n1 sh -c 'env | grep ^SLINGSHOT_ | sort | paste -sd " "' 2>"$dir/said" || fail "no instance: $(cat "$dir/said")"
}
system=$FLUX_PREFIX/bin:/usr/bin:/bin
whole="SLINGSHOT_DEVICES=cxi0,cxi1 SLINGSHOT_SVC_IDS=7,9 SLINGSHOT_TCS=0x0a SLINGSHOT_VNIS=4711"

expect_whole() { # expect_whole PATH WORDS
    local got
    got=$(within "$1")
    [ "$got" = "$whole" ] || fail "a job is told '$got': $(cat "$dir/said")"
    [ "$(grep -c "handed on unchecked: $2" "$dir/said")" = 1 ] || fail "its user is told: $(cat "$dir/said")"
}
ours mcastctl
expect_whole "$system" "there is no mcast-node"
ours mcastctl mcast-node
expect_whole "$system" ".*libcxi"
ours mcastctl
[ -z "$(within "$dir/bin:$system")" ] || fail "services that are not there are handed on"
grep -q "cxi0 has no service 7" "$dir/said" || fail "its user is told: $(cat "$dir/said")"
