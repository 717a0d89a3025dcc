#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The unit's SystemCallFilter= and MemoryDenyWriteExecute= against what the program does in a life:
# start, login, a job, a job list poll (with the shell that it runs), reload, stop. Nothing that it does may be forbidden: systemd would only show
# it where it runs.
# usage: syscalls.sh DIRECTORY_OF_PROGRAMS UNIT
set -eu
bin=$1 unit=$2
skip() {
    echo "skipped: $*"
    exit 77
}
for tool in systemd-analyze strace python3; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
strace -qq -o /dev/null true 2>/dev/null || skip "nothing can be traced here"
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-syscalls.XXXXXX")
fm='' broker=''
# shellcheck disable=SC2154
trap 'status=$?; for p in $fm $broker; do kill "$p" 2>/dev/null || true; done; rm -rf "$dir"; exit $status' EXIT
fail() {
    echo "syscalls.sh: $*" >&2
    [ ! -s "$dir/log" ] || sed 's/^/  log: /' "$dir/log" >&2
    exit 1
}
await() { # await PATTERN FILE; CTest has the deadline
    until grep -q "$1" "$2" 2>/dev/null; do
        kill -0 "$tracer" 2>/dev/null || fail "it ended before its log said '$1'"
        sleep 0.05
    done
}

printf 'secret\n' >"$dir/passwd"
chmod 600 "$dir/passwd"
"$bin/mock-fm" --listen 127.0.0.1:0 --port-file "$dir/port" --auth basic --authdir "$dir" \
    >"$dir/fm.log" 2>&1 &
fm=$!
until [ -s "$dir/port" ]; do
    kill -0 $fm 2>/dev/null || fail "mock-fm does not start"
    sleep 0.05
done
cat >"$dir/mcastd.conf" <<CONF
[broker]
socket = $dir/s
socket_group = $(id -gn)
listen = localhost:0
log_level = debug
[state]
path = $dir/state.db
key_file = $dir/state.key
[fm]
url = http://localhost:$(cat "$dir/port")
authdir = $dir
[hwcoll]
addresses_per_job = 8
[cluster "elcap"]
users = $(id -u)
list_command = $dir/list
CONF
cat >"$dir/list" <<'LIST'
#!/bin/sh
ls / | grep -c . | sed 's/^/a/'
LIST
chmod 755 "$dir/list"
# -ff: the program's own pid is in the name of its file.
strace -ff -qq -o "$dir/trace" "$bin/mcastd" --config "$dir/mcastd.conf" 2>"$dir/log" &
tracer=$!
await ' READY ' "$dir/log"
await 'listing -> up' "$dir/log"
await 'cluster elcap names 1 active jobs' "$dir/log"
broker=$(sed -n '1p' "$dir/state.db.lock")
export MCAST_URL="unix:$dir/s" MCAST_CLUSTER=elcap
"$bin/mcastctl" reserve --uid 1 --nodes 'n[1-4]' --hwcoll required j1 >/dev/null || fail "no job starts"
"$bin/mcastctl" release j1 >/dev/null || fail "no job ends"
kill -HUP "$broker"
await ' reloaded: ' "$dir/log"
kill "$broker"
broker=''
status=0
wait $tracer || status=$?
[ $status = 0 ] || fail "it ended with $status"

# The first call of the first is the execve of systemd itself, before the filter is in force; those of
# list_command are not.
sed -n 's/^\([a-z0-9_]*\)(.*/\1/p' "$dir"/trace.* | sort -u >"$dir/used"
[ "$(wc -l <"$dir/used")" -gt 30 ] || fail "the trace is empty"
systemd-analyze --no-pager syscall-filter >"$dir/sets"
python3 - "$unit" "$dir/sets" "$dir/used" <<'PYTHON' || fail "the unit forbids what mcastd does (above)"
import sys
unit, listing, used = (open(name).read().splitlines() for name in sys.argv[1:])
sets, name = {}, None
for line in listing:
    if line.startswith("@"):
        name = line.strip()
        sets[name] = []
    elif name and line.startswith(" ") and not line.strip().startswith("#"):
        sets[name].append(line.strip())
def expand(word):
    if not word.startswith("@"):
        return {word}
    return set().union(*map(expand, sets[word]))
# systemd.exec(5): the first line says that it is a list of what is allowed; @default always is.
allowed = expand("@default")
for line in unit:
    if not line.startswith("SystemCallFilter="):
        continue
    words = line.split("=", 1)[1]
    change = set().union(*map(expand, words.lstrip("~").split()))
    allowed = allowed - change if words.startswith("~") else allowed | change
forbidden = sorted(set(used) - allowed)
print("system calls:", len(used), "used, not allowed:", ", ".join(forbidden) or "none")
sys.exit(bool(forbidden))
PYTHON
! grep -hE '^(mmap|mprotect|pkey_mprotect)\(.*PROT_WRITE\|PROT_EXEC' "$dir"/trace.* >&2 ||
    fail "memory that is both writable and executable (above), which the unit forbids"
! grep -hE '^(mprotect|pkey_mprotect)\(.*PROT_EXEC' "$dir"/trace.* >&2 ||
    fail "memory is made executable (above), which the unit forbids"
! grep -E 'sess-[0-9a-f]{32}|mcast1\.' "$dir/log" >&2 || fail "a token stands in the log (above)"
