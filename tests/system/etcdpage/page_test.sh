#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deploy/etcd/README.md: its sh blocks are run as they stand there, and three members with etcd.env as
# systemd would start them; only hosts, ports and folders are those of this test (B7).
# page_test.sh BUILD SOURCES
build=$(readlink -f "$1")
sources=$(readlink -f "$2")
PATH=$build/bin:/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin
for tool in openssl etcdctl curl; do
    command -v $tool >/dev/null || {
        echo "skipped: $tool is not installed"
        exit 77
    }
done
# shellcheck source=tests/system/rig/fixture.sh
. "$(dirname "$0")/../rig/fixture.sh"
page=$sources/deploy/etcd/README.md
hosts='m1 m2 m3'
declare -A client peer member # by host: ports, and the process

# Below those that the kernel gives to clients, and tried anew when another program has one.
place_members() {
    draw_ports 6
    read -r "client[m1]" "client[m2]" "client[m3]" "peer[m1]" "peer[m2]" "peer[m3]" <<<"$ports"
}

# What the page and its files say, for this machine.
placed() {
    local host places="s|/usr/share/doc/mcastd/examples/etcd|$sources/deploy/etcd|g"
    places="$places; s|/etc/|$dir/etc/|g; s|/var/lib/|$dir/|g; s|0\.0\.0\.0|127.0.0.1|g"
    for host in $hosts; do
        places="$places; s|https://$host:2379|https://localhost:${client[$host]}|g"
        places="$places; s|https://$host:2380|https://localhost:${peer[$host]}|g"
    done
    sed "$places"
}

# block NUMBER: the page's n-th sh block.
block() {
    awk -v wanted="$1" '/^```sh$/ {n++; inside = 1; next} /^```$/ {inside = 0} inside && n == wanted' "$page" |
        placed
}

# start_member HOST: as Debian's unit does, with the page's environment file.
start_member() {
    local host=$1
    # shellcheck disable=SC2046 # one word a setting: the file has no quotes
    env -i $(grep -v '^#' "$dir/etc-$host") etcd >>"$dir/$host.log" 2>&1 &
    member[$host]=$!
    others="${member[$host]} $others"
}

# The environment file of one host: the page's command, and the port that 0.0.0.0 listens on.
configure_member() {
    local host=$1
    mkdir -p "$dir/etc/default" "$dir/etc/etcd"
    host=$host bash -eu <<<"$(block 2)"
    placed <"$dir/etc/default/etcd" |
        sed "s|etc/etcd|etc-etcd-$host|; s|$dir/etcd/mcastd|$dir/data-$host|
            s|127.0.0.1:2379|127.0.0.1:${client[$host]}|; s|127.0.0.1:2380|127.0.0.1:${peer[$host]}|" >"$dir/etc-$host"
    mkdir -p "$dir/etc-etcd-$host"
    cp "$dir/ca.pem" "$dir/etc-etcd-$host/"
    cp "$dir/$host.pem" "$dir/etc-etcd-$host/member.pem"
    cp "$dir/$host.key" "$dir/etc-etcd-$host/member.key"
}

start_members() {
    local host
    place_members
    for host in $hosts; do configure_member "$host"; done
    for host in $hosts; do start_member "$host"; done
}

all_run() {
    local host
    for host in $hosts; do kill -0 "${member[$host]}" 2>/dev/null || return 0; done
    ask m1 /v3/kv/range '{"key":"AA=="}' >/dev/null 2>&1
}

# ask HOST PATH BODY: a call as the broker makes it, with the page's certificate of one.
ask() {
    curl -sS --fail-with-body --max-time 60 --cacert "$dir/ca.pem" --cert "$dir/m1-broker.pem" --key "$dir/m1-broker.key" \
        ${token:+-H "Authorization: $token"} "https://localhost:${client[$1]}$2" -d "$3"
}

base64_of() { printf %s "$1" | base64 -w 0; }

# guarded KEY VALUE REVISION: puts, if the key was created at that revision.
guarded() {
    ask m2 /v3/kv/txn "{\"compare\":[{\"target\":\"CREATE\",\"result\":\"EQUAL\",\"key\":\"$(base64_of "$1")\",
        \"create_revision\":\"$3\"}],\"success\":[{\"request_put\":{\"key\":\"$(base64_of "$1")\",\"value\":\"$(base64_of "$2")\"}}]}"
}
succeeded() { [[ $1 == *'"succeeded":true'* ]]; }

cd "$dir"
place_members
bash -eu <<<"$(block 1)" >"$dir/openssl.log" 2>&1 || fail "the certificates: $(cat "$dir/openssl.log")"
[ -z "$(find . -name '*.key' -perm /077)" ] || fail "a key can be read by others"

for _ in 1 2 3 4 5 6 7 8 9 10; do
    start_members
    until_it "three members" all_run
    grep -q 'address already in use' "$dir"/m?.log || break
    for host in $hosts; do
        kill -9 "${member[$host]}" 2>/dev/null || true
        wait "${member[$host]}" 2>/dev/null || true
    done
    rm -rf "$dir"/data-* "$dir"/m?.log
done
for host in $hosts; do
    kill -0 "${member[$host]}" 2>/dev/null || { tail -n 20 "$dir/$host.log" >&2 && fail "etcd on $host ends"; }
done

# The block leaves its variables for the ones below.
checked() { bash -eu <<<"$(block 3)" >"$dir/check.log" 2>&1; }
until_it "endpoint health: $(cat "$dir/check.log" 2>/dev/null)" checked
[ "$(grep -c 'is healthy' "$dir/check.log")" = 3 ] || fail "not three are healthy: $(cat "$dir/check.log")"

# A transaction with the right guard is made, one with a wrong guard is not.
succeeded "$(guarded /mcastd/elcap-x one 0)" || fail "the first transaction did not succeed"
! succeeded "$(guarded /mcastd/elcap-x two 0)" || fail "a wrong guard held"
[[ $(ask m3 /v3/kv/range "{\"key\":\"$(base64_of /mcastd/elcap-x)\"}") == *"$(base64_of one)"* ]] || fail "another value"
! curl -sS --max-time 10 --cacert "$dir/ca.pem" "https://localhost:${client[m1]}/health" >/dev/null 2>&1 ||
    fail "a client without a certificate is served"

# The settings are those that etcd uses (its log names them).
for setting in '"auto-compaction-mode":"periodic"' '"auto-compaction-retention":"5m0s"' '"snapshot-count":5000' \
    '"quota-size-bytes":4294967296' '"pre-vote":true'; do
    grep -q "$setting" "$dir/m1.log" || fail "etcd does not have $setting"
done

# What mcastctl doctor runs finds nothing wrong with them, and says what is.
printf '[state]\nstore = sqlite\n' >"$dir/mcastd.conf"
doctor() { "$sources/deploy/etcd/check" --config "$dir/mcastd.conf" | tr '\t' '|'; }
[ -z "$(doctor)" ] || fail "the check looks at etcd without need: $(doctor)"
mkdir -p "$dir/conf.d" "$dir/etc/mcastd"
placed <"$sources/deploy/etcd/mcastd.conf" >"$dir/conf.d/several.conf"
cp ca.pem etc/mcastd/etcd-ca.pem
cp m1-broker.pem etc/mcastd/etcd-client.pem
cp m1-broker.key etc/mcastd/etcd-client.key
[ "$(doctor | grep -c '^ok|etcd-members|https://localhost:[0-9]*: etcd 3\..* MiB of 4096$')" = 3 ] || fail "not three are well: $(doctor)"

# metrics LINE…: the same, of members with other metrics.
metrics() {
    local name
    mkdir -p "$dir/fake"
    ask_metrics >"$dir/fake/metrics"
    for name; do
        sed -i "/^${name%% *} /d; /^${name%%\"*}\"/d" "$dir/fake/metrics"
        echo "$name" >>"$dir/fake/metrics"
    done
    printf '#!/bin/sh\ncase $* in */health) echo \047{"health":"true"}\047 ;; *) cat %s/fake/metrics ;; esac\n' "$dir" >"$dir/fake/curl"
    chmod +x "$dir/fake/curl"
    PATH=$dir/fake:$PATH doctor
}
ask_metrics() {
    curl -sS --fail --cacert ca.pem --cert m1-broker.pem --key m1-broker.key "https://localhost:${client[m1]}/metrics"
}
finds() { # finds WORDS METRIC…
    local words=$1
    shift
    [ "$(metrics "$@" | grep -c "$words")" = 3 ] || fail "with $*, the check says: $(metrics "$@")"
}
finds '^ok|'
finds '^problem|.*older than 3.4' 'etcd_server_version{server_version="3.3.25"} 1'
finds '^ok|' 'etcd_server_version{server_version="3.10.1"} 1'
finds '^problem|.*no leader' 'etcd_server_has_leader 0'
finds '^warning|.*quota is 2048 MiB' 'etcd_server_quota_backend_bytes 2.147483648e+09'
finds '^warning|.*75% of its quota' 'etcd_mvcc_db_total_size_in_bytes 3.221225472e+09'
finds '^warning|.*old revisions' 'etcd_debugging_mvcc_compact_revision -1' \
    'etcd_debugging_mvcc_current_revision 1000' 'process_start_time_seconds 1.7e+09'
finds '^ok|' 'etcd_debugging_mvcc_compact_revision -1' 'etcd_debugging_mvcc_current_revision 1000' \
    "process_start_time_seconds $(($(date +%s) - 60))"

# Two brokers with the page's configuration, each on a socket of its own; the second one takes over.
(umask 077 && head -c 18 /dev/urandom | base64 >"$dir/passwd")
start_fm
(umask 077 && openssl rand -hex 32 >"$dir/etc/mcastd/state.key")
start_several() { # start_several NAME
    mkdir -p "$dir/$1/conf.d"
    placed <"$sources/deploy/etcd/mcastd.conf" | grep -v '^listen\|^tls_' >"$dir/$1/mcastd.conf"
    cat >"$dir/$1/conf.d/host.conf" <<CONF
[broker]
socket = $dir/$1/sock
advertise = unix:$dir/$1/sock
[fm]
url = $url
auth = basic
authdir = $dir
[hwcoll]
min_nodes = 2
addresses_per_job = 23
[cluster "elcap"]
users = $(id -un)
CONF
    mcastd --config "$dir/$1/mcastd.conf" >>"$dir/mcastd.log" 2>&1 &
    others="$! $others"
}
has_role() { [[ $(mcastctl --url "unix:$dir/$1/sock" --json status 2>/dev/null) =~ \"role\":\ ?\"$2\" ]]; }
start_several b1
first=$!
until_it "the first broker leads" has_role b1 leader
start_several b2
until_it "the second broker is a standby" has_role b2 standby
export MCAST_URL="unix:$dir/b1/sock,unix:$dir/b2/sock"
mcastctl reserve --uid 1000 --nodes 'n[1-4]' try-1 >/dev/null
kill -9 $first
wait $first 2>/dev/null || true
mcastctl --patience 60s reserve --uid 1000 --nodes 'n[1-4]' try-2 >/dev/null || fail "no take-over"
has_role b2 leader || fail "the second broker does not lead"
[ "$(mcastctl list --json | grep -oE '"job": ?"try-[12]"' | sort -u | wc -l)" = 2 ] || fail "a reservation is lost"

# A member whose host is gone is replaced.
kill -9 "${member[m3]}"
wait "${member[m3]}" 2>/dev/null || true
rm -rf "$dir/data-m3"
others_answer() { ask m1 /v3/kv/range '{"key":"AA=="}' >/dev/null 2>&1 && ask m2 /v3/kv/range '{"key":"AA=="}' >/dev/null 2>&1; }
until_it "a leader without m3" others_answer
[[ $(doctor) == *"problem|etcd-members|https://localhost:${client[m3]} does not answer: curl: "* ]] || fail "the check does not miss m3: $(doctor)"
said=$(mcastctl --json doctor --config "$dir/b2/mcastd.conf" || true)
[[ $said == *"${client[m3]} does not answer"* && $said == *"of 4096"* ]] || fail "mcastctl doctor does not miss m3: $said"
bash -eu <<<"$(block 3 | grep export; block 5)" >"$dir/replace.log" 2>&1 || fail "replacing m3: $(cat "$dir/replace.log")"
sed -i s/STATE=new/STATE=existing/ "$dir/etc-m3"
start_member m3
until_it "the new m3: $(cat "$dir/check.log")" checked
[[ $(ask m3 /v3/kv/range "{\"key\":\"$(base64_of /mcastd/elcap-x)\"}") == *"$(base64_of one)"* ]] || fail "m3 lacks a key"

# The quota.
bash -eu <<<"$(block 3 | grep export; block 6)" >"$dir/quota.log" 2>&1 || fail "freeing space: $(cat "$dir/quota.log")"
[ "$(grep -c 'Finished defragmenting' "$dir/quota.log")" = 3 ] || fail "not all are defragmented: $(cat "$dir/quota.log")"

# etcd's own authentication: the user may change the ledger, and nothing else.
head -c 18 /dev/urandom | base64 >"$dir/etcd.password"
head -c 18 /dev/urandom | base64 >"$dir/root.password"
bash -eu <<<"$(block 3 | grep export; block 4)" >"$dir/auth.log" 2>&1 || fail "the user: $(cat "$dir/auth.log")"
! guarded /mcastd/elcap-x two 0 >/dev/null 2>&1 || fail "a client without a user is served"
token=$(ask m2 /v3/auth/authenticate "{\"name\":\"mcastd\",\"password\":\"$(cat "$dir/etcd.password")\"}" |
    sed 's/.*"token":"\([^"]*\)".*/\1/')
succeeded "$(guarded /mcastd/elcap-y one 0)" || fail "the user may not change the ledger"
! guarded /else/y one 0 >/dev/null 2>&1 || fail "the user may change other keys"
