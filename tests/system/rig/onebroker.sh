# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154 # the sourcing script has them
# For scripts that need a broker and no fabric manager: "$mcastd" runs in "$folder", with the socket
# "$folder/s" and the cluster elcap. Sets broker, its process, which the script ends.
cat >"$folder/mcastd.conf" <<CONF
[broker]
socket = $folder/s
[state]
store = memory
key_file = $folder/state.key
[cluster "elcap"]
users = $(id -u)
CONF
"$mcastd" --config "$folder/mcastd.conf" >"$folder/log" 2>&1 &
broker=$!
tries=0
until [ -S "$folder/s" ]; do
    tries=$((tries + 1))
    if [ $tries -gt 600 ] || ! kill -0 "$broker"; then
        cat "$folder/log"
        exit 1
    fi
    sleep 0.1
done
