#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the last runs of ctest skipped, one line each with the reason: skipped.sh NAME=BUILD…
# Tests as a whole, which the report names (ctest --output-junit Testing/Temporary/junit.xml); cases
# that said cmocka's skip() while their program went on; and parts that a test left out ("skipped:
# REASON" in what it wrote). Of a test that was skipped, that line is the reason.
set -eu
for run; do
    cat "${run#*=}/Testing/Temporary/junit.xml" "${run#*=}/Testing/Temporary/LastTest.log" >/dev/null
done
for run; do
    temporary=${run#*=}/Testing/Temporary
    sed -n 's/.*<testcase name="\([^"]*\)".* status="notrun".*/\1/p' "$temporary/junit.xml" |
        awk -v run="${run%%=*}" '
        function tell(what) { if (!told[what]++) print test what "\t" run }
        BEGIN { while ((getline name <"-") > 0) whole[name] }
        / Testing: / && $1 ~ /^[0-9]+\/[0-9]+$/ { test = $3; split("", told); split("", parts); n = 0 }
        /^skipped: / { parts[++n] = ": " substr($0, 10) }
        /\[  SKIPPED \] / && !/test\(s\), listed below/ {
            sub(/.*\[  SKIPPED \] /, "")
            parts[++n] = ", " $0
        }
        /^".*" end time: / {
            for (i = 1; i <= n; i++)
                tell(parts[i])
            if (n == 0 && test in whole)
                tell("")
        }' "$temporary/LastTest.log"
done | awk -F '\t' '
    !($1 in runs) { order[++n] = $1 }
    { runs[$1] = runs[$1] (runs[$1] == "" ? "" : ", ") $2 }
    END { for (i = 1; i <= n; i++) print order[i] " (" runs[order[i]] ")" }'
