#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh GROFF MCAST_NODE: the manual page is well-formed, and has every command, key and exit code.
set -eu
page=$("$2" --man-page)
complaints=$(printf '%s\n' "$page" | "$1" -man -ww -rCHECKSTYLE=2 -Tutf8 -z 2>&1)
[ -z "$complaints" ] || {
    printf '%s\n' "$complaints"
    exit 1
}
text=$(printf '%s\n' "$page" | "$1" -man -Tutf8 -P-cbou)
keys=$("$2" --help-config | sed -n 's/^#\([a-z_]*\) =.*/\1/p')
for word in prolog env epilog housekeeping clean list explain --reservation --retry-busy \
    MCAST_URL MCAST_CLUSTER MCAST_NODE_SPOOL SLURMD_NODENAME 'drain the node' $keys; do
    case $text in
    *"$word"*) ;;
    *)
        echo "the page lacks $word"
        exit 1
        ;;
    esac
done
