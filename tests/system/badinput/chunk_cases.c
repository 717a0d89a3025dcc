/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/cases.h"

/* Bodies in chunks. What libmicrohttpd cannot read it answers itself; where it is too generous,
 * the next request must not be carried out: the connection ends with every answer. */

/* clang-format off */
#define VICTIM "DELETE " JOB "there HTTP/1.1\r\nHost: x\r\n\r\n"
#define HEAD "PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
#define MHD(what, chunks, status) \
    {what, NULL, NULL, NULL, SPAN(HEAD chunks), NULL, 0, PLAIN, status, NULL, NULL, false}
/* Read as {}, which lacks a uid. */
#define READ(what, chunks) \
    {what, NULL, NULL, NULL, SPAN(HEAD chunks VICTIM), NULL, 0, ENDS, 422, "missing-field", "uid", false}
#define LONG(what, chunks, unit, times, outcome, status, code, field) \
    {what, NULL, NULL, NULL, SPAN(HEAD chunks), unit, times, outcome, status, code, field, false}

static const struct bad_case cases[] = {
    MHD("no size", "\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size that is none", "xyz\r\n", 400),
    MHD("a size below zero", "-1\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size with a plus", "+2\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size with 0x", "0x2\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size after a space", " 2\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size before a space", "2 \r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size and an extension after a space", "2 ;a\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size with a fraction", "2.0\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size with a NUL", "2\0\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size ended by CR", "2\r{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("an extension without size", ";a=b\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a size of 68 bits", "fffffffffffffffff\r\n", 413),
    MHD("a size of 2^64", "10000000000000000\r\n", 413),
    MHD("more than its size", "2\r\n{}XX0\r\n\r\n" VICTIM, 400),
    MHD("less than its size", "4\r\n{}\r\n0\r\n\r\n" VICTIM, 400),
    MHD("two CR after it", "2\r\n{}\r\r\n0\r\n\r\n" VICTIM, 400),
    MHD("a trailer without colon", "2\r\n{}\r\n0\r\nX\r\n\r\n" VICTIM, 400),
    LONG("a trailer of 70,000", "2\r\n{}\r\n0\r\nX: " MANY "\r\n\r\n" VICTIM, "a", 70000, PLAIN, 431,
         NULL, NULL),
    LONG("5,000 trailers", "2\r\n{}\r\n0\r\n" MANY "\r\n" VICTIM, "X: y\r\n", 5000, PLAIN, 431, NULL,
         NULL),
    READ("zeros before the size", "00000002\r\n{}\r\n000\r\n\r\n"),
    READ("a byte a chunk", "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"),
    READ("a trailer", "2\r\n{}\r\n0\r\nX: y\r\n\r\n"),
    READ("a trailer with a length", "2\r\n{}\r\n0\r\nContent-Length: 60\r\n\r\n"),
    READ("a trailer with a login", "2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n"),
    {"no chunk at all", NULL, NULL, NULL, SPAN(HEAD "0\r\n\r\n" VICTIM), NULL, 0, ENDS, 400, "bad-json",
     NULL, false},
    {"a chunk, byte by byte", NULL, NULL, NULL, SPAN(HEAD "2\r\n{}\r\n0\r\nX: y\r\n\r\n"), NULL,
     0, ENDS, 422, "missing-field", "uid", true},
    LONG("10,000 chunks of a byte", MANY "0\r\n\r\n", "1\r\n \r\n", 10000, ENDS, 400, "bad-json",
         NULL),
    LONG("a mebibyte and 16 bytes in chunks of 16", MANY "0\r\n\r\n",
         "10\r\n                \r\n", (1 << 16) + 1, ENDS, 413, "too-large", NULL),
};
/* clang-format on */

const struct bad_table chunk_table = BAD_TABLE("chunks", cases);
