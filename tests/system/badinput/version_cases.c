/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/cases.h"

/* What libmicrohttpd answers otherwise since 1.0, and nothing can be done about: the same requests,
 * by what 0.9.75 and 1.0.1 make of them. Never is the victim's release carried out but where both
 * sides must see it as the next request. */

/* clang-format off */
#define VICTIM "DELETE " JOB "there HTTP/1.1\r\nHost: x\r\n\r\n"
#define RAW_ROW(what, bytes, outcome, status, code, field) \
    {what, NULL, NULL, NULL, SPAN(bytes), NULL, 0, outcome, status, code, field, false}
#define MANY_OF_ROW(what, bytes, unit, times, outcome, status) \
    {what, NULL, NULL, NULL, SPAN(bytes), unit, times, outcome, status, NULL, NULL, false}
#define QUERY_ROW(what, path, unit, outcome, status, code, field) \
    {what, "GET", path, NULL, SPAN(""), unit, 3000, outcome, status, code, field, false}
#define RAW(...) RAW_ROW(__VA_ARGS__)
#define MANY_OF(...) MANY_OF_ROW(__VA_ARGS__)
#define QUERY(...) QUERY_ROW(__VA_ARGS__)
#define PUT(headers) "PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\n" headers "\r\n"
#define CHUNKS(chunks) PUT("Transfer-Encoding: chunked\r\n") chunks VICTIM

#define SSH "a greeting of SSH", "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"
#define NUL_AFTER_VERSION "a NUL after the version", "GET /healthz HTTP/1.1\0\r\nHost: x\r\n\r\n"
#define NUL_IN_ADDRESS "a NUL in the address", "GET /healthz\0/x HTTP/1.1\r\nHost: x\r\n\r\n"
#define NUL_IN_QUERY "a NUL in the parameters", "GET /healthz?a\0b HTTP/1.1\r\nHost: x\r\n\r\n"
#define NUL_IN_PATH "a NUL before the question mark", \
    "GET /healthz\0?a&b HTTP/1.1\r\nHost: x\r\n\r\n"
#define NUL_IN_METHOD "a NUL in the method", "GET\0 /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
#define NO_ADDRESS "no address between two spaces", "GET  HTTP/1.1\r\nHost: x\r\n\r\n"
#define NUL_FOR_CR "a NUL in the place of a CR", "GET /healthz HTTP/1.1\r\nHost: x\r\nX: y\0\n\r\n"
#define EMPTY_LINES "empty lines before it", "\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
#define LONG_METHOD "a method of 70,000", MANY " / HTTP/1.1\r\nHost: x\r\n\r\n", "A", 70000
#define FOLDED "5,000 folded lines", \
    "GET /healthz HTTP/1.1\r\nHost: x\r\nX: y\r\n" MANY "\r\n", " z\r\n", 5000
#define COOKIES "3,000 cookies", \
    "GET /healthz HTTP/1.1\r\nHost: x\r\nCookie: " MANY "\r\n\r\n", "a;", 3000
#define PARAMETERS "3,000 parameters", "/v1/jobs?" MANY, "a&"
#define AMPERSANDS "3,000 ampersands", "/healthz?" MANY "x", "&"
/* The blank is no part of the value (RFC 9112, 5): what follows is the next request. */
#define ENCODING_BLANK "an encoding and a space", \
    PUT("Transfer-Encoding: chunked \r\n") "0\r\n\r\n" VICTIM
#define LENGTH_BLANK "a length and a space", PUT("Content-Length: 2 \r\n") "{}"
#define EXTENSION "a chunk's extension", CHUNKS("2;a=b\r\n{}\r\n0\r\n\r\n")
#define QUOTE "a chunk's extension with a quote", CHUNKS("2;a=\"\r\n{}\r\n0;b=\"\r\n\r\n")
#define CHUNK_LF "bare LF in chunks", CHUNKS("2\n{}\n0\n\n")
#define EXTENSION_LF "bare LF after a chunk's extension", CHUNKS("2;a\n{}\r\n0\r\n\r\n")
#define CHUNK_CR "a CR of the chunk and a bare LF", CHUNKS("3\r\n{}\r\n0\r\n\r\n")

static const struct bad_case before_1[] = {
    RAW(SSH, PLAIN, 400, NULL, NULL),
    RAW(NO_ADDRESS, PLAIN, 400, NULL, NULL),
    RAW(NUL_AFTER_VERSION, PLAIN, 400, NULL, NULL),
    RAW(NUL_IN_ADDRESS, ENDS, 400, "bad-request", NULL),
    RAW(NUL_IN_QUERY, ENDS, 400, "bad-request", NULL),
    RAW(NUL_IN_PATH, ENDS, 400, "bad-request", NULL),
    RAW(NUL_IN_METHOD, ENDS, 400, "bad-request", NULL),
    /* All that cannot be told: 0.9.75 overwrites CR LF and LF alike, so a NUL before a bare LF looks
     * like a CR. The line ends there in both readings. */
    RAW(NUL_FOR_CR, KEEPS, 200, NULL, NULL),
    RAW(EMPTY_LINES, KEEPS, 200, NULL, NULL),
    MANY_OF(LONG_METHOD, PLAIN, 414),
    MANY_OF(FOLDED, PLAIN, 431),
    MANY_OF(COOKIES, PLAIN, 431),
    QUERY(PARAMETERS, KEEPS, 400, "repeated-parameter", "a"),
    QUERY(AMPERSANDS, KEEPS, 422, "unknown-parameter", "x"),
    RAW(ENCODING_BLANK, ENDS, 400, "bad-request", "Transfer-Encoding"),
    RAW(LENGTH_BLANK, PLAIN, 400, NULL, NULL),
    RAW(EXTENSION, ENDS, 422, "missing-field", "uid"),
    RAW(QUOTE, ENDS, 422, "missing-field", "uid"),
    /* Against RFC 9112, 7.1, but 0.9.75's. */
    RAW(CHUNK_LF, ENDS, 422, "missing-field", "uid"),
    RAW(EXTENSION_LF, ENDS, 422, "missing-field", "uid"),
    RAW(CHUNK_CR, ENDS, 422, "missing-field", "uid"),
};

static const struct bad_case since_1[] = {
    RAW(SSH, SILENT, 0, NULL, NULL),
    RAW(NO_ADDRESS, ENDS, 400, "bad-request", NULL),
    RAW(NUL_AFTER_VERSION, SILENT, 0, NULL, NULL),
    RAW(NUL_IN_ADDRESS, SILENT, 0, NULL, NULL),
    RAW(NUL_IN_QUERY, SILENT, 0, NULL, NULL),
    RAW(NUL_IN_PATH, SILENT, 0, NULL, NULL),
    RAW(NUL_IN_METHOD, SILENT, 0, NULL, NULL),
    RAW(NUL_FOR_CR, PLAIN, 400, NULL, NULL),
    RAW(EMPTY_LINES, SILENT, 0, NULL, NULL),
    MANY_OF(LONG_METHOD, SILENT, 0),
    MANY_OF(FOLDED, PLAIN, 400),
    MANY_OF(COOKIES, KEEPS, 200),
    QUERY(PARAMETERS, PLAIN, 431, NULL, NULL),
    QUERY(AMPERSANDS, PLAIN, 431, NULL, NULL),
    RAW(ENCODING_BLANK, ENDS, 400, "bad-json", NULL),
    RAW(LENGTH_BLANK, KEEPS, 422, "missing-field", "uid"),
    /* Against RFC 9112, 7.1.1, but 1.0.1's. */
    RAW(EXTENSION, PLAIN, 400, NULL, NULL),
    RAW(QUOTE, PLAIN, 400, NULL, NULL),
    RAW(CHUNK_LF, PLAIN, 400, NULL, NULL),
    RAW(EXTENSION_LF, PLAIN, 400, NULL, NULL),
    RAW(CHUNK_CR, PLAIN, 400, NULL, NULL),
};
/* clang-format on */

const struct bad_table before_1_table = BAD_TABLE("before libmicrohttpd 1.0", before_1);
const struct bad_table since_1_table = BAD_TABLE("since libmicrohttpd 1.0", since_1);
