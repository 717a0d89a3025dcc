#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh GROFF MCASTCTL: the manual page is well-formed, and has every command and variable.
set -eu
page=$("$2" --man-page)
complaints=$(printf '%s\n' "$page" | "$1" -man -ww -rCHECKSTYLE=2 -Tutf8 -z 2>&1)
[ -z "$complaints" ] || {
    printf '%s\n' "$complaints"
    exit 1
}
text=$(printf '%s\n' "$page" | "$1" -man -Tutf8 -P-cbou)
for word in reserve release show list env sync fence events status doctor token cleanup accept-loss claim step-down options self \
    MCAST_URL MCAST_CACERT MCAST_CERT MCAST_KEY MCAST_MUNGE_SOCKET MCAST_SERVER_USER MCAST_TOKEN --munge-socket --config; do
    case $text in
    *"$word"*) ;;
    *)
        echo "the page lacks $word"
        exit 1
        ;;
    esac
done
