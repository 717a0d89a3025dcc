# SPDX-License-Identifier: Apache-2.0
# An instance within a job of another resource manager: what that has set reaches the instance's jobs as it
# is, with one warning, where nothing can check it: without libcxi, mcast-node or mcastctl, with ones that do
# not work, or without our rc1 script. Only what the NICs show to be wrong is taken away, and it is said (F6).
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
system=$FLUX_PREFIX/bin:/usr/bin:/bin
path=$system also=()
# shellcheck disable=SC2054  # so they are
slingshot=(SLINGSHOT_DEVICES=cxi0,cxi1 SLINGSHOT_SVC_IDS=7,9 SLINGSHOT_TCS=0x0a SLINGSHOT_VNIS=4711)
collectives=(FI_CXI_COLL_FABRIC_MGR_URL=https://fm.example/join FI_CXI_COLL_JOB_ID=pbs-17 FI_CXI_COLL_MCAST_TOKEN=given
    FI_CXI_HWCOLL_ADDRS_PER_JOB=4 FI_CXI_HWCOLL_MIN_NODES=2)
# within VARIABLE…: what a job on all $size nodes of such an instance is told, which was submitted from another
# environment; but for the step, which is its own. Who asks has set path, and rc1 for another.
size=1
within() {
    timeout 600 env -i PATH="$path" HOME="$HOME" LC_ALL=C.UTF-8 FLUX_RC_EXTRA="${rc1-$dir/ours/etc}" FLUX_SHELL_RC_PATH="$dir/ours/etc/shell/lua.d" "${also[@]}" "$@" \
        flux start --test-size=$size env -u FI_CXI_COLL_JOB_ID SLINGSHOT_VNIS=1 \
        flux run -N$size -n$size --label-io env >"$dir/out/env" 2>"$dir/said" || fail "no instance: $(cat "$dir/said")"
    [ "$(grep -c '^[01]: FI_CXI_COLL_JOB_STEP_ID=/f' "$dir/out/env")" = "$(grep -c TOKEN "$dir/out/env")" ] || fail "no steps of their own: $(cat "$dir/out/env")"
    for rank in 0 $((size - 1)); do
        sed -nE "/STEP_ID/d; s/^$rank: ((FI_(CXI|OPX|PSM3)|PSM3|SLINGSHOT)_)/\1/p" "$dir/out/env" | LC_ALL=C sort >"$dir/out/env.$rank"
    done
    cmp "$dir/out/env.0" "$dir/out/env.$((size - 1))" || fail "two nodes are told different things"
    paste -sd ' ' "$dir/out/env.0"
}
# unchanged WORDS VARIABLE…: its jobs have them as they are, and one line says so; no words: and none does
unchanged() {
    local words=$1 got
    shift
    got=$(within "$@")
    [ "$got" = "$(printf '%s\n' "$@" | LC_ALL=C sort | paste -sd ' ')" ] || fail "of $* a job is told '$got': $(cat "$dir/said")"
    grep -i 'mcast' "$dir/said" >"$dir/warnings" || true
    [ "$(wc -l <"$dir/warnings")" = "${words:+1}" ] || [ "$(wc -l <"$dir/warnings")${words:+1}" = 0 ] || fail "its user is told: $(cat "$dir/said")"
    grep -q "handed on unchecked:.*$words" "$dir/warnings" || [ -z "$words" ] || fail "its user is told: $(cat "$dir/said")"
}

echo "# without mcast-node, and without mcastctl"
ours mcastctl
size=2
unchanged "SLINGSHOT_\*: mcast-node cannot be run" "${slingshot[@]}"
size=1
unchanged "" "${collectives[@]}"
unchanged "SLINGSHOT_\*: mcast-node cannot be run" "${collectives[@]}" "${slingshot[@]}"
ours
unchanged "FI_\*: mcastctl cannot be run; SLINGSHOT_\*: mcast-node cannot be run" "${collectives[@]}" "${slingshot[@]}"

echo "# its epilog is set, though its ranks begin only when the leader is through"
# shellcheck disable=SC2016  # for the shell there
env -i PATH="$path" HOME="$HOME" FLUX_RC_EXTRA="$dir/ours/etc" "${collectives[@]}" timeout 600 flux start --test-size=2 sh -c '
    until flux config get job-manager.epilog.command | grep -q nested-epilog && flux jobtap list | grep -q perilog; do sleep 0.1; done
    ' 2>"$dir/said" || fail "no epilog: $(cat "$dir/said")"

echo "# without libcxi, with one that is none, with programs that do not work"
ours mcastctl mcast-node
unchanged "libcxi" "${collectives[@]}" "${slingshot[@]}"
mkdir "$dir/libcxi" && echo none >"$dir/libcxi/libcxi.so.1"
also=(LD_LIBRARY_PATH="$dir/libcxi")
unchanged "libcxi cannot be used" "${slingshot[@]}"
also=()
ours
for name in mcastctl mcast-node; do
    printf '#!/bin/sh\necho "%s: it has faults" >&2\nexit 2\n' $name >"$dir/ours/bin/$name"
    chmod +x "$dir/ours/bin/$name"
done
unchanged "FI_\*: it has faults; SLINGSHOT_\*: it has faults" "${collectives[@]}" "${slingshot[@]}"

echo "# some of them, as no other of ours would set"
ours mcastctl mcast-node
for i in 1 2; do
    unchanged "FI_\*: FI_.* is not set, and others of the outer job are" "${collectives[@]:i:1}"
    unchanged "libcxi" "${slingshot[@]:i:1}"
done
unchanged "" PSM3_PKEY=0x8001 FI_OPX_SL=3

echo "# where our rc1 script did not run, and no variable is there to hand on"
rc1=
unchanged "this instance did not run rc1.d/mcast" "${collectives[@]}" "${slingshot[@]}"
unset rc1
[ -z "$(within UNRELATED=1)$(cat "$dir/said")" ] || fail "where there is nothing it is told: $(cat "$dir/said" "$dir/out/env.0")"

echo "# what the NICs show to be wrong"
path=$dir/bin:$system size=2
[ "$(within "${slingshot[@]}" "${collectives[@]}")" = "${collectives[*]}" ] || fail "services that are not there are handed on: $(cat "$dir/out/env.0")"
[ "$(grep -c "cxi0 has no service 7" "$dir/said")" = 2 ] || fail "its user is told: $(cat "$dir/said")"
