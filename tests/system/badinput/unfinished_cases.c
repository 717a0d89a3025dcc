/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/cases.h"

/* Requests that stop half way: nothing can be said of them, and nothing may be done. */

/* clang-format off */
#define RAW(what, bytes) \
    {what, NULL, NULL, NULL, SPAN(bytes), NULL, 0, WAITS, 0, NULL, NULL, false}
#define SLOW(what, bytes) \
    {what, NULL, NULL, NULL, SPAN(bytes), NULL, 0, WAITS, 0, NULL, NULL, true}
#define HEAD "PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\n"
#define BODY "{\"uid\":1,\"node_count\":1}"

static const struct bad_case cases[] = {
    RAW("nothing", ""),
    RAW("a letter", "G"),
    RAW("a method", "GET"),
    RAW("a method and a space", "GET "),
    RAW("half an address", "GET /heal"),
    RAW("a line without its end", "GET /healthz HTTP/1.1"),
    RAW("a line with half its end", "GET /healthz HTTP/1.1\r"),
    RAW("a line", "GET /healthz HTTP/1.1\r\n"),
    RAW("half a header's name", "GET /healthz HTTP/1.1\r\nHo"),
    RAW("half a header", "GET /healthz HTTP/1.1\r\nHost:"),
    RAW("a header", "GET /healthz HTTP/1.1\r\nHost: x\r\n"),
    RAW("a head with half its end", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r"),
    RAW("empty lines", "\r\n\r\n\r\n\r\n"),
    RAW("NULs", "\0\0\0\0\0\0\0\0"),
    RAW("a head whose body does not come", HEAD "Content-Length: 24\r\n\r\n"),
    RAW("all but a byte", HEAD "Content-Length: 25\r\n\r\n" BODY),
    RAW("half a body", HEAD "Content-Length: 24\r\n\r\n{\"uid\":1,"),
    RAW("chunks that do not come", HEAD "Transfer-Encoding: chunked\r\n\r\n"),
    RAW("half a size", HEAD "Transfer-Encoding: chunked\r\n\r\n1"),
    RAW("a size without chunk", HEAD "Transfer-Encoding: chunked\r\n\r\n18\r\n"),
    RAW("half a chunk", HEAD "Transfer-Encoding: chunked\r\n\r\n18\r\n{\"uid\":1,"),
    RAW("a chunk without its end", HEAD "Transfer-Encoding: chunked\r\n\r\n18\r\n" BODY),
    RAW("a chunk that is not the last", HEAD "Transfer-Encoding: chunked\r\n\r\n18\r\n" BODY "\r\n"),
    RAW("chunks without their end",
        HEAD "Transfer-Encoding: chunked\r\n\r\n18\r\n" BODY "\r\n0\r\n"),
    RAW("half a trailer", HEAD "Transfer-Encoding: chunked\r\n\r\n18\r\n" BODY "\r\n0\r\nX: "),
    RAW("a chunk of 2^64-1", HEAD "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" BODY),
    RAW("TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa"),
    RAW("SMB", "\x00\x00\x00\x2f\xff\x53\x4d\x42\x72\x00\x00\x00\x00"),
    RAW("a release without its end", "DELETE " JOB "there HTTP/1.1\r\nHost: x\r\n"),
    RAW("a sync without its end",
        "POST " SYNC " HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n{\"active\":[]}"),
    SLOW("half a head, byte by byte", "GET /healthz HTTP/1.1\r\nHost: x\r\nX: y\r\n"),
    SLOW("half a body, byte by byte", HEAD "Content-Length: 24\r\n\r\n{\"uid\":1,\"node_count\":1"),
};
/* clang-format on */

const struct bad_table unfinished_table = BAD_TABLE("half-sent requests", cases);
