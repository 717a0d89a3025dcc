#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The packages and the service under a real systemd, as README.md says it: ./dev systemd. Changes the
# machine and reboots it: for one that is thrown away. Started again after the boot, it goes on.
# usage: service.sh PACKAGES [PACKAGES-OF-AN-OLDER-RELEASE]
set -eu
packages=$(cd "$1" && pwd)
older=${2:+$(cd "$2" && pwd)}
top=$(cd "$(dirname "$0")/../../.." && pwd)
work=/var/lib/booted-test
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive MCAST_CLUSTER=elcap
unset MCAST_URL

say() { echo "== $*"; }
fail() {
    echo "service.sh: $*" >&2
    journalctl -u mcastd -n 15 --no-pager >&2 || true
    exit 1
}
until_it() { # until_it WHAT COMMAND…: asks again until it holds, for at most a minute
    what=$1
    end=$(($(date +%s) + 60))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt $end ] || fail "$what: not within a minute"
        sleep 0.1
    done
}
of() { systemctl show -P "$1" mcastd; }
is() { [ "$(of "$1")" = "$2" ] || fail "$1 of mcastd is '$(of "$1")', not '$2'"; }
up() { mcastctl --json status | grep -q '"link": *"up"'; }
install_all() { apt-get -qq install --allow-downgrades "$@" >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; fail "apt-get install $*"; }; }

# What a job has, and nothing that time changes.
jobs() {
    mcastctl --json list >"$work/list.json" || return 1
    python3 - "$work/list.json" <<'PYTHON'
import json, sys
said = json.load(open(sys.argv[1]))
for job in sorted(said["jobs"] if isinstance(said, dict) else said, key=lambda job: job["job"]):
    print(job["job"], job["state"], job.get("vnis"))
PYTHON
}
same_jobs() {
    until_it "the link is up" up
    jobs >"$work/now" || fail "the jobs cannot be listed"
    diff -u "$work/jobs" "$work/now" >&2 || fail "$1: other jobs than before (above)"
}
reserve() { mcastctl reserve --uid 5588 --nodes 'elcap[1-128]' "$1" >/dev/null; }
remember() { jobs >"$work/jobs" && grep -q . "$work/jobs"; }

fabric_manager() { # a double on this host, which knows its jobs after a boot, too
    cat >/etc/systemd/system/double.service <<'UNIT'
[Service]
StateDirectory=double
ExecStart=/usr/bin/mock-fm --auth basic --authdir /etc/double --state /var/lib/double/jobs
[Install]
WantedBy=multi-user.target
UNIT
    mkdir -p /etc/double && echo a-password >/etc/double/passwd && chmod 600 /etc/double/passwd
    # What README.md has an administrator type.
    cat >/usr/local/bin/editor <<'EDITOR'
#!/bin/sh
cat >"$1" <<'CONF'
[fm]
url = http://127.0.0.1:8000
auth = basic
authdir = /etc/mcastd/login
[hwcoll]
min_nodes = 64
total_addresses = 4086
system_nodes = 11136
[cluster "elcap"]
users = root
CONF
EDITOR
    chmod +x /usr/local/bin/editor
}

readme() { # readme FILE FOLDER: the steps of README.md, as they stand
    # shellcheck disable=SC2016 # the backquote is the page's
    sed -n '/^## Run it against a real fabric manager/,/^## /p' "$top/README.md" |
        sed -n '/^```console$/,/^```$/p' | sed '/^```$/q' |
        sed -n 's/^# //p' | grep -v '^\./dev package' >"$1"
    grep -q '^systemctl enable --now mcastd' "$1" || fail "README.md has no steps to install"
    sed -i "s,cd build/packages,cd $2," "$1"
}

first_boot() {
    [ ! -e /etc/mcastd ] || fail "there is a /etc/mcastd: this is for a machine that is thrown away"
    mkdir -p $work
    echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90booted-test
    apt-get -qq update >/dev/null
    readme $work/steps "${older:-$packages}"
    fabric_manager
    ! command -v /bin/kill >/dev/null || say "note: this system has a /bin/kill"

    say "installed, nothing runs and nothing asked"
    (cd "${older:-$packages}" && install_all ./mcastd_*.deb ./mcastctl_*.deb ./libmcast0_*.deb ./mcast-doc_*.deb ./mock-fm_*.deb) </dev/null
    is ActiveState inactive
    [ "$(systemctl is-enabled mcastd)" = disabled ] || fail "mcastd is enabled"
    [ "$(systemctl is-system-running)" != degraded ] || fail "$(systemctl --failed)"
    systemctl -q enable --now double

    say "the steps of README.md"
    while read -r step; do
        echo "   # $step"
        echo a-password >$work/typed
        sh -ec "$step" <$work/typed >$work/said 2>&1 || { cat $work/said >&2; fail "README.md: $step"; }
    done <$work/steps
    until_it "the link is up" up
    for job in j1 j2 j3; do reserve $job; done
    remember || fail "no jobs"

    if [ -n "$older" ]; then upgrade; fi
    running
    node "$packages"
    say "reboot"
    touch $work/booted
    systemctl reboot
}

upgrade() {
    say "upgraded with running jobs"
    before=$(of MainPID)
    version_of_ledger >$work/version.old
    (cd "$packages" && install_all ./mcastd_*.deb ./mcastctl_*.deb ./libmcast0_*.deb ./mcast-doc_*.deb ./mock-fm_*.deb)
    until_it "mcastd runs" systemctl -q is-active mcastd
    [ "$(of MainPID)" != "$before" ] || fail "the old program still runs"
    same_jobs "upgraded"

    say "downgraded: refused, and the ledger stays as it is"
    version_of_ledger >$work/version
    (cd "$older" && install_all ./mcastd_*.deb ./mcastctl_*.deb ./libmcast0_*.deb)
    if [ "$(cat $work/version)" = "$(cat $work/version.old 2>/dev/null)" ]; then
        same_jobs "downgraded"
    else
        until_it "the older mcastd gives up" systemctl -q is-failed mcastd
        journalctl -u mcastd --no-pager -n 40 | grep -i 'newer' || fail "the older mcastd does not say why"
        version_of_ledger | cmp -s - $work/version || fail "the older mcastd changed the ledger"
    fi
    (cd "$packages" && install_all ./mcastd_*.deb ./mcastctl_*.deb ./libmcast0_*.deb)
    systemctl reset-failed mcastd || true
    systemctl start mcastd || fail "the newer mcastd does not start again"
    same_jobs "upgraded again"
}

version_of_ledger() {
    python3 -c 'import sqlite3
print(sqlite3.connect("file:/var/lib/mcastd/state.db?mode=ro", uri=True).execute("PRAGMA user_version").fetchone()[0])'
}

running() {
    say "who may read what"
    while read -r path said; do
        [ "$(stat -c '%U %a' "$path")" = "$said" ] || fail "$path is of $(stat -c '%U %a' "$path"), not $said"
    done <<'LIST'
/etc/mcastd root 755
/etc/mcastd/state.key mcastd 600
/etc/mcastd/login/passwd mcastd 600
/var/lib/mcastd mcastd 700
/var/lib/mcastd/state.db mcastd 600
/run/mcastd mcastd 755
/run/mcastd/mcastd.sock mcastd 666
LIST
    ! setpriv --reuid nobody --regid nogroup --clear-groups mcastctl reserve --uid 5588 --nodes n1 x 2>/dev/null ||
        fail "anybody can reserve"

    say "the journal's fields"
    reserve j4
    until_it "the journal tells of the job" sh -c 'journalctl -u mcastd MCASTD_EVENT=reserved MCASTD_JOB=j4 | grep -q j4'
    remember
    journalctl -u mcastd -o json MCASTD_EVENT=reserved MCASTD_JOB=j4 >$work/journal
    for field in '"PRIORITY":"' '"SYSLOG_IDENTIFIER":"mcastd"' '"MCASTD_CLUSTER":"elcap"' '"_SYSTEMD_UNIT":"mcastd.service"'; do
        grep -q "$field" $work/journal || fail "no $field in the journal"
    done

    say "reload"
    before=$(of MainPID)
    echo '[broker]
log_level = debug' >/etc/mcastd/conf.d/50-site.conf
    systemctl reload mcastd || fail "systemctl reload"
    until_it "the journal tells of a reload" sh -c 'journalctl -u mcastd --no-pager -b | grep -q "reloaded: "'
    is MainPID "$before"

    say "kill -9"
    restarts=$(of NRestarts)
    kill -9 "$before"
    until_it "it is restarted" sh -c "[ \"\$(systemctl show -P NRestarts mcastd)\" -gt $restarts ]"
    until_it "it runs" systemctl -q is-active mcastd
    same_jobs "killed"

    say "the watchdog"
    mkdir -p /run/systemd/system/mcastd.service.d
    printf '[Service]\nWatchdogSec=3s\nTimeoutAbortSec=1s\n' >/run/systemd/system/mcastd.service.d/watchdog.conf
    systemctl daemon-reload && systemctl restart mcastd
    restarts=$(of NRestarts)
    kill -STOP "$(of MainPID)"
    until_it "the watchdog restarts it" sh -c "[ \"\$(systemctl show -P NRestarts mcastd)\" -gt $restarts ]"
    journalctl -u mcastd --no-pager -n 40 | grep -q 'Watchdog timeout' || fail "it was not the watchdog"
    rm -r /run/systemd/system/mcastd.service.d
    systemctl daemon-reload && systemctl restart mcastd
    same_jobs "after the watchdog"

    say "stopped under load"
    systemctl reset-failed mcastd # five starts in ten minutes are the unit's limit, and were made above
    : >$work/answered
    touch $work/load
    for lane in 1 2 3; do
        (n=0
            while [ -e $work/load ]; do
                n=$((n + 1))
                ! reserve "l$lane-$n" 2>/dev/null || echo "l$lane-$n" >>$work/answered
            done) &
    done
    until_it "there is load" sh -c "[ \$(wc -l <$work/answered) -gt 20 ]"
    systemctl stop mcastd || fail "systemctl stop"
    rm $work/load
    wait
    is Result success
    is ExecMainStatus 0
    systemctl start mcastd || fail "systemctl start"
    until_it "the link is up" up
    jobs | cut -d ' ' -f 1 | sort >$work/now
    sort $work/answered | comm -23 - $work/now >$work/missing
    [ ! -s $work/missing ] || fail "answered, and not in the ledger: $(cat $work/missing)"
    echo "   $(wc -l <$work/answered) jobs were answered, and all are there"
    remember

    say "what the sandbox leaves open"
    level=$(systemd-analyze security --no-pager mcastd | sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p')
    echo "   systemd-analyze security: $level"
    awk -v level="$level" 'BEGIN { exit !(level != "" && level + 0 <= 2.0) }' || fail "the exposure level is '$level'"
}

# What apt purge runs, with a ledger in etcd, …; then all is again as it was.
ledger_elsewhere() {
    case $1 in
    etcd) printf '[state]\nstore = etcd\n' >/etc/mcastd/conf.d/60-state.conf ;;
    path) printf '[state]\npath = /srv/state.db ; here\n' >/etc/mcastd/conf.d/60-state.conf ;;
    mount) mount --bind $work/kept/mcastd-ledger /var/lib/mcastd ;;
    link) mv /var/lib/mcastd /srv/mcastd && ln -s /srv/mcastd /var/lib/mcastd ;;
    file-link) mv /var/lib/mcastd/state.db /srv/state.db && ln -s /srv/state.db /var/lib/mcastd/state.db ;;
    esac
    /var/lib/dpkg/info/mcastd.postrm purge 2>$work/said || fail "a purge with the ledger by $1: $(cat $work/said)"
    grep -q 'not in /var/lib/mcastd of this host alone' $work/said || fail "by $1: a purge does not say what stays"
    for path in /var/lib/mcastd/state.db /etc/mcastd/state.key; do
        [ -s $path ] || fail "by $1: a purge takes $path"
    done
    [ "$1" != mount ] || umount /var/lib/mcastd
    rm -rf /etc/mcastd /var/lib/mcastd /srv/mcastd /srv/state.db
    cp -a $work/kept/mcastd /etc/mcastd
    cp -a $work/kept/mcastd-ledger /var/lib/mcastd
}

second_boot() {
    say "booted: mcastd runs by itself, with all its jobs"
    until_it "mcastd runs" systemctl -q is-active mcastd
    same_jobs "booted"
    node_booted

    say "removed: the ledger and the configuration stay"
    apt-get -qq remove mcastd >$work/apt.log 2>&1 || { cat $work/apt.log >&2; fail "apt-get remove"; }
    ! systemctl -q is-active mcastd || fail "it still runs"
    for path in /var/lib/mcastd/state.db /etc/mcastd/mcastd.conf /etc/mcastd/state.key; do
        [ -e $path ] || fail "$path is gone"
    done
    (cd "$packages" && install_all ./mcastd_*.deb)
    systemctl start mcastd || fail "it does not start again"
    same_jobs "installed again"

    say "purged: a ledger that may be another host's, too, stays, and so does its key"
    systemctl stop mcastd
    mkdir $work/kept && cp -a /etc/mcastd $work/kept/mcastd && cp -a /var/lib/mcastd $work/kept/mcastd-ledger
    for place in etcd path mount link file-link; do ledger_elsewhere $place; done

    say "purged: ledger, keys and configuration are gone, what the site put there is not"
    apt-get -qq purge mcastd mcastctl mcast-node libmcast0 mcast-doc mock-fm >$work/apt.log 2>&1 ||
        { cat $work/apt.log >&2; fail "apt-get purge"; }
    find /etc /usr /var/lib /run -xdev \( -name '*mcast*' -o -name mock_fm \) ! -name "*dreamcast*" ! -path "/usr/src/*" ! -path "/var/lib/apt/*" ! -path "$work/*" | sort >$work/left
    printf '%s\n' /etc/mcastd | diff -u - $work/left >&2 || fail "something else is left (above)"
    [ "$(ls -A /etc/mcastd)" = login ] || fail "in /etc/mcastd is left: $(ls -A /etc/mcastd)"
    say "all is well"
}

# shellcheck source=tests/system/booted/node.sh
. "$top/tests/system/booted/node.sh"
if [ "$(cat /proc/1/comm)" != systemd ] || [ "$(id -u)" != 0 ]; then
    echo "skipped: systemd is not process 1, or this is not root"
    exit 77
fi
if [ -e $work/booted ]; then second_boot; else first_boot; fi
