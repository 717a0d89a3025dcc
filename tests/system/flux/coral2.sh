#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# flux-coral2's own tests of Slingshot (t3000 to t3002), with a flux-core of FLUX_PREFIX, and with libcxi
# from mock-cxi: a program of others on our mock, and the plugin that ours is compared with.
#
#   FLUX_PREFIX=… coral2.sh BUILD SOURCE      SOURCE: a clone of flux-coral2, which is not changed
#
# Leaves the plugin in BUILD/flux-coral2/src/job-manager/plugins/.libs.
set -euo pipefail
build=$(readlink -f "$1") source=$(readlink -f "$2")
ours=$(cd "$(dirname "$0")/../../.." && pwd)
made=$build/flux-coral2 cxi=$build/flux-cxi
export PATH=$FLUX_PREFIX/bin:$PATH MOCK_CXI=$build/flux-nics LD_LIBRARY_PATH=$build/lib/mock-cxi
export PKG_CONFIG_PATH=$FLUX_PREFIX/lib/pkgconfig:$cxi LC_ALL=C.UTF-8

# A libcxi.h of what cxi/ says that libcxi is, so that nothing of HPE's is needed.
mkdir -p "$cxi/libcxi" "$MOCK_CXI"
cat >"$cxi/libcxi/libcxi.h" <<'HEADER'
#pragma once
#include <errno.h>
#include "cxi/abi.h"
#include "cxi/calls.h"
#define LIBCXI_DECLARE(name, returns, parameters, version) returns cxil_##name parameters;
CXI_CALLS_NEEDED(LIBCXI_DECLARE)
static const char *const cxi_rsrc_type_strs[] __attribute__((unused)) = {
    "PTE", "TXQ", "TGQ", "EQ", "CT", "LE", "TLE", "AC"};
HEADER
printf 'Name: libcxi\nDescription: mock-cxi\nVersion: 1\nCflags: -I%s -I%s\nLibs: -L%s -lcxi\n' \
    "$cxi" "$ours" "$LD_LIBRARY_PATH" >"$cxi/libcxi.pc"
printf '[mock]\nnics = 4\nprivileged = any\n' >"$MOCK_CXI/cxi.conf"

log=$build/flux-coral2.log
run() { "$@" >>"$log" 2>&1 || { tail -n 40 "$log" >&2 && echo "failed: $*" >&2 && exit 1; }; }
: >"$log"
of="$(git -C "$source" rev-parse HEAD) $FLUX_PREFIX"
if [ "$of" != "$(cat "$made.last" 2>/dev/null)" ]; then
    rm -rf "$made"
    run git clone --quiet "$source" "$made"
fi
cd "$made"
if [ ! -e Makefile ]; then
    run ./autogen.sh
    # It wants Kubernetes' Python module, for parts that are not built here.
    mkdir -p "$build/flux-python" && echo '__version__ = "99.0"' >"$build/flux-python/kubernetes.py"
    PYTHONPATH=$build/flux-python run ./configure --with-cray-libcxi --disable-docs CXI_SERVICE=/bin/true
fi
run make -j "${MCAST_JOBS:-$(nproc)}" -C src
echo "$of" >"$made.last"
all_passed=0 all_failed=0 all_skipped=0
for test in t3000-slingshot-jobtap t3001-slingshot-shell t3002-slingshot-cmd; do
    said=$build/$test.log
    (cd t && env FLUX_TEST_INSTALLED_PATH="$FLUX_PREFIX/bin" FLUX_BUILD_DIR="$made" \
        FLUX_SOURCE_DIR="$made" ./$test.t) >"$said" 2>&1 || true
    skipped=$(grep -c '^ok .* # skip' "$said" || true)
    passed=$(($(grep -c '^ok ' "$said" || true) - skipped))
    failed=$(grep -c '^not ok ' "$said" || true)
    grep '^not ok \|^ok .* # skip' "$said" || true
    # One that ends early, or is skipped as a whole, says less than that it passed all.
    grep -q '^# passed all' "$said" || [ "$failed" -gt 0 ] || { tail -n 5 "$said" && failed=1; }
    printf '%-24s %s passed, %s failed, %s skipped\n' "$test" "$passed" "$failed" "$skipped"
    all_passed=$((all_passed + passed)) all_failed=$((all_failed + failed)) all_skipped=$((all_skipped + skipped))
done
echo "$all_passed passed, $all_failed failed, $all_skipped skipped"
[ $all_failed -eq 0 ]
