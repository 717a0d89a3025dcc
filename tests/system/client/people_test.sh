#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# people_test.sh BUILD: what mcastctl shows people of a broker that is well, and in trouble: status' first
# line names cause and next step (B5); list's columns and order; what a mistyped command means.
build=$1
export PATH=$build/bin:$PATH
# shellcheck source=tests/system/rig/fixture.sh
source "$(dirname "$0")/../rig/fixture.sh"

mkdir "$dir/conf.d"
printf '[fm]\nrelist = 1h\n[vni]\npool = 4000-4001\n[cluster "tuo"]\nlist_command = /bin/false\n[cluster "elcap"]\nnodes = n[1-300]\n' \
    >"$dir/conf.d/people.conf"
prepare

has() { # has FILE WORDS
    grep -qF -- "$2" "$1" || { cat "$1" >&2 && fail "$1 lacks: $2"; }
}
says() { # says WORDS: the first line of status
    mcastctl status >"$dir/status"
    head -n 1 "$dir/status" | grep -qF -- "$1"
}

# ---- list ----
mcastctl reserve --uid root --node-count 2 small >"$dir/out/small"
mcastctl reserve --uid 0 --node-count 200 large >"$dir/out/large"
[ "$(mcastctl list --sort -nodes --output job,user | tail -n +2 | tr -s ' ' | paste -sd,)" = "large root,small root" ] ||
    fail "list is not sorted by nodes"
[ "$(mcastctl list --sort nodes --output job | tail -n +2 | paste -sd,)" = "small,large" ] ||
    fail "list is not sorted by nodes the other way round"
[ "$(mcastctl list --sort age --output job | tail -n +2 | paste -sd,)" = "large,small" ] ||
    fail "the youngest is not first"
mcastctl list >"$dir/list"
has "$dir/list" "AGE"
if mcastctl list --sort size 2>"$dir/refused"; then fail "sorted by what there is not"; fi
has "$dir/refused" "there is no column 'size' (--output help lists them)"
if mcastctl list -o job,suer 2>"$dir/refused"; then fail "a column that there is not"; fi
has "$dir/refused" "did you mean user?"
mcastctl list -o help >"$dir/list"
has "$dir/list" "released     when the job was over"
[ "$(mcastctl list --no-header --uid root --sort -nodes --limit 1 -o job,uid | tr -s ' ')" = "large 0" ] ||
    fail "--limit is not of what is sorted"
[ "$(mcastctl list --json --sort -nodes | grep -o '"job":"[a-z]*"' | paste -sd,)" = '"job":"large","job":"small"' ] ||
    fail "--json --sort"
mcastctl nodes --no-header --sort -node --limit 2 -o node >"$dir/list"
[ "$(paste -sd, "$dir/list")" = "n99,n98" ] || fail "nodes are not sorted"
mcastctl nodes >"$dir/list" 2>"$dir/refused"
has "$dir/list" "none known"
has "$dir/refused" "no NIC is known of 300 nodes"
if mcastctl nodes --json --sort node 2>"$dir/refused"; then fail "--json of nodes is sorted"; fi
if mcastctl list --output job,,user 2>"$dir/refused"; then fail "a field without a name"; fi
mcastctl list --held --sort age -o +reason >"$dir/list" || fail "--held with other columns"

# ---- status ----
mcastctl status >"$dir/status"
has "$dir/status" "2 active, 2 with addresses"
has "$dir/status" "0 free of 2, 2 in use"
mcastctl --cluster nope status >"$dir/status" 2>"$dir/refused"
has "$dir/refused" "there is no cluster nope; the status is of all clusters"
[ "$(wc -l <"$dir/status")" -le 24 ] || fail "status is more than a screen"
if grep -q $'\033' "$dir/status"; then fail "colours where there is no terminal"; fi
says "NO VNI IS FREE for " || fail "status does not say that the VNIs are used up"
has "$dir/status" "mcastctl doctor"
mcastctl release --number 99 small 2>"$dir/refused" && fail "a number that is another's is released"
has "$dir/refused" "not 99: nothing was released"
mcastctl release small >"$dir/out/released"
list_fails() { mcastctl status >"$dir/status" && grep -q "THE ACTIVE JOBS OF tuo CANNOT BE LISTED" "$dir/status"; }
until_it "status says that a list command fails" list_fails
kill "$fm"
fm=''
# It is idle, so nothing is asked of it for an hour, but by who looks for faults.
doctor_says() { ! mcastctl doctor >"$dir/doctor" 2>&1 && grep -qE "link .*down for|down for" "$dir/doctor"; }
until_it "the doctor has it asked" doctor_says
says "NO FABRIC MANAGER" || fail "status does not say that the fabric manager is away"
has "$dir/status" "hardware collectives"
if mcastctl --url "unix:$dir/mcastd.sock,/nonexistent/s" doctor >"$dir/doctor" 2>&1; then fail "a broker is dead"; fi
has "$dir/doctor" "/nonexistent/s does not answer: No such file"

# ---- top ----
mcastctl top --every 1 >"$dir/top" &
top=$!
others="$top $others"
twice() { [ "$(grep -c '^NO FABRIC MANAGER' "$dir/top")" -ge 2 ]; }
until_it "top shows status again and again" twice
kill -INT "$top"
wait "$top" || fail "top ended with $?"
# Ctrl-C ends it also while it waits for a broker that does not answer.
kill -STOP "$broker"
mcastctl top >"$dir/top" &
top=$!
others="$top $others"
asks() { [ -n "$(ss -Hxl src "$dir/mcastd.sock" | awk '$3 > 0')" ]; }
until_it "top asks" asks
kill -INT "$top"
wait "$top" || fail "top ended with $?"
kill -CONT "$broker"
[ ! -s "$dir/top" ] || fail "top waited for the broker before it ended"

# "Not now" is no end either: a broker that has too much to do, or comes back as the leader.
python3 - "$dir/busy.sock" <<'PYTHON' &
import http.server, socketserver, sys
class Broker(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answers = [(503, b'{"code":"not-leader","detail":"another broker leads"}')]
    def address_string(self):
        return "a client"
    def log_message(self, *_):
        pass
    def do_GET(self):
        status, body = self.answers.pop() if self.answers else (200, b'{"role":"leader"}')
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status == 200 else "application/problem+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
socketserver.ThreadingUnixStreamServer(sys.argv[1], Broker).serve_forever()
PYTHON
others="$! $others"
until_it "a busy broker listens" test -S "$dir/busy.sock"
mcastctl --url "unix:$dir/busy.sock" top --every 100ms >"$dir/top" 2>&1 &
top=$!
others="$top $others"
goes_on() {
    kill -0 "$top" 2>/dev/null || { cat "$dir/top" >&2 && fail "top has ended"; }
    grep -q '^All is well' "$dir/top"
}
until_it "top goes on after 'not now'" goes_on
grep -qE "NOT NOW for [0-9]+ s: another broker leads" "$dir/top" || fail "top does not say since when another one leads"
kill -INT "$top"
wait "$top" || fail "top ended with $?"

# ---- names ----
if mcastctl satus 2>"$dir/refused"; then fail "a command that there is not"; fi
has "$dir/refused" "did you mean status?"
for typed in lsit:list stat:status hepl:help jobs:list ls:list relaese:release health:status alarm:status watch:events; do
    if mcastctl help "${typed%:*}" >"$dir/refused" 2>&1; then fail "${typed%:*} is a command"; fi
    has "$dir/refused" "did you mean ${typed#*:}?"
done
for typed in lease drain step claims.old; do # no word leads to what does harm, but its own misspelt by a letter
    if mcastctl "$typed" 2>"$dir/refused"; then fail "$typed is a command"; fi
    if grep -qE "did you mean|fence" "$dir/refused"; then cat "$dir/refused" >&2 && fail "$typed"; fi
done
if mcastctl drain 2>"$dir/refused"; then fail "a node was drained"; fi
has "$dir/refused" "scontrol update NodeName=… State=DRAIN Reason=…, or flux resource drain"
if mcastctl show 2>"$dir/refused"; then fail "no job was shown"; fi
has "$dir/refused" "mcastctl list"
if mcastctl list --sotr age 2>"$dir/refused"; then fail "an option that there is not"; fi
has "$dir/refused" "did you mean --sort?"
for typed in "list --user root:uid" "list -u root:uid" "list --columns job:output" "events -f:follow" "top -d 1:every"; do
    # shellcheck disable=SC2086 # a command and its options
    if mcastctl ${typed%:*} 2>"$dir/refused"; then fail "${typed%:*}"; fi
    has "$dir/refused" "did you mean --${typed#*:}?"
done
if mcastctl list small 2>"$dir/refused"; then fail "list of one job"; fi
has "$dir/refused" "mcastctl show small"
if mcastctl reserve 2>"$dir/refused"; then fail "no job was reserved"; fi
has "$dir/refused" "its resource manager's id"
if mcastctl --ulr x list 2>"$dir/refused"; then fail "an option that there is not"; fi
has "$dir/refused" "did you mean --url?"
if mcastctl top --every 10ms 2>"$dir/refused"; then fail "top more often than it may"; fi
has "$dir/refused" "--every: 100ms at least"
if mcastctl reserve --uid nosuchuser --node-count 1 x 2>"$dir/refused"; then fail "of no user"; fi
has "$dir/refused" "--uid: there is no user 'nosuchuser'"
if mcastctl top --json 2>"$dir/refused"; then fail "top of JSON"; fi
if mcastctl frobnicate 2>"$dir/refused"; then fail "a command that there is not"; fi
if grep -q "did you mean" "$dir/refused"; then fail "what is like nothing means nothing"; fi

# ---- the broker is away ----
kill "$broker"
wait "$broker" || true
broker=''
if mcastctl status 2>"$dir/refused"; then fail "status of a broker that is not there"; fi
has "$dir/refused" "$dir/mcastd.sock"
