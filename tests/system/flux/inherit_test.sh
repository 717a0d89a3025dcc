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
wish=(-n1)
# within PATH: what a job in such an instance is told
within() {
    env PATH="$1" FLUX_RC_EXTRA="$dir/ours/etc" FLUX_SHELL_RC_PATH="$dir/ours/etc/shell/lua.d" \
        SLINGSHOT_VNIS=4711 SLINGSHOT_DEVICES=cxi0,cxi1 SLINGSHOT_SVC_IDS=7,9 SLINGSHOT_TCS=0x0a \
        flux start flux run "${wish[@]}" -n1 sh -c 'env | grep ^SLINGSHOT_ | sort | paste -sd " "' 2>"$dir/said" ||
        [ -n "${may_fail:-}" ] || fail "no instance: $(cat "$dir/said")"
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

# ---- what a job within wishes, of what its instance has
ours mcastctl
given() { # given WISH WORDS
    wish=(-o "$1")
    local got
    got=$(within "$system")
    [ "$got" = "$2" ] || fail "with $1 a job is told '$got': $(cat "$dir/said")"
}
given mcast=off ""
given mcast=on "$whole"
given mcast.vnis=0 ""
given mcast.vnis=1 "$whole"
given mcast.hwcoll=off "$whole"
may_fail=yes
refused() { # refused WISH WORDS
    wish=(-o "$1")
    [ -z "$(within "$system")" ] || fail "a job with $1 runs"
    grep -qF -- "$2" "$dir/said" || fail "with $1 its user is told: $(cat "$dir/said")"
}
refused mcast.vnis=2 "the instance around this job has 1"
refused mcast.vnis=few "-o mcast.vnis is a number from 0 to 4"
refused mcast.hwcoll=required "are required but not available"
refused mcast.hwcoll=yes "-o mcast.hwcoll is auto, on, off or required"
refused mcast.tc=best_effort "is chosen for the instance around this job"
refused mcast.hwcol=on "knows vnis and hwcoll within an instance"
refused mcast=of "-o mcast is on or off"
