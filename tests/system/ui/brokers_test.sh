#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# brokers_test.sh BUILD: the page of mcastctl ui beside two brokers on etcd, asked over TLS: the leader
# is killed beneath it, and it goes on with the one that leads then (B5, B7).
build=$1
export PATH=$build/bin:$PATH
for tool in chromedriver etcd openssl; do
    command -v $tool >/dev/null || {
        echo "skipped: there is no $tool (Debian: chromium-driver, etcd-server, openssl)"
        exit 77
    }
done
# shellcheck source=tests/system/rig/fixture.sh
source "$(dirname "$0")/../rig/fixture.sh"
# shellcheck source=tests/system/ui/fixture.sh
source "$(dirname "$0")/fixture.sh"

# One certificate for all: the broker's, its own authority, and that of who asks.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
    -keyout "$dir/tls.key" -out "$dir/tls.pem" 2>"$dir/openssl.log" || fail "$(cat "$dir/openssl.log")"
(umask 077 && head -c 18 /dev/urandom | base64 >"$dir/passwd" && openssl rand -hex 32 >"$dir/state.key")
chmod 600 "$dir/tls.key"
start_fm

draw_ports 6
read -r client peer one two page WEBDRIVER_PORT <<<"$ports"
export WEBDRIVER_PORT
etcd --data-dir "$dir/etcd" --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" >"$dir/etcd.log" 2>&1 &
others="$! $others"

start_one() { # start_one PORT; its process: $broker
    cat >"$dir/$1.conf" <<CONF
[broker]
socket = $dir/$1.sock
listen = 127.0.0.1:$1
advertise = https://localhost:$1
tls_cert = $dir/tls.pem
tls_key = $dir/tls.key
tls_client_ca = $dir/tls.pem
admins = cert:localhost
[state]
store = etcd
endpoints = http://127.0.0.1:$client
prefix = /mcastd/ui
lease = 8s
path = $dir/$1.db
key_file = $dir/state.key
[fm]
url = $url
auth = basic
authdir = $dir
[hwcoll]
min_nodes = 2
addresses_per_job = 23
[cluster "elcap"]
users = cert:localhost
CONF
    mcastd --config "$dir/$1.conf" >>"$dir/mcastd.log" 2>&1 &
    broker=$!
    others="$broker $others"
}
export MCAST_CACERT=$dir/tls.pem MCAST_CERT=$dir/tls.pem MCAST_KEY=$dir/tls.key
export MCAST_URL=https://localhost:$one,https://localhost:$two
has_role() { [[ $(mcastctl --url "https://localhost:$1" --json status 2>>"$dir/roles.log") =~ \"role\":\ ?\"$2\" ]]; }
start_one "$one"
leader=$broker
until_it "the first broker leads" has_role "$one" leader
start_one "$two"
until_it "the second broker is a standby" has_role "$two" standby
broker=
until_it "the link is up" sh -c 'mcastctl --json status | grep -q "\"link\": *\"up\""'
start_ui --port "$page"

coproc python3 "$(dirname "$0")/brokers_test.py" "$dir" "https://localhost:$one" "https://localhost:$two" 2>"$dir/python.log"
tester=$COPROC_PID
others="$tester $others"
exec {from}<&"${COPROC[0]}" {to}>&"${COPROC[1]}"
while read -r -u "$from" word job; do
    case $word in
    reserve) mcastctl --patience 60s reserve --uid 1000 --nodes 'elcap[1-4]' "$job" >>"$dir/out/jobs" || fail "no $job" ;;
    kill) kill -9 "$leader" && { wait "$leader" 2>/dev/null || true; } ;;
    restart) start_one "$one" ;;
    esac
    echo "done" >&"$to"
done
wait "$tester" || { cat "$dir/python.log" "$dir/ui.log" >&2 && fail "the page is not as it should be"; }
