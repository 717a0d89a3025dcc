#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The job manager's plugin in a real Flux: grants, refusals, a broker that is stopped, killed and away,
# cancels, a plugin that comes late (F14, F16, F18, F20, F21).
#
#   MCAST_FLUX_JOBS=1000   so many jobs at once while the broker is killed (100)
#   MCAST_FLUX_TIMES=1     measure, too, what the plugin adds to `flux run true`
# shellcheck source=tests/system/flux/fixture.sh
. "$(dirname "$0")/fixture.sh"
plugin=$build/lib/flux/mcast.so
[ -e "$plugin" ] || skip "the plugin was not built (PKG_CONFIG_PATH=$FLUX_PREFIX/lib/pkgconfig)"

# The shells' part is another's to test: here it is in the way of one job only.
shell_rc=$FLUX_SHELL_RC_PATH
unset FLUX_SHELL_RC_PATH

load() { flux jobtap load "$plugin" "$@"; } # load NAME=VALUE…
reload() { flux jobtap remove mcast.so && load "$@"; }
state_of() { flux jobs -no '{state}' "$1"; }
in_state() { [ "$(state_of "$1")" = "$2" ]; }
has_event() { flux job eventlog "$1" | grep -q "$2"; }
plain() { flux job id --to=f58plain "$1"; }
holds() { mcastctl show "$(plain "$1")" --json 2>/dev/null | grep -q '"state": *"active"'; }
last_refusal() { flux job eventlog "$1" | sed -n 's/.* exception type="mcast" severity=0 //p'; }

# expect_refused WORDS COMMAND…: the job fails before it starts, and its user is told.
expect_refused() {
    local words=$1 id told
    shift
    id=$("$@") || fail "'$*' was not taken"
    ! flux job status "$id" >/dev/null 2>&1 || fail "'$*' ran"
    ! has_event "$id" ' start$' || fail "'$*' was started"
    told=$(last_refusal "$id")
    flux job eventlog "$id" | grep 'mcast status="refused"' | grep -qF -- "$words" || fail "no event says why '$*' is refused"
    [[ $told == *"$words"* ]] || fail "'$*' is told '$told', not '$words'"
}

# ---- installed, it finds Flux's libraries where Flux is: a job manager that cannot load it does not start
DESTDIR=$dir/installed cmake -DCMAKE_INSTALL_PREFIX=/usr -P "$build/deploy/flux/jobtap/cmake_install.cmake" >/dev/null
needs=$(env -u LD_LIBRARY_PATH ldd "$(find "$dir/installed" -name mcast.so)")
[[ $needs == *libflux-hostlist* ]] || fail "the installed plugin needs: $needs"
! grep -q 'libflux.*not found' <<<"$needs" || fail "the installed plugin lacks: $needs"

prepare
cat >"$dir/etc/flux.toml" <<CONF
[job-manager]
plugins = [{ load = "perilog.so" }, { load = "$plugin", conf = { cluster = "elcap" } }]
[job-manager.epilog]
command = ["sh", "-c", "for i in \$(seq 1200); do [ -e $dir/epilog-waits ] || break; sleep 0.05; done"]
CONF
start_flux 2

echo "# a job is granted what it asks for, it is published before the job starts, and it ends clean"
# Whoever sees that it was started sees what it was granted; other nodes may see both a moment later.
# shellcheck disable=SC2016  # for the shell of the job
flux run -N2 -o mcast.vnis=2 sh -c '
    if [ "$FLUX_TASK_RANK" = 0 ]; then
        flux job wait-event -q -t 60 "$FLUX_JOB_ID" start && flux job info "$FLUX_JOB_ID" mcast >"$0.0"
    else
        until flux job info "$FLUX_JOB_ID" mcast >"$0.1"; do sleep 0.1; done
    fi' "$dir/out/granted" 2>"$dir/err" || fail "the job failed: $(cat "$dir/err")"
id=$(flux job last)
cmp "$dir/out/granted.0" "$dir/out/granted.1"
grep -q "\"FI_CXI_COLL_JOB_ID\": *\"elcap-$(plain "$id")\"" "$dir/out/granted.0" || fail "another job's: $(cat "$dir/out/granted.0")"
has_event "$id" 'memo mcast={"number":[0-9]*,"vnis":\[[0-9]*,[0-9]*\],"hwcoll":"reserved"' || fail "no memo"
token=$(sed -n 's/.*"FI_CXI_COLL_MCAST_TOKEN": *"\([^"]*\)".*/\1/p' "$dir/out/granted.0")
[ -n "$token" ] || fail "no token was published"
! flux job eventlog "$id" | grep -qF "$token" || fail "the token stands in the eventlog"
! grep -qF "$token" "$dir/flux.log" || fail "the token stands in the log"
said=$(flux job wait-event -t 60 "$id" mcast) # as flux-mcast(1) has it
[[ $said == *'mcast status="reserved" number='*' vnis=[1024,1025] hwcoll="reserved" addresses=23'* ]] || fail "the first event says: $said"
said=$(flux job wait-event -t 60 -m status=reserved "$id" mcast) || fail "no event tells what was reserved"
[[ $said == *'vnis=[1024,1025]'*'hwcoll="reserved"'* ]] || fail "the event says: $said"
flux job wait-event -t 60 -m status=releasing "$id" mcast >/dev/null || fail "no event tells of the release"
mkdir -p "$dir/xdg/flux" && cp "$(dirname "$0")/../../../deploy/flux/flux-jobs.toml" "$dir/xdg/flux/"
said=$(XDG_CONFIG_DIRS=$dir/xdg flux jobs -o mcast "$id")
[[ $said == *"VNIs 1024,1025, 23 addresses" ]] || fail "flux jobs -o mcast says: $said"
FLUX_SHELL_RC_PATH=$shell_rc flux run -N2 env >"$dir/out/env"
[ "$(grep -c '^FI_CXI_COLL_MCAST_TOKEN=.' "$dir/out/env")" = 2 ] || fail "the tasks are not told: $(cat "$dir/out/env")"
expect_clean

echo "# a job that wants nothing is left alone"
flux run -o mcast=off true
! has_event "$(flux job last)" 'description="mcast"' || fail "a job that wants nothing was held"
has_event "$(flux job last)" 'mcast status="off" vnis=\[\]' || fail "no event says that it wants nothing"

echo "# who cannot have it is told in words"
expect_refused "-o mcast.vnis is a number from 0 to 4" flux submit -o mcast.vnis=9 true
expect_refused "-o mcast.tc is one or more of best_effort, low_latency" flux submit -o mcast.tc=best_efort true
expect_refused "hardware collectives" flux submit -N1 -o mcast.hwcoll=required true
expect_clean

echo "# what ran is released when its processes have ended, not when it is cancelled"
id=$(flux submit -N1 sh -c "trap 'until [ -e $dir/go ]; do sleep 0.1; done; exit 1' TERM
    touch $dir/up
    while :; do sleep 0.1; done")
until_it "the job runs" test -e "$dir/up"
holds "$id" || fail "a running job holds nothing"
queried() { flux jobtap query mcast.so >"$dir/query" && jq -e "$1" <"$dir/query" >/dev/null; }
queried ".jobs.$(plain "$id").vnis | length == 1" || fail "a query does not tell what the job has: $(cat "$dir/query")"
flux cancel "$id"
until_it "it is being cancelled" in_state "$id" CLEANUP
holds "$id" || has_event "$id" ' finish ' || fail "released before its processes have ended"
until_it "a query tells of the broker" queried '.broker | .answers and .link == "up" and .vnis.numbers == "1024-65535"'
touch "$dir/go"
expect_clean

echo "# a release that the broker refuses is an event of the job, while that is there"
touch "$dir/epilog-waits"
id=$(flux submit -N1 sleep inf)
flux job wait-event -q -t 60 "$id" start
cp "$dir/mcastd.conf" "$dir/mcastd.conf.before"
kill_broker
sed -i 's/^users = .*/users = daemon/; s/^socket_mode.*/&\nadmins = daemon/' "$dir/mcastd.conf"
start_broker
flux cancel "$id"
said=$(flux job wait-event -t 60 -m status=unreleased "$id" mcast) || fail "no event tells that it is not released: $(flux job eventlog "$id")"
[[ $said == *'status="unreleased" reason="'*'may not do this'* ]] || fail "the event says: $said"
rm "$dir/epilog-waits"
flux job wait-event -q -t 60 "$id" clean
kill_broker
cp "$dir/mcastd.conf.before" "$dir/mcastd.conf"
start_broker
holds "$id" || fail "the broker has let it go"
mcastctl release "$(plain "$id")" >/dev/null
expect_clean

echo "# a broker that is stopped holds up nobody else, and a held job can be cancelled"
kill -STOP "$broker"
id=$(flux submit -N1 true)
until_it "the job is held" has_event "$id" 'prolog-start description="mcast"'
flux run -o mcast=off true || fail "the job manager does not serve others"
flux cancel "$id"
flux job wait-event -t 60 "$id" clean >/dev/null || fail "a held job cannot be cancelled"
kill -CONT "$broker"
expect_clean

echo "# a broker that is killed and comes back fails nobody (F20)"
kill_broker
id=$(flux submit -N2 true)
until_it "the job is held" has_event "$id" 'prolog-start description="mcast"'
start_broker
flux job status "$id" || fail "the job was failed by a restart"
expect_clean

echo "# jobs at once, the broker killed among them"
jobs=${MCAST_FLUX_JOBS:-100}
flux submit --quiet --job-name=crowd --cc="1-$jobs" -N1 -n1 true
until_it "some have ended" sh -c "[ \$(flux jobs -n --filter=inactive -o '{id}' -c 0 | wc -l) -gt $((jobs / 10)) ]"
kill_broker
start_broker
flux queue drain --timeout=300s || fail "not all jobs have ended"
failed=$(flux jobs -n -c 0 --filter=failed --name=crowd -o '{id.f58plain}: {exception.note}')
[ -z "$failed" ] || fail "failed by the restart: $failed"
[ "$(flux jobs -n -c 0 --filter=completed --name=crowd -o '{id}' | wc -l)" = "$jobs" ] || fail "not all of them ran"
expect_clean

echo "# a plugin that comes late sees to the end of those that run"
flux jobtap remove mcast.so
id=$(flux submit -N1 sleep inf)
until_it "the job runs" has_event "$id" ' start$'
mcastctl reserve --uid "$(id -u)" --node-count 1 "$(plain "$id")" >/dev/null
load cluster=elcap
flux cancel "$id"
expect_clean

echo "# a broker that stays away: who needs VNIs is refused, others go on"
reload cluster=elcap patience=1
kill -STOP "$broker" # it takes what it is asked, and is silent
expect_refused "did not answer within 1000 ms" flux submit -N1 true
kill -CONT "$broker"
expect_clean
kill_broker
expect_refused "cannot reach mcastd" flux submit -N1 true
expect_refused "cannot reach mcastd" flux submit -N1 -o mcast.vnis=0 -o mcast.hwcoll=required true
flux run -N1 -o mcast.vnis=0 true || fail "a job that needs no VNI was refused"
reload cluster=elcap patience=1 optional=true
flux run -N1 true || fail "a job was refused where the site lets it run without"
has_event "$(flux job last)" 'mcast status="without" .*cannot reach' || fail "no event says that it runs without"
until_it "a query tells that the broker is away" queried '.broker | (.answers | not) and (.error | contains("cannot reach"))'
expect_refused "cannot reach mcastd" flux submit -N1 -o mcast.hwcoll=required true
start_broker
expect_clean

echo "# what is wrong with its conf is said when it is loaded"
flux jobtap remove mcast.so
for words in cluster=el-cap "cluster=elcap patience=0" "cluster=elcap colour=red"; do
    # shellcheck disable=SC2086  # they are words
    said=$(load $words 2>&1) && fail "loaded with $words"
    [[ $said == *"mcast: "*conf* ]] || fail "with $words it says '$said'"
done

if [ -n "${MCAST_FLUX_TIMES:-}" ]; then
    load cluster=elcap
    # From alloc to start, the median, jobs with and without in turn: what else goes on hits both.
    spent() {
        flux run "$@" true
        flux job eventlog --format=json "$(flux job last)" | jq -s \
            'map({(.name): .timestamp}) | add | (.start - .alloc) * 1000'
    }
    for nodes in 1 2; do
        rm -f "$dir/with" "$dir/without"
        for _ in $(seq 100); do
            spent -N$nodes -o mcast=off >>"$dir/without"
            spent -N$nodes >>"$dir/with"
        done
        for each in without with; do
            printf '%s node(s), %s: %.1f ms from alloc to start\n' $nodes $each \
                "$(sort -g "$dir/$each" | sed -n 50p)"
        done
    done
fi
