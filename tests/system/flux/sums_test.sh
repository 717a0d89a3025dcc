# SPDX-License-Identifier: Apache-2.0
# The job manager's plugin on a real Flux of four nodes: one request reserves and brings the launch document,
# one tells of all clean nodes, and one releases (S5, G20). What the plugin cannot tell of, a node whose
# broker died or one with services that stay, waits for that node's own word (F3, I1).
# shellcheck shell=bash
nodes=4
. "$(dirname "$0")/nodes.sh"
plugin=$build/lib/flux/mcast.so
[ -e "$plugin" ] || skip "the plugin was not built (PKG_CONFIG_PATH=$FLUX_PREFIX/lib/pkgconfig)"
[ "$(id -u)" = 0 ] || skip "only root may decode a launch document"
[ -x /usr/sbin/munged ] || skip "there is no munged"
export FLUX_MCAST_PUBLISHED=plugin
hold=reports
start_munged
prepare
# An epilog that waits first while $dir/wait.RANK is there, as one that has more to do.
cat >"$dir/epilog" <<SH
#!/bin/sh
rank=\$(flux getattr rank)
while [ -e "$dir/wait.\$rank" ]; do echo \$\$ >"$dir/waits.\$rank" && sleep 0.05; done
exec "$etc/system/epilog.d/mcast"
SH
chmod +x "$dir/epilog"
cat >"$dir/etc/flux.toml" <<CONF
[job-manager]
plugins = [{ load = "perilog.so" }, { load = "$plugin", conf = { cluster = "elcap" } }]
[job-manager.prolog]
command = ["$etc/system/prolog.d/mcast"]
per-rank = true
[job-manager.epilog]
command = ["$dir/epilog"]
per-rank = true
[job-manager.housekeeping]
command = ["$etc/system/housekeeping.d/mcast"]
CONF
start_flux 4 -Sbroker.exit-norestart=0 --test-exit-mode=leader

held() { mcastctl list --held 2>&1; }
start() { # start [NODES]: a job on all nodes, in $id
    id=$(flux submit -N"${1:-4}" -n"${1:-4}" sleep inf)
    flux job wait-event --quiet --timeout=180 "$id" start >/dev/null || fail "it does not start: $(flux job eventlog "$id")"
}
clean() { flux job wait-event --quiet --timeout=180 "$id" clean >/dev/null || fail "it does not end: $(flux job eventlog "$id")"; }
# "…/jobs/{job}" and what is below it, by which no test asks here
asked() { requests '/jobs/{'; }
# Requests that the fabric manager has answered and that changed something: POST, DELETE, PATCH.
changed() { fm_asks "$url/mock/log" | grep -oE '"method": ?"[A-Z]+"' | grep -cv GET || true; }

own_words() { requests '/jobs/{}/nodes/'; } # reports of a node about itself

# one_job: no node reports by itself. True: all nodes are told of by one request, as where they are ready
# within a second of each other. On a busy host they may not be, and are told of by more.
one_job() {
    local before changes own kind cost
    local -A after
    before=$(asked)
    changes=$(changed)
    own=$(own_words)
    for kind in "${kinds[@]}"; do after[$kind]=$(requests "$kind"); done
    start
    [ $(($(asked) - before)) = 1 ] || fail "$(($(asked) - before)) requests until the job starts"
    [ $(($(changed) - changes)) = 1 ] || fail "$(($(changed) - changes)) at the fabric manager until the job starts"
    services_are 4 2 2 2 || fail "not all nodes have services"
    flux job info "$id" mcast | grep -q '"launch":"MCASTM\.' || fail "no document was published"
    flux cancel "$id"
    clean
    until_it "all VNIs are free" nothing_held
    services_are 0 0 0 0 || fail "services are left"
    [ "$(own_words)" = "$own" ] || fail "$(($(own_words) - own)) nodes reported themselves"
    for kind in "${kinds[@]}"; do
        [ "$(requests "$kind")" = $((${after[$kind]} + 1)) ] || fail "$(($(requests "$kind") - ${after[$kind]})) requests $kind"
    done
    until_it "the fabric manager has given it back" fm_holds_nothing
    [ $(($(changed) - changes)) = 2 ] || fail "$(($(changed) - changes)) at the fabric manager for a job"
    cost=$(($(asked) - before))
    echo "requests for a job of four nodes: 1 until its first process, $cost in all"
    [ $cost = 3 ]
}
kinds=('PUT",route="/v1/clusters/{}/jobs/{}",' 'DELETE",route="/v1/clusters/{}/jobs/{}",')

echo "# one request until the first process, three until all is over"
tries=1
until one_job; do
    [ $tries -lt 5 ] || fail "each of $tries jobs took more than three requests"
    tries=$((tries + 1))
done

echo "# what the nodes' NICs have counted is in the sum, and costs no request (P6)"
for rank in 0 1 2 3; do
    echo "sysfs = $dir/node$rank/sysfs" >>"$dir/node$rank.conf"
    nics "$rank" 2 'sysfs = yes\n[nic]\ntx_octets = 1000\n'
done
own=$(own_words)
start
for rank in 0 1 2 3; do # the mock writes its files when it is asked for the NICs
    nics "$rank" 2 "sysfs = yes\n[nic]\ntx_octets = 1100\n[cxi1]\ntx_octets = $((1100 + rank))\npaused = 7\n"
    MOCK_RANK=$rank command mcast-node list >/dev/null
done
flux cancel "$id"
clean
until_it "all VNIs are free" nothing_held
[ "$(own_words)" = "$own" ] || fail "$(($(own_words) - own)) nodes reported a job with traffic themselves"
mcastctl --json traffic "$(flux job id --to=f58plain "$id")" >"$dir/traffic"
for words in '"nodes": 4,' '"tx_octets": 806,' '"paused": 28,' '"shared": 0,' '"lacking": \[\]'; do
    grep -q "$words" "$dir/traffic" || fail "traffic lacks $words: $(cat "$dir/traffic")"
done
tr -d ' \n' <"$dir/traffic" | grep -q '"slowest":{"node":"n0","device":"cxi0","octets":100}' ||
    fail "the slowest NIC is another: $(cat "$dir/traffic")"
for rank in 0 1 2 3; do nics "$rank" 2; done

echo "# a job that wants nothing costs the broker nothing"
before=$(asked)
flux run -N4 -o mcast=off true || fail "a job that wants nothing fails"
wants_nothing=$(flux job last)
flux job wait-event --quiet --timeout=180 "$wants_nothing" clean >/dev/null
housekept() { [ -z "$(flux housekeeping list -n)" ]; }
until_it "housekeeping is over" housekept
[ "$(asked)" = "$before" ] || fail "$(($(asked) - before)) requests for a job that wants nothing"

echo "# the owner's word counts, and no other's"
start
number=$(flux job info "$id" mcast | jq .number)
for words in "other $id $number n0" "elcap $id $number n[0-1]" "elcap f1 $number n0" "elcap x $number n0"; do
    # shellcheck disable=SC2086  # they are words
    ! "$hooks/tell" $words 2>"$dir/err" || fail "'$words' is taken"
done
flux cancel "$id"
clean
until_it "all VNIs are free" nothing_held

echo "# a service that stays is not told as gone: its node says so, and when it is"
nics 1 2 '[fault stuck]\ncall = destroy_svc\nnic = cxi1\nerrno = EBUSY\n'
start
flux cancel "$id"
clean
lingers() { held | grep -q 'n1 (lingering'; }
until_it "the broker knows of it" lingers
! held | grep -qE 'n[023]' || fail "clean nodes are waited for: $(held)"
nics 1 2
MOCK_RANK=1 command mcast-node clean >/dev/null || fail "clean fails"
until_it "its own word frees the VNIs" nothing_held
drained() { [ "$(flux resource drain -n -o '{ranks}')" = 1 ]; }
until_it "housekeeping has drained it" drained
flux resource undrain 1

echo "# a node whose broker dies in its epilog: Flux takes that for a good end, and no sum names it"
touch "$dir/wait.3"
start
flux cancel "$id"
until_it "its epilog is there" test -s "$dir/waits.3"
kill -9 "$(flux exec -r 3 flux getattr broker.pid)" "$(cat "$dir/waits.3")"
clean
flux job eventlog "$id" | grep -q 'epilog-finish.*status=0' || echo "(this Flux says: $(flux job eventlog "$id" | grep epilog-finish))"
waits_for_it() { held | grep -q 'n3' && ! held | grep -qE 'n[012]'; }
until_it "the broker waits for that node alone: $(held)" waits_for_it
services_are 0 0 0 2 || fail "it has $(services 3) services"
MOCK_RANK=3 mcast-node epilog --job "$(flux job id --to=f58plain "$id")"
until_it "its own word frees the VNIs" nothing_held

echo "# with the broker away nodes keep their reports, and send them"
start 3
kill -STOP "$broker"
flux cancel "$id"
kill_broker
clean
until_it "housekeeping is over, which would send them" housekept
start_broker
expect_clean
waits_for_nodes() { held | grep -qE 'n\[?[0-2]'; }
waits_for_nodes || fail "no node is waited for: $(held)"
for rank in 0 1 2; do MOCK_RANK=$rank mcast-node tend; done
! waits_for_nodes || fail "nodes are waited for that have reported: $(held)"
