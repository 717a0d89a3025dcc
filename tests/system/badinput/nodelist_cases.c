/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/cases.h"

/* Node lists: each is counted without being expanded, however many nodes it names. */

/* clang-format off */
#define BAD(what, list) \
    {what, "PUT", JOB "f1", NULL, SPAN("{\"uid\":1,\"nodes\":\"" list "\"}"), NULL, 0, KEEPS, \
     422, "invalid", "nodes", false}
#define LONG(what, list, unit, times) \
    {what, "PUT", JOB "f1", NULL, SPAN("{\"uid\":1,\"nodes\":\"" list "\"}"), unit, times, KEEPS, \
     422, "invalid", "nodes", false}

static const struct bad_case cases[] = {
    BAD("none", ""),
    BAD("a space", " "),
    BAD("a comma", ","),
    BAD("a comma at the start", ",n1"),
    BAD("a comma at the end", "n1,"),
    BAD("two commas", "n1,,n2"),
    BAD("a space after the comma", "n1, n2"),
    BAD("spaces between", "n1 n2"),
    BAD("a semicolon", "n1;n2"),
    BAD("a slash", "n1/n2"),
    BAD("a path", "../../etc/passwd"),
    BAD("a quote", "n\\\"1"),
    BAD("a backslash", "n\\\\1"),
    BAD("a line end", "n1\\nn2"),
    BAD("a shell's words", "$(reboot)"),
    BAD("a shell's expansion", "n{1..4}"),
    BAD("a wildcard", "n*"),
    BAD("outside of ASCII", "\xc6\x92n1"),
    BAD("brackets with nothing", "n[]"),
    BAD("brackets not closed", "n["),
    BAD("brackets not closed after a number", "n[1"),
    BAD("brackets not closed after a range", "n[1-4"),
    BAD("brackets not closed before a comma", "n[1-4,n2"),
    BAD("brackets only closed", "n1]"),
    BAD("brackets in brackets", "n[[1-2]]"),
    BAD("brackets in brackets, further on", "n[1,[2-3]]"),
    BAD("a range without start", "n[-4]"),
    BAD("a range without end", "n[1-]"),
    BAD("a range of three", "n[1-2-3]"),
    BAD("a range with two dashes", "n[1--2]"),
    BAD("a range that runs backwards", "n[4-1]"),
    BAD("a range of letters", "n[a-c]"),
    BAD("a range of hexadecimal numbers", "n[0x1-0x4]"),
    BAD("a range with a space", "n[1 - 4]"),
    BAD("a range with a step", "n[1-9:2]"),
    BAD("a comma too many in brackets", "n[1,]"),
    BAD("a comma first in brackets", "n[,1]"),
    BAD("a number of ten digits", "n[1-1000000000]"),
    BAD("2^32", "n[4294967296]"),
    BAD("2^64", "n[1-18446744073709551616]"),
    BAD("a million and one", "n[0-1000000]"),
    BAD("nearly a milliard", "n[1-999999999]"),
    BAD("a milliard by two", "r[1-1000]n[1-1000000]"),
    BAD("10^12 by two", "r[1-1000000]n[1-1000000]"),
    BAD("10^18 by six", "a[1-1000]b[1-1000]c[1-1000]d[1-1000]e[1-1000]f[1-1000]"),
    BAD("2^64 by four, which 64 bits take for 0", "a[1-65536]b[1-65536]c[1-65536]d[1-65536]"),
    BAD("a million by two names, and one more", "n[1-500000],m[1-500000],x"),
    BAD("a node twice", "n1,n2,n1"),
    BAD("a node twice in brackets", "n[1-3,2]"),
    BAD("ranges that overlap", "n[1-4],n[3-9]"),
    BAD("a node twice by two brackets", "n[1-12][1-12]"),
    BAD("a million names that no run can hold", "n[1-1000000]-ib"),
    LONG("10^1000 by a thousand brackets", "n" MANY, "[0-9]", 1000),
    LONG("ten thousand brackets open", "n" MANY, "[", 10000),
    LONG("a million by very many ranges", "n[" MANY "1]", "0-999999,", 5000),
    LONG("a node ten thousand times", "n1" MANY, ",n1", 9999),
    LONG("65,537 bytes", MANY, "n", 65537),
    LONG("a name and 65,536 commas", "n" MANY, ",", 65536),
    LONG("a number of 60,000 digits", "n[" MANY "]", "1", 60000),
    LONG("a number of 60,000 zeros", "n[" MANY "1]", "0", 60000),
};
/* clang-format on */

const struct bad_table nodelist_table = BAD_TABLE("node lists", cases);
