#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh GROFF MCAST_CLEANUP: the manual page is well-formed, and has every option and variable.
set -eu
page=$("$2" --man-page)
complaints=$(printf '%s\n' "$page" | "$1" -man -ww -rCHECKSTYLE=2 -Tutf8 -z 2>&1)
[ -z "$complaints" ] || {
    printf '%s\n' "$complaints"
    exit 1
}
text=$(printf '%s\n' "$page" | "$1" -man -Tutf8 -P-cbou)
for word in --step --below --wait --deadline --strict MCAST_URL MCAST_TOKEN MCAST_CACERT \
    FI_CXI_COLL_FABRIC_MGR_URL FI_CXI_COLL_FABRIC_MGR_CACERT FI_CXI_COLL_JOB_ID \
    FI_CXI_COLL_MCAST_TOKEN FI_CXI_COLL_JOB_STEP_ID; do
    case $text in
    *"$word"*) ;;
    *)
        echo "the page lacks $word"
        exit 1
        ;;
    esac
done
