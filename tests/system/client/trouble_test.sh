#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# trouble_test.sh BUILD: a broker and its fabric manager in ten kinds of trouble, one after another: what is
# wrong, since when and what to do stand in `mcastctl status` and in one line of the log; then all at once,
# the worst first (B5). The words of each fault: unit/cli_verdict.
build=$1
export PATH=$build/bin:$PATH
command -v openssl >/dev/null || {
    echo "skipped: openssl is not installed" >&2
    exit 0
}
trap '' XFSZ # the broker gets an error when it may not write more
# shellcheck source=tests/system/rig/fixture.sh
source "$(dirname "$0")/../rig/fixture.sh"

list=$dir/list # which jobs of tuo are active
printf '#!/bin/sh\n[ ! -e %s.broken ] || { echo "slurmctld is away" >&2; exit 1; }\necho b\n' "$list" >"$list"
chmod 755 "$list"
# A certificate that is over in a quarter of a minute.
mkdir "$dir/conf.d" "$dir/certs"
: >"$dir/certs/index"
echo 01 >"$dir/certs/serial"
printf '%s\n' '[ca]' 'default_ca = own' '[own]' "database = $dir/certs/index" "serial = $dir/certs/serial" \
    "new_certs_dir = $dir/certs" 'default_md = sha256' 'policy = any' '[any]' 'commonName = supplied' >"$dir/ca.conf"
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=broker -keyout "$dir/tls.key" \
    -out "$dir/tls.csr" 2>>"$dir/openssl.log"
chmod 600 "$dir/tls.key"
openssl ca -batch -notext -selfsign -keyfile "$dir/tls.key" -in "$dir/tls.csr" -out "$dir/tls.pem" -config "$dir/ca.conf" \
    -startdate 20200101000000Z -enddate "$(date -u -d '+15 sec' +%Y%m%d%H%M%SZ)" 2>>"$dir/openssl.log"
cat >"$dir/conf.d/trouble.conf" <<CONF
[broker]
listen = 127.0.0.1:0
tls_cert = $dir/tls.pem
tls_key = $dir/tls.key
[fm]
grace = 100ms
[vni]
pool = 4000-4015
hold = reports
[cluster "tuo"]
users = $(id -un)
budget = 23
list_command = $list
list_every = 1s
CONF
prepare

fault() { fm_asks "$url/mock/faults" -d "$1" >/dev/null; }
no_fault() { fm_asks -X DELETE "$url/mock/faults" >/dev/null; }
reserve() { mcastctl --cluster "$1" --patience 0 reserve --uid "$(id -u)" --nodes 'n[1-2]' "$2" >>"$dir/out/reserved" 2>&1; }
jobs() { # jobs COMMAND NUMBER…: on so many jobs of elcap
    local command=$1 job
    shift
    for job; do "$command" elcap "$job"; done
}
release() { mcastctl --cluster "$1" release "$2" >>"$dir/out/released"; }
# The fabric manager forgets these of elcap at once: one by one, each would be lost by itself.
forget() {
    local names
    names=$(printf ',"elcap-%s"' "$@")
    fm_asks "$url/mock/forget" -d "{\"jobs\":[${names#,}]}" >/dev/null
}
clean() { # the nodes of released jobs are off, and administrators say so
    mcastctl fence n1 --reason "it is off" && mcastctl fence n2 --reason "it is off"
} >>"$dir/out/fenced"
no_room() { # as on a full disk: the ledger's log gets no longer
    prlimit --pid "$broker" --fsize="$(stat -c %s "$dir/state.db-wal"):"
    reserve elcap unsaved &
    waits=$!
}
room() {
    prlimit --pid "$broker" --fsize=unlimited:
    wait "$waits" || true
    release elcap unsaved && clean
}
break_list() { : >"$list.broken"; }
mend_list() { rm "$list.broken"; }
nothing() { :; }

# kind | how it comes | what status says, with the step | what the log says | how it goes
troubles() {
    cat <<'TABLE'
password|fault {"session":false,"status":401}|NO FABRIC MANAGER for [^:]*: HTTP 401.* → put the new password|link down.*what to do: put the new password|no_fault
nonsense|fault {"path":"*/jobs/","garbage":true}|THE FABRIC MANAGER'S LIST OF JOBS CANNOT BE USED for [^:]*: HTTP 200.* → see the fabric manager's own log|the list was not whole.*see the fabric manager's own log|no_fault
no addresses|denied|THE FABRIC MANAGER RESERVES NOTHING for [^,]*, [0-9]+ times in a row: .*; jobs run without hardware collectives → see the fabric manager's own log|-> the job runs without hardware collectives|allowed
full disk|no_room|NOTHING CAN BE SAVED for [^:]*: .*make room.* → free space there|cannot save: .*make room.*do not restart|room
budget|reserve tuo b|THE BUDGET OF tuo \(23 of 23\) IS USED UP: .* → wait for jobs||freed
quarantine|held|9 OF 16 VNIS ARE QUARANTINED after their jobs, the longest for [^,]*, 9 of them for jobs of [^:]*: .* → mcastctl list --held||clean
no VNI|taken|NO VNI IS FREE for [^:]*: .*16 in use.* → for jobs that are over but active: set list_command .* else give \[vni\] pool more|0 available.* -> refused; .*mcastctl status|untaken
mass loss|lost|ALARM mass-loss for [^:]*: .* → check the fabric manager|ALARM mass-loss: .* -> check the fabric manager|found
jobs' list|break_list|THE ACTIVE JOBS OF tuo CANNOT BE LISTED for [^,]*, .*slurmctld is away → run list_command|list_command of cluster tuo: .*slurmctld is away.* -> nothing is concluded|mend_list
certificate|nothing|THE BROKER'S CERTIFICATE ENDED [^:]* ago: .* → renew|certificate has ended: .* -> renew|nothing
TABLE
}
freed() { release tuo b && clean; }
denied() { fault '{"method":"POST","status":507}' && jobs reserve 1 2 3; }
allowed() { no_fault && reserve elcap 4 && jobs release 1 2 3 4 && clean; }
held() { jobs reserve 1 2 3 4 5 6 7 8 9 && jobs release 1 2 3 4 5 6 7 8 9; }
taken() { jobs reserve 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 && ! reserve elcap 17; }
untaken() { jobs release 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 && clean; }
lost() { jobs reserve 1 2 3 4 && forget 1 2 3 4; }
found() { mcastctl accept-loss >>"$dir/out/accepted" && jobs release 1 2 3 4 && clean; }

# Text is broken where the line ends.
status_says() { mcastctl status | tee "$dir/status" | tr -s ' \n' ' ' | grep -qE "$1"; }
shows() { # shows KIND WORDS
    local end=$((SECONDS + 120))
    until status_says "$2"; do
        [ $SECONDS -lt $end ] || { cat "$dir/status" >&2 && fail "$1: status does not say: $2"; }
        sleep 0.1
    done
}
status_no_longer_says() { ! status_says "$1"; }
while IFS='|' read -r kind comes says logged goes <&3; do
    # shellcheck disable=SC2086 # a function and its arguments
    $comes
    shows "$kind" "$says"
    [ "$(wc -l <"$dir/status")" -le 24 ] || fail "$kind: more than a screen"
    if [ -n "$logged" ]; then until_it "$kind: the log says $logged" grep -qE -e "$logged" "$dir/mcastd.log"; fi
    # shellcheck disable=SC2086
    $goes
    [ "$goes" = nothing ] || until_it "$kind is over" status_no_longer_says "$says"
done 3< <(troubles)

# ---- several at once ----
jobs reserve 1 2 3 4
reserve tuo b
forget 1 2 3 4
shows "the alarm" "ALARM mass-loss"
break_list
no_room
order="NOTHING CAN BE SAVED.* THE BROKER'S CERTIFICATE ENDED.* ALARM mass-loss.* And [0-9] more faults?: mcastctl doctor"
shows "the worst is first" "^$order"

# ---- a broker that none would follow (B7) ----
if ! command -v etcd >/dev/null; then
    echo "skipped: no standby: etcd is not installed" >&2
    exit 0
fi
kill_broker
kill "$fm"
wait "$fm" || true
rm "$dir/fm.state" # a fabric manager without jobs that this ledger would not know
start_fm
etcd_answers() {
    kill -0 "$etcd" 2>/dev/null || start_etcd # another program has the port
    curl -sS -o "$dir/etcd.health" "http://127.0.0.1:$port/health" 2>>"$dir/etcd.log"
}
start_etcd() {
    draw_ports 2
    read -r port peer <<<"$ports"
    etcd --data-dir "$dir/etcd.$port" --listen-client-urls "http://127.0.0.1:$port" \
        --advertise-client-urls "http://127.0.0.1:$port" --listen-peer-urls "http://127.0.0.1:$peer" \
        --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
        --initial-cluster "default=http://127.0.0.1:$peer" >>"$dir/etcd.log" 2>&1 &
    etcd=$!
    others="$etcd $others"
}
start_etcd
until_it "etcd answers" etcd_answers
sed -i "s|^path = .*|store = etcd\nendpoints = http://127.0.0.1:$port|; s|^socket = .*|&\nadvertise = http://127.0.0.1:1|" "$dir/mcastd.conf"
sed -i '/^tls_/d' "$dir/conf.d/trouble.conf"
launch_broker
shows "a leader alone" "NO STANDBY: if this broker fails, none takes over → on the other hosts: systemctl status mcastd"
kill -STOP "$etcd"
shows "etcd hangs" "ETCD DOES NOT ANSWER for [^:]*: .* → etcdctl endpoint health"
kill -CONT "$etcd"
