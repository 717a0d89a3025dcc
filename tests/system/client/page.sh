#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh GROFF MCASTCTL: the manual page is well-formed, and has every command and variable; the
# overview is for one screen, and "help COMMAND" is the command's help.
set -eu
page=$("$2" --man-page)
complaints=$(printf '%s\n' "$page" | "$1" -man -ww -rCHECKSTYLE=2 -Tutf8 -z 2>&1)
[ -z "$complaints" ] || {
    printf '%s\n' "$complaints"
    exit 1
}
text=$(printf '%s\n' "$page" | "$1" -man -Tutf8 -P-cbou)
overview=$("$2" help)
[ "$overview" = "$("$2" --help)" ] && [ "$("$2" help vni)" = "$("$2" vni --help)" ] || {
    echo "mcastctl help is not the same as --help"
    exit 1
}
printf '%s\n' "$overview" | awk 'length > 100 { long = 1 } END { exit NR > 45 || long }' || {
    echo "mcastctl help: more than 45 lines, or one of more than 100 columns"
    exit 1
}
for command in $(printf '%s\n' "$overview" | sed -n '/^Options/q; s/^  \([a-z][a-z-]*\)  *[a-z].*/\1/p'); do
    "$2" help "$command" | grep -q '^Example:$' || {
        echo "mcastctl help $command has no example"
        exit 1
    }
done
for word in $(printf '%s\n' "$overview" | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p') reserve release show list env sync fence events status doctor token cleanup accept-loss claim step-down options self plan \
    MCAST_URL MCAST_CACERT MCAST_CERT MCAST_KEY MCAST_MUNGE_SOCKET MCAST_SERVER_USER MCAST_TOKEN --munge-socket --config; do
    case $text in
    *"$word"*) ;;
    *)
        echo "the page lacks $word"
        exit 1
        ;;
    esac
done
