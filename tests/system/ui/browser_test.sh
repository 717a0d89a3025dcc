#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# browser_test.sh BUILD [JOBS [PICTURES]]: the page of mcastctl ui in a real Chromium (B5, B8): what it
# shows, the table, one job through its life, the broker killed beneath it, and no key or token anywhere.
# With 10,000 JOBS or more (300) it measures, too. PICTURES: a folder for screenshots, as in docs/.
build=$1
export PATH=$build/bin:$PATH
command -v chromedriver >/dev/null || {
    echo "skipped: there is no Chromium with its driver (Debian: chromium, chromium-driver)"
    exit 77
}
# shellcheck source=tests/system/rig/fixture.sh
source "$(dirname "$0")/../rig/fixture.sh"
# shellcheck source=tests/system/ui/fixture.sh
source "$(dirname "$0")/fixture.sh"

mkdir "$dir/conf.d"
printf 'elcap1 nic0=0x002,nic1=0x042\nelcap2 nic0=0x003\nelcap3 nic0=0x042\nelcap4 nic0=0x802\n' >"$dir/genders"
printf '[inventory]\nsource = fm\nfile = %s/genders\npoll = 1s\n[vni]\nhold = reports\n[hwcoll]\ntotal_addresses = 4086\n[cluster "elcap"]\nnodes = elcap[1-1000]\nbudget = 100\n' \
    "$dir" >"$dir/conf.d/ui.conf"
prepare
inventory_is_read() { mcastctl --json topology --format json | grep -q '"switches": *4'; }
until_it "the inventory is read" inventory_is_read
start_ui --write
draw_ports 1
export WEBDRIVER_PORT=$ports

# What it asks of us it writes; what it tells, too.
coproc python3 "$(dirname "$0")/browser_test.py" "$dir" "${2:-300}" ${3:+"$3"} 2>"$dir/python.log"
tester=$COPROC_PID
others="$tester $others"
exec {from}<&"${COPROC[0]}" {to}>&"${COPROC[1]}"
while read -r -u "$from" word rest; do
    case $word in
    kill) kill_broker && echo "done" >&"$to" ;;
    start) start_broker && echo "done" >&"$to" ;;
    *) echo "$word $rest" ;;
    esac
done
wait "$tester" || { cat "$dir/python.log" "$dir/ui.log" >&2 && fail "the page is not as it should be"; }
