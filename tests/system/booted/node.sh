# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# Sourced by service.sh: a compute node under a real systemd. mcast-node.timer ends what is left of a job that
# the broker says is over, and nothing while the broker cannot be reached (F9, B11).

from_now() { cursor=$(journalctl --no-pager -q -n 1 --show-cursor | sed -n 's/^-- cursor: //p'); }
tells() { journalctl -u mcast-node --no-pager -q -o cat --after-cursor "$cursor" | grep -- "$1"; } # since then
thrice() { [ "$(tells "$1" | wc -l)" -ge 3 ]; }
services() { mcast-node list --json | grep -c '"system": false'; }
has_services() { [ "$(services)" = 2 ]; }
has_none() { [ "$(services)" = 0 ]; }
boot_was_told() { [ "$(systemctl show -P Result mcast-node-boot)" = success ]; }

node_configured() {
    libcxi=$(dpkg -L mock-fm | grep '/libcxi.so.1$')
    mkdir -p /var/lib/mock-cxi
    printf '[mock]\nnics = 2\n' >/var/lib/mock-cxi/cxi.conf
    # missed_every is 30 minutes where it is not said; a sixth of it without a process of the owner.
    printf 'cluster = elcap\nlibcxi = %s\nmissed_every = 6s\n' "$libcxi" >/etc/mcastd/node.conf
    mcast-node --check || fail "node.conf"
    # Each second, and not when all nodes of a machine were started together.
    mkdir -p /run/systemd/system/mcast-node.timer.d
    printf '[Timer]\nOnBootSec=\nOnActiveSec=0\nOnUnitInactiveSec=1s\nRandomizedDelaySec=0\nAccuracySec=100ms\n' \
        >/run/systemd/system/mcast-node.timer.d/often.conf
    systemctl daemon-reload
}

node() { # node FOLDER-OF-PACKAGES
    say "a node: the timer as it is installed"
    (cd "$1" && install_all ./mcast-node_*.deb)
    [ "$(systemctl is-enabled mcast-node.timer)" = disabled ] || fail "mcast-node.timer is enabled"
    systemctl -q enable --now mcast-node.timer || fail "mcast-node.timer cannot be enabled"
    systemctl -q enable mcast-node-boot.service || fail "mcast-node-boot cannot be enabled"
    systemctl -q is-active mcast-node.timer || fail "mcast-node.timer is not active"
    systemctl list-timers --no-pager mcast-node.timer | sed -n 's/^/   /;1,2p'
    [ "$(systemctl show -P NextElapseUSecMonotonic mcast-node.timer)" != infinity ] || fail "the timer waits for nothing"

    say "a node: a job that runs keeps its services"
    node_configured
    mcastctl reserve --uid 5588 --nodes "$(hostname -s)" left >/dev/null
    mcast-node prolog --job left --cores 4 || fail "prolog"
    has_services || fail "a running job has $(services) services"
    from_now
    systemctl restart mcast-node.timer
    until_it "tend runs" thrice '^Finished '
    has_services || fail "a running job's services are gone: $(journalctl -u mcast-node --no-pager -n 20)"

    say "a node: the broker is away, nothing goes"
    systemctl stop mcast-node.timer
    mcastctl release left >/dev/null # and no epilog runs
    systemctl stop mcastd
    from_now
    systemctl start mcast-node.timer
    until_it "tend says that the broker does not answer" thrice 'cannot reach mcastd'
    has_services || fail "services went while the broker was away"
    ! systemctl -q is-failed mcast-node || fail "mcast-node.service has failed"
    tells 'cannot reach mcastd' | sed 's/^/   /;q'

    say "a node: the broker says that the job is over, its services go"
    systemctl start mcastd
    until_it "the services go" has_none
    tells 'job elcap/left is over' || fail "the journal does not tell of it: $(journalctl -u mcast-node --no-pager -n 20)"
    until_it "its VNI is free" sh -c '! mcastctl list --held | grep -q left'
    ! systemctl -q is-failed mcast-node || fail "mcast-node.service has failed"
    remember
}

node_booted() {
    say "booted: the timer runs by itself"
    systemctl -q is-active mcast-node.timer || fail "mcast-node.timer is not active"
    until_it "the boot is told" boot_was_told
}
