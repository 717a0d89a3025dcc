#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh GROFF BUILD SOURCES: the manual pages of Flux's part are well-formed, and have every command and
# option of flux mcast, every option of a job, every key of the plugin, as the sources have them.
set -eu
groff=$1 build=$2 sources=$3
folder=$sources/deploy/flux
for page in "$folder"/man/*; do
    complaints=$("$groff" -man -ww -rCHECKSTYLE=2 -Tutf8 -z "$page" 2>&1)
    [ -z "$complaints" ] || { echo "$complaints" && exit 1; }
done
has() { # has PAGE WORDS…
    page=$("$groff" -man -Tutf8 -P-cbou "$folder/man/$1")
    name=$1
    shift
    [ $# -gt 1 ] || { echo "no words are looked for in $name" && exit 1; }
    for word; do
        case $page in *"$word"*) ;; *) echo "$name lacks $word" && exit 1 ;; esac
    done
}
command=$build/libexec/flux/cmd/flux-mcast
names=$("$command" --help | sed -n 's/^    \([a-z]*\)  .*/\1/p')
options=$(for name in $names; do "$command" "$name" --help | grep -o -e '--[a-z-]*'; done | sort -u | grep -vx -e --help)
# shellcheck disable=SC2086 # words
has flux-mcast.1 $names $options
# shellcheck disable=SC2046
has flux-shell-mcast.1 mcast=off $(sed -n 's/^ *{"\([a-z-]*\)", read_.*/mcast.\1=/p' "$folder/grant/request.c")
# shellcheck disable=SC2046
has flux-config-mcast.5 $(tr -d '\n' <"$folder/jobtap/jobtap.c" | sed 's/.*conf_unpack(plugin,//; s/);.*//' | grep -o '"[a-z]\{3,\}"' | tr -d '"')
