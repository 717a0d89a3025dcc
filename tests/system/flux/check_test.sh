# SPDX-License-Identifier: Apache-2.0
# check runs list_command as mcastd does: with nothing of this environment, so that another prefix than
# /usr and another instance than the system's are named, and wrong lists are found (F9, F23).
# shellcheck shell=bash
. "$(dirname "$0")/fixture.sh"
prepare
start_flux 2

said=$("$hooks/check") || fail "check finds: $said"
grep -q "^ok  *list_command  *$hooks/jobs $FLUX_PREFIX/bin/flux $FLUX_URI\$" <<<"$said" ||
    fail "check does not say how list_command is to be written: $said"
command=$(sed -n 's/^ok  *list_command  *//p' <<<"$said")
running=$(flux submit sleep inf)
flux job wait-event -q -t 60 "$running" start
# shellcheck disable=SC2086 # words, as in mcastd.conf
listed=$(cd / && env -i PATH=/usr/bin:/bin LANG=C.UTF-8 $command) || fail "list_command fails: $listed"
[ "$listed" = "$(flux job id --to=f58plain "$running")" ] || fail "list_command names: $listed"
mkdir "$dir/other-jobs"
cp -a "$hooks/." "$dir/other-jobs"
wrong_list() { # WORDS SCRIPT: what check says where list_command does this
    # shellcheck disable=SC2016 # that shell expands it
    printf '#!/bin/sh\n[ -n "$FLUX_URI" ] && exec %s/jobs "$@"\n%s\n' "$hooks" "$2" >"$dir/other-jobs/jobs"
    ! said=$("$dir/other-jobs/check") || fail "check finds nothing wrong with: $2"
    grep -q "^MISSING  list_command .*$1" <<<"$said" || fail "check says of '$2': $said"
}
wrong_list "does not name job f" "exit 0"
wrong_list "prints what is no job: 17" "$hooks/jobs \"\$@\"; echo 17"
wrong_list "no such instance" "echo no such instance >&2; exit 1"
flux cancel "$running"
flux job wait-event -q -t 60 "$running" clean
expect_clean
