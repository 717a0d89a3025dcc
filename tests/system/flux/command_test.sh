#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# flux mcast, as a user meets it: a job that is too small, that found no addresses left, whose broker or
# fabric manager is away, that lost what it had; and what Flux's owner cleans up (F9 F14 F20 F22).
# shellcheck source=tests/system/flux/fixture.sh
. "$(dirname "$0")/fixture.sh"
unset FLUX_SHELL_RC_PATH # the shells' part is another's to test
export FLUX_EXEC_PATH=$build/libexec/flux/cmd
prepare
sed -i 's/^min_nodes = 2/min_nodes = 2\ntotal_addresses = 30/' "$dir/mcastd.conf"
kill_broker
start_broker

# expect WORDS… -- ARGUMENTS…: what flux mcast prints with these arguments has each of the words
expect() {
    local words=() word said status=0
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    said=$(flux mcast "$@" 2>&1) || status=$?
    for word in "${words[@]}"; do
        [[ $said == *"$word"* ]] || fail "flux mcast $* does not say '$word' but (status $status): $said"
    done
    return $status
}
plain() { flux job id --to=f58plain "$1"; }
start_job() { # sets id
    id=$(flux submit "$@" sleep inf)
    flux job wait-event --quiet --timeout=180 "$id" start >/dev/null || fail "no start: $*"
}
ended() { flux job wait-event --quiet --timeout=180 "$1" clean >/dev/null || fail "$1 does not end"; }

# Whichever way this Flux asks the broker, the answers are the same.
if [ -e "$build/lib/flux/mcast.so" ]; then
    cat >"$dir/etc/flux.toml" <<CONF
[job-manager]
plugins = [{ load = "$build/lib/flux/mcast.so", conf = { cluster = "elcap", "patience" = 2 } }]
CONF
    way="job manager's plugin"
else
    flux_conf "\"$hooks/prolog\", \"--cluster\", \"elcap\", \"--patience\", \"2\"" "\"$hooks/epilog\", \"--cluster\", \"elcap\""
    way="prolog and epilog"
fi
start_flux 4
setsid "$hooks/raise-lost" --cluster elcap --state "$dir/last-event" >>"$dir/flux.log" 2>&1 &
others="-$! $others"
unset MCAST_CLUSTER # found by Flux's configuration

echo "# a job that has all, by each form of its id"
start_job -N2
all=$id
for form in "$all" "$(plain "$all")" "$(flux job id --to=dec "$all")" "$(flux job id --to=hex "$all")" "$(flux job id --to=kvs "$all")"; do
    expect "VNIs         1024" "23 multicast addresses" -- explain "$form"
done
expect "VNIs             1024" "23 addresses" "elcap/$(plain "$all")" -- jobinfo --jobid "$all"
FLUX_JOB_ID=$all expect '"vnis"' '1024' '"nodes": "n[0-1]"' -- jobinfo --json
expect "$(plain "$all" | cut -c 2-)" "23 addresses" -- list
expect '"subject": "VNIs"' -- explain --json "$all"
token=$(flux job info "$all" mcast | sed -n 's/.*"FI_CXI_COLL_MCAST_TOKEN": *"\([^"]*\)".*/\1/p')
[ -n "$token" ] || fail "the job has no token"
for command in explain jobinfo list status; do
    case $command in explain | jobinfo) set -- "$all" ;; *) set -- ;; esac
    ! flux mcast $command --json "$@" | grep -qF "$token" || fail "$command shows the token"
done
expect "asks it by: $way" "Fabric manager   up" "23 of 30 in use, 23 a job: enough for 0 more" -- status

echo "# too small, and nothing left"
start_job -N1
expect "the job has 1 node" "at least 2 nodes (-N)" -- explain "$id"
flux cancel "$id"
ended "$id"
start_job -N2
expect "in use, 23 more are not left" "wait until jobs" -- explain "$id"
said=$(flux jobs -no '{user.mcast.summary}' "$id")
[[ $said == *"no addresses: "*"in use"* ]] || fail "Flux says of a job without addresses: $said"
flux cancel "$id"
ended "$id"
id=$(flux submit -N2 -o mcast.hwcoll=required true)
ended "$id"
expect "Refused" "in use, 23 more are not left" "it would have run, without them" -- explain "$id"
id=$(flux submit -o mcast=off true)
ended "$id"
expect "submitted with -o mcast=off" -- explain "$id"

echo "# lost"
fm_asks -X POST "$url/mock/forget" >/dev/null
kill_broker # it looks when it comes up
start_broker
ended "$all"
expect "because its multicast addresses were lost" "lost at 20" "submit the job again" -- explain "$all"

echo "# the fabric manager is away"
kill "$fm"
wait "$fm" || true
fm=
link_is_down() { [[ $(mcastctl --json status) != *'"link": "up"'* ]]; }
until_it "the broker notices" link_is_down
start_job -N2
expect "VNIs         10" "at the job's start: the link" "not reached now either" -- explain "$id"
expect "Fabric manager   down" -- status
start_fm
until_it "the link is up" link_is_up
expect "it is reached now: submit the job again" -- explain "$id"

echo "# the broker is away"
kill_broker
expect "VNIs         10" "does not answer now: cannot reach mcastd" -- explain "$id"
expect "as it was at the job's start" -- jobinfo "$id"
status=0
expect "cannot reach mcastd" "tell the administrator" -- status || status=$?
[ $status = 4 ] || fail "without a broker the exit status is $status"
refused=$(flux submit -N2 true)
ended "$refused"
expect "Refused      cannot reach mcastd" "not answer now either" -- explain "$refused"

echo "# what ended without a broker is cleaned up"
flux cancel "$id"
ended "$id"
# Nothing of ours releases from now on.
flux jobtap remove mcast.so 2>/dev/null || true
sed -i 's/^command.*epilog.*/command = ["true"]/' "$dir/etc/flux.toml"
[ "$way" != "prolog and epilog" ] || flux config reload
start_broker
if [ "$(mcastctl list --cluster elcap --state active --json | grep -c "$(plain "$id")")" = 1 ]; then
    expect "would be released" -- clean --dry-run
    expect "is over: released" -- clean
fi
running=$(flux submit sleep inf)
flux job wait-event --quiet "$running" start >/dev/null
mcastctl show --cluster elcap "$(plain "$running")" >/dev/null 2>&1 ||
    mcastctl reserve --cluster elcap --uid "$(id -u)" --nodes n0 "$(plain "$running")" >/dev/null
mcastctl reserve --cluster elcap --uid "$(id -u)" --nodes n1 f999 >/dev/null
# Of a job of this id, but not of this user: another Flux's.
mcastctl reserve --cluster elcap --uid 4711 --nodes n1 "$(plain "$all")" >/dev/null
expect "999: Flux has no such job" "$(plain "$all" | cut -c 2-): Flux has no such job of uid 4711: left alone" -- clean
! expect "does not ask mcastd as cluster other" -- clean --cluster other || fail "another cluster is cleaned"
mcastctl release --cluster elcap "$(plain "$all")" >/dev/null
! expect "is not over" -- clean "$running" || fail "a job that runs was released"
mcastctl release --cluster elcap f999 >/dev/null
flux cancel "$running"
ended "$running"
expect "is over: released" -- clean

echo "# what there is not"
for id in junk f1234 /f1/f2; do
    ! flux mcast explain "$id" >"$dir/err" 2>&1 || fail "$id is explained"
    grep -q '^flux-mcast: ' "$dir/err" || fail "$id: $(cat "$dir/err")"
done
! FLUX_URI=local:///nowhere expect "no Flux answers here" -- explain f1 || fail "without Flux it ends well"
export MCAST_CLUSTER=elcap
expect_clean
