#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` leaves: the files, and a broker that checks, starts and stops from there with
# the shipped configuration, its places moved into the test's folder.
# usage: installed.sh CMAKE BUILD
set -eu
cmake=$1 build=$2
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-installed.XXXXXX")
broker=
trap 'status=$?; [ -z "$broker" ] || kill "$broker" 2>/dev/null || true; rm -rf "$dir"; exit $status' EXIT
fail() {
    echo "installed.sh: $*" >&2
    [ ! -s "$dir/log" ] || sed 's/^/  log: /' "$dir/log" >&2
    exit 1
}

"$cmake" --install "$build" --prefix "$dir/usr" >"$dir/install.log" 2>&1 || {
    cat "$dir/install.log" >&2
    fail "cmake --install fails"
}

# Where package builders expect things (GNUInstallDirs; systemd's folders are fixed). Only what
# belongs to the service: its nodes and clients are others' to test.
(cd "$dir/usr" && find . -type f | LC_ALL=C sort |
    grep -E '^\./(sbin/mcastd|lib/(systemd|sysusers\.d|tmpfiles\.d)/|share/man/man[58]/mcastd|share/doc/[^/]*/([a-z-]+\.md|examples/mcastd))') \
    >"$dir/found"
cat >"$dir/expected" <<'LIST'
./lib/systemd/system/mcast-node-boot.service
./lib/systemd/system/mcast-node.service
./lib/systemd/system/mcast-node.timer
./lib/systemd/system/mcastd-flux.service
./lib/systemd/system/mcastd-slurm.service
./lib/systemd/system/mcastd.service
./lib/sysusers.d/mcastd.conf
./lib/tmpfiles.d/mcastd.conf
./sbin/mcastd
./share/doc/mcastd/cleanup.md
./share/doc/mcastd/etcd.md
./share/doc/mcastd/examples/mcastd.conf
./share/doc/mcastd/fabric-manager.md
./share/doc/mcastd/facade.md
./share/doc/mcastd/flux-jobtap.md
./share/doc/mcastd/flux.md
./share/doc/mcastd/from-cray-slingshot.md
./share/doc/mcastd/high-availability.md
./share/doc/mcastd/integrate.md
./share/doc/mcastd/inventory.md
./share/doc/mcastd/launch.md
./share/doc/mcastd/libmcast.md
./share/doc/mcastd/mcast-node.md
./share/doc/mcastd/metrics.md
./share/doc/mcastd/mock-cxi.md
./share/doc/mcastd/mock-fm.md
./share/doc/mcastd/operations.md
./share/doc/mcastd/options.md
./share/doc/mcastd/planning.md
./share/doc/mcastd/pmix.md
./share/doc/mcastd/promises.md
./share/doc/mcastd/python.md
./share/doc/mcastd/relay.md
./share/doc/mcastd/releases.md
./share/doc/mcastd/security.md
./share/doc/mcastd/shared-vnis.md
./share/doc/mcastd/state.md
./share/doc/mcastd/tokens.md
./share/doc/mcastd/ui.md
./share/man/man5/mcastd.conf.5
./share/man/man8/mcastd.8
LIST
diff -u "$dir/expected" "$dir/found" || fail "other files are installed than expected (above)"
# The table of docs/operations.md names each: by its path, by its name, or by a folder.
page=$(dirname "$0")/../../../docs/operations.md
# shellcheck disable=SC2016 # the backquotes are the page's
sed -n '/^| installed | what |$/,/^$/s/^| \([^|]*\) |.*/\1/p' "$page" | grep -o '`[^`]*`' | tr -d '`' >"$dir/named"
[ -s "$dir/named" ] || fail "docs/operations.md has no table of what is installed"
(cd "$dir/usr" && find . ! -type d | sed 's,^\./,,; s,^lib64/,lib/,; s,^lib/[^/]*-linux-[^/]*/,lib/,') | while read -r file; do
    named=
    while read -r word; do
        # shellcheck disable=SC2254 # words are patterns
        case $file in
        $word | */$word) named=1 ;;
        ${word%/}/*) [ "${word%/}" = "$word" ] || named=1 ;;
        esac
    done <"$dir/named"
    [ "$named" ] || fail "docs/operations.md does not name $file among what is installed"
done

# Links between pages, and to examples, lead somewhere from where they are installed.
find "$dir/usr" -name '*.md' | while read -r page; do
    grep -o '](\([^)# ]*\)' "$page" | cut -c 3- | grep -v '^https*:' | while read -r link; do
        [ -e "${page%/*}/$link" ] || fail "$page links to $link, which is not installed there"
    done
done

grep -q "^ExecStart=$dir/usr/sbin/mcastd\$" "$dir/usr/lib/systemd/system/mcastd.service" ||
    fail "the unit does not start what was installed with it"
grep -q "^ExecStart=$dir/usr/bin/mcast-node tend\$" "$dir/usr/lib/systemd/system/mcast-node.service" ||
    fail "the node's unit does not start what was installed with it"
grep -q "^ExecStart=$dir/usr/bin/mcast-node boot\$" "$dir/usr/lib/systemd/system/mcast-node-boot.service" ||
    fail "the node's unit for boots does not start what was installed with it"
grep -q "^ExecStart=$dir/usr/libexec/mcastd/slurm/act-on-lost " "$dir/usr/lib/systemd/system/mcastd-slurm.service" ||
    fail "Slurm's unit does not start what was installed with it"
! cat "$dir"/usr/lib/systemd/system/*.service | grep -q '@[a-zA-Z_]*@' || fail "the unit has an unfilled @NAME@"

mcastd=$dir/usr/sbin/mcastd
mkdir -p "$dir/etc/conf.d" "$dir/state"
cp "$dir/usr/share/doc/mcastd/examples/mcastd.conf" "$dir/etc/mcastd.conf"
cat >"$dir/etc/conf.d/places.conf" <<CONF
[broker]
socket = $dir/s
[state]
path = $dir/state/state.db
key_file = $dir/etc/state.key
[cluster "elcap"]
users = root
CONF
"$mcastd" --make-key --config "$dir/etc/mcastd.conf" 2>"$dir/log" || fail "--make-key fails"
[ "$(stat -c %a "$dir/etc/state.key")" = 600 ] || fail "the key is not of mode 0600"
cp "$dir/etc/state.key" "$dir/first.key"
"$mcastd" --make-key --config "$dir/etc/mcastd.conf" 2>"$dir/log" || fail "--make-key fails again"
cmp -s "$dir/first.key" "$dir/etc/state.key" || fail "--make-key replaced a key"
"$mcastd" --check --config "$dir/etc/mcastd.conf" 2>"$dir/log" || fail "--check fails"

"$mcastd" --config "$dir/etc/mcastd.conf" 2>"$dir/log" &
broker=$!
# Asked again and again, without a deadline of its own: CTest has one.
until grep -q ' READY ' "$dir/log"; do
    kill -0 "$broker" 2>/dev/null || fail "the installed mcastd does not start"
    sleep 0.05
done
# The Python module that was installed, and what finds it and libmcast: without Flux. Python cannot
# open a library with sanitizers.
if ! ldd "$dir/usr/sbin/mcastd" | grep -q libasan; then
    "$dir/usr/libexec/flux/cmd/flux-mcast" list --cluster elcap --url "unix:$dir/s" >"$dir/list" ||
        fail "the installed flux mcast does not reach mcastd"
    grep -q '^JOBID ' "$dir/list" || fail "flux mcast list says: $(cat "$dir/list")"
fi

status=0
kill "$broker"
wait "$broker" || status=$?
broker=
[ $status = 0 ] || fail "the installed mcastd ended with $status"
[ -s "$dir/state/state.db" ] || fail "there is no ledger"
echo "installed, checked, started, stopped"
