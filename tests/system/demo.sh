#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev demo: the life of jobs, with the real programs. Also a test: any surprise ends it with 1.
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: demo.sh DIRECTORY_OF_PROGRAMS [--keep]" >&2; exit 2; }
bin=$(readlink -f "$1")
shift
keep=
case ${1:-} in
'') ;;
--keep) keep=yes ;;
*)
    echo "demo: '$1' is unknown; --keep leaves everything running" >&2
    exit 2
    ;;
esac
for program in mcastd mcastctl mock-fm; do
    [ -x "$bin/$program" ] || { echo "demo: $bin/$program is missing; ./dev build" >&2; exit 1; }
done

# ---- what it looks like ----

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
else
    bold='' dim='' green='' red='' plain=''
fi
chapter() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
note() { printf '%s  # %s%s\n' "$dim" "$*" "$plain"; }
good() { printf '%s  ✓ %s%s\n' "$green" "$*" "$plain"; }
fail() {
    printf '%sdemo: %s%s\n' "$red" "$*" "$plain" >&2
    for log in mcastd mock-fm; do
        [ ! -s "$dir/$log.log" ] || { echo "---- end of $log.log"; tail -n 15 "$dir/$log.log"; } >&2
    done
    exit 1
}

# A session token opens a job's trees, so nobody's terminal shall keep one.
mask() { sed -E 's/(MCAST_TOKEN[^A-Za-z0-9]+)[^"'\'' ]+/\1********/; s/(Bearer )[^"'\'' ]+/\1********/'; }

shown() { # a command line as one would type it
    local words='' word
    for word; do
        case $word in
        *[\[\]\ \{\}\"\$\*]*) words+=" '$word'" ;;
        *) words+=" $word" ;;
        esac
    done
    printf '%s$%s%s\n' "$bold" "${words/ $bin\// }" "$plain" | mask
}

# Shows the command, runs it, shows its answer; the answer is left in $answer.
run() {
    shown "$@"
    local status=0
    answer=$("$@" 2>&1) || status=$?
    [ -z "$answer" ] || printf '%s\n' "$answer" | mask | sed 's/^/  /'
    [ $status = 0 ] || fail "that ended with exit status $status"
}

# ---- the programs ----

dir=$(mktemp -d "${TMPDIR:-/tmp}/mcast-demo.XXXXXX")
export no_proxy='*' # nothing here is anywhere but on this host
export MCAST_URL="unix:$dir/mcastd.sock" MCAST_CLUSTER=elcap
broker='' fm=''
# shellcheck disable=SC2317  # called by the trap
tidy_up() {
    local status=$?
    trap - EXIT
    if [ -n "$keep" ] && [ $status = 0 ]; then
        exit 0
    fi
    [ -z "$broker" ] || kill "$broker" 2>/dev/null || true
    [ -z "$fm" ] || kill "$fm" 2>/dev/null || true
    wait
    rm -rf "$dir"
    exit $status
}
trap tidy_up EXIT
trap 'exit 130' INT TERM

until_it() { # until_it WHAT COMMAND…: asks again until it holds, for at most a minute
    local what=$1 end=$((SECONDS + 60))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "$what: not within a minute"
        sleep 0.05
    done
}

start_fm() {
    "$bin/mock-fm" --listen 127.0.0.1:0 --port-file "$dir/port" --auth basic --authdir "$dir" \
        --state "$dir/fm.state" >>"$dir/mock-fm.log" 2>&1 &
    fm=$!
    until_it "mock-fm writes its port" test -s "$dir/port"
    url=http://127.0.0.1:$(cat "$dir/port")
}

link_is_up() {
    kill -0 "$broker" 2>/dev/null || fail "mcastd has ended"
    [[ $("$bin/mcastctl" --json status 2>/dev/null) =~ \"link\":\ ?\"up\" ]]
}

start_broker() {
    "$bin/mcastd" --config "$dir/mcastd.conf" >>"$dir/mcastd.log" 2>&1 &
    broker=$!
    until_it "mcastd reaches the fabric manager" link_is_up
}

fm_asks() { curl -sS --fail-with-body -u "cxi:$(cat "$dir/passwd")" "$url$1"; }
fm_holds() { # names of the jobs that the fabric manager has reservations of
    fm_asks /mock/state | grep -oE '"jobID": ?"[^"]*"' | cut -d'"' -f4 | sort -u | paste -sd ' '
}
fm_holds_only() { [ "$(fm_holds)" = "$1" ]; }

# ---- the demonstration ----

chapter "1. A fabric manager and the broker"
(umask 077 && head -c 18 /dev/urandom | base64 >"$dir/passwd")
start_fm
cat >"$dir/mcastd.conf" <<CONF
[broker]
socket = $dir/mcastd.sock
[state]
path = $dir/state.db
key_file = $dir/state.key
[fm]
url = $url
auth = basic
authdir = $dir
[hwcoll]
min_nodes = 64
total_addresses = 4086
system_nodes = 11136
[vni]
hold = 10m
[cluster "elcap"]
users = $(id -un)
CONF
note "mock-fm plays the fabric manager at $url; mcastd.conf names it:"
sed 's/^/  /' "$dir/mcastd.conf"
shown "$bin/mcastd" --config "$dir/mcastd.conf" '&'
start_broker
run "$bin/mcastctl" status

chapter "2. A job of 128 nodes starts: one VNI, and 23 of 4086 multicast addresses"
note "23 = 4086 / (11136 / 64): as many jobs of the minimum size as fit into the machine share them"
run "$bin/mcastctl" reserve --uid 5588 --nodes 'elcap[1-128]' --cores 96 f2Rs8sydSxmd
note "a job of 2 nodes gets its VNI, but is too small to need collectives in hardware"
run "$bin/mcastctl" reserve --uid 5588 --nodes 'elcap[201-202]' fSmall
run "$bin/mcastctl" env --step 0 f2Rs8sydSxmd
before=$answer

chapter "3. An MPI library in the job makes a multicast tree, with nothing but that environment"
eval "$("$bin/mcastctl" env --step 0 --format sh f2Rs8sydSxmd)"
make_tree() {
    local body
    body=$(printf '{"macs":["1:12:00","1:12:01"],"vni":%s,"timeout":20000000,"jobID":"%s","jobStepID":"%s"}' \
        "$vni" "$FI_CXI_COLL_JOB_ID" "$FI_CXI_COLL_JOB_STEP_ID")
    run curl -sS --fail-with-body -H "Authorization: Bearer $FI_CXI_COLL_MCAST_TOKEN" \
        -d "$body" "$FI_CXI_COLL_FABRIC_MGR_URL"
}
vni=$("$bin/mcastctl" --json show f2Rs8sydSxmd | grep -A1 '"vnis"' | grep -oE '[0-9]+' | head -n 1)
make_tree
[[ $answer == *hwRoot* ]] || fail "no tree was made"

chapter "4. The broker is killed, as by a crash of its host, and started again"
shown kill -9 "$broker"
{ kill -9 "$broker" && wait "$broker"; } 2>/dev/null || true # silences bash's own "Killed"
shown "$bin/mcastd" --config "$dir/mcastd.conf" '&'
start_broker
run "$bin/mcastctl" list
run "$bin/mcastctl" env --step 0 f2Rs8sydSxmd
[ "$answer" = "$before" ] || fail "the job's environment is not what it was before the kill"
good "nothing acknowledged was lost: same reservations, same VNIs, same token"

chapter "5. A job starts and ends while the first one still runs"
run "$bin/mcastctl" reserve --uid 5588 --nodes 'elcap[301-400]' fSecond
[ "$(fm_holds)" = "elcap-f2Rs8sydSxmd elcap-fSecond" ] ||
    fail "the fabric manager holds $(fm_holds)"
good "the fabric manager holds $(fm_holds)"
run "$bin/mcastctl" release fSecond
until_it "the second reservation is deleted" fm_holds_only elcap-f2Rs8sydSxmd
good "in the background it was deleted there; left is $(fm_holds)"

chapter "6. The first job ends: its tree, its addresses and its VNI go back"
run "$bin/mcastctl" release f2Rs8sydSxmd
run "$bin/mcastctl" release fSmall
until_it "all is given back" fm_holds_only ""
grep -qE '"addressesInUse": ?0[,}]' <<<"$(fm_asks /mock/state)" || fail "a tree was left"
good "the fabric manager holds no job and no tree"
run "$bin/mcastctl" status
note "no node reports in this demo, so [vni] hold = 10m keeps the VNIs from other jobs for that long"

if [ -n "$keep" ]; then
    chapter "Everything is left running. To talk to it:"
    cat <<TEXT
  export PATH=$bin:\$PATH MCAST_URL=$MCAST_URL MCAST_CLUSTER=elcap
  mcastctl status
  mcastctl reserve --uid $(id -u) --node-count 128 myjob
  curl -u "cxi:\$(cat $dir/passwd)" $url/mock/state    # what the fabric manager holds
  tail -f $dir/mcastd.log
  kill $broker $fm && rm -r $dir    # stop it
TEXT
    disown -a
    exit 0
fi

chapter "Stopping"
shown kill -TERM "$broker"
kill -TERM "$broker"
wait "$broker" || fail "mcastd ended with status $?"
broker=''
kill -TERM "$fm"
wait "$fm" || fail "mock-fm ended with status $?"
fm=''
! grep -qaE 'sess-[0-9a-f]{32}' "$dir"/*.log "$dir"/state.db* || fail "a token stands in a log or in the ledger"
good "no token stands in a log, and none in the ledger but sealed"
good "both programs ended by themselves with exit status 0; nothing is left behind"
