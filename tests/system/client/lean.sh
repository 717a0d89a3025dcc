#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lean.sh MCASTCTL MCAST_NODE RESERVE: what asks over the Unix socket loads neither libcurl nor
# libcrypto, which take longer than all the rest. Where these would be loaded from, there is
# something that cannot be: whoever needs them says so.
set -eu
mcastctl=$1
mcast_node=$2
reserve=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "no library" >"$folder/libcurl.so.4"
cp "$folder/libcurl.so.4" "$folder/libcrypto.so.3"

# lean STATUS COMMAND…: ends with that status, its words in $folder/out
lean() {
    status=$1
    shift
    code=0
    LD_LIBRARY_PATH=$folder "$@" >"$folder/out" 2>&1 </dev/null || code=$?
    [ "$code" = "$status" ] || {
        echo "$* ended with $code, not $status:"
        cat "$folder/out"
        exit 1
    }
}

says() {
    grep -q "$1" "$folder/out" || {
        echo "not a word of $1:"
        cat "$folder/out"
        exit 1
    }
}

lean 0 "$mcastctl" --version
lean 0 "$mcast_node" --version
lean 4 "$mcastctl" --url "$folder/none" status
says "cannot reach mcastd at $folder/none"
lean 2 "$reserve"

lean 4 "$mcastctl" --url https://127.0.0.1:1 status
says 'libcurl.so.4 cannot be used (.*file too short): .*install it'
lean 4 "$mcastctl" --url https://127.0.0.1:1 doctor
says 'libcurl.so.4 cannot be used'

# docs/tokens.md has it: to read a token takes no cryptography, to narrow it does.
MCAST_TOKEN=mcast1.tRb1fgRyJO0AAAAAAAASZwVlbGNhcAxmMlJzOHN5ZFN4bWSgoaKjpKWmp6ipqqusra6v2udgB9YDxwOMjdLuILvbxVwbr4AAwIpst4OgDlboN6c
export MCAST_TOKEN
lean 0 "$mcastctl" token show
lean 2 "$mcastctl" token narrow --steps /fA
says libcrypto.so.3
