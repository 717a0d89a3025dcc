/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/badinput/cases.h"

/* Requests whose end is a matter of opinion. Somebody else on the way may have the other opinion:
 * what follows, here a release of the one job there is, would be a request that nobody has checked.
 * It must never be carried out. */

/* clang-format off */
#define VICTIM "DELETE " JOB "there HTTP/1.1\r\nHost: x\r\n\r\n"
#define RAW(what, bytes, outcome, status, code, field) \
    {what, NULL, NULL, NULL, SPAN(bytes), NULL, 0, outcome, status, code, field, false}
#define PUT(headers, rest) "PUT " JOB "f1 HTTP/1.1\r\nHost: x\r\n" headers "\r\n" rest
#define BAD(what, headers, rest, field) \
    RAW(what, PUT(headers, rest), ENDS, 400, "bad-request", field)
#define MHD(what, headers, rest, status) RAW(what, PUT(headers, rest), PLAIN, status, NULL, NULL)
#define LENGTH(value) "Content-Length: " value "\r\n"
#define ENCODING(value) "Transfer-Encoding: " value "\r\n"

static const struct bad_case cases[] = {
    BAD("a length twice, alike", LENGTH("2") LENGTH("2"), "{}" VICTIM, "Content-Length"),
    BAD("a length twice, the second longer", LENGTH("2") LENGTH("60"), "{}" VICTIM,
        "Content-Length"),
    BAD("a length twice, the first longer", LENGTH("60") LENGTH("2"), "{}" VICTIM,
        "Content-Length"),
    BAD("a length twice, the first nothing", LENGTH("0") LENGTH("60"), VICTIM, "Content-Length"),
    BAD("a length twice, once in small letters", LENGTH("2") "content-length: 60\r\n", "{}" VICTIM,
        "Content-Length"),
    BAD("a length twice, others between", LENGTH("2") "X: y\r\n" LENGTH("60"), "{}" VICTIM,
        "Content-Length"),
    BAD("a length twice, once with a space before the colon", LENGTH("2") "Content-Length : 60\r\n",
        "{}" VICTIM, NULL),
    BAD("a length and chunks", LENGTH("5") ENCODING("chunked"), "0\r\n\r\n" VICTIM,
        "Content-Length"),
    BAD("chunks and a length", ENCODING("chunked") LENGTH("60"), "0\r\n\r\n" VICTIM,
        "Content-Length"),
    BAD("chunks and no length to speak of", ENCODING("chunked") LENGTH("0"), "0\r\n\r\n" VICTIM,
        "Content-Length"),
    BAD("chunks and a length that is none", ENCODING("chunked") LENGTH("x"), "0\r\n\r\n" VICTIM,
        "Content-Length"),
    BAD("chunks and a length on a call without body", ENCODING("chunked") LENGTH("5"),
        "0\r\n\r\n" VICTIM, "Content-Length"),
    BAD("chunks twice", ENCODING("chunked") ENCODING("chunked"), "0\r\n\r\n" VICTIM,
        "Transfer-Encoding"),
    BAD("chunks and another encoding", ENCODING("chunked") ENCODING("identity"),
        "0\r\n\r\n" VICTIM, "Transfer-Encoding"),
    BAD("another encoding and chunks", ENCODING("identity") ENCODING("chunked"),
        "0\r\n\r\n" VICTIM, "Transfer-Encoding"),
    BAD("chunks in chunks", ENCODING("chunked, chunked"), "0\r\n\r\n" VICTIM, "Transfer-Encoding"),
    BAD("chunks of gzip", ENCODING("gzip, chunked"), "0\r\n\r\n" VICTIM, "Transfer-Encoding"),
    BAD("gzip of chunks", ENCODING("chunked, gzip"), "0\r\n\r\n" VICTIM, "Transfer-Encoding"),
    BAD("gzip", ENCODING("gzip"), VICTIM, "Transfer-Encoding"),
    BAD("identity", ENCODING("identity"), VICTIM, "Transfer-Encoding"),
    BAD("identity and a length", ENCODING("identity") LENGTH("2"), "{}" VICTIM, "Content-Length"),
    BAD("an encoding that there is not", ENCODING("xchunked"), "0\r\n\r\n" VICTIM,
        "Transfer-Encoding"),
    BAD("an encoding with more behind it", ENCODING("chunkedx"), "0\r\n\r\n" VICTIM,
        "Transfer-Encoding"),
    BAD("an encoding in quotes", ENCODING("\"chunked\""), "0\r\n\r\n" VICTIM, "Transfer-Encoding"),
    BAD("an encoding with a parameter", ENCODING("chunked;x=y"), "0\r\n\r\n" VICTIM,
        "Transfer-Encoding"),
    BAD("an encoding after a vertical tab", ENCODING("\x0b" "chunked"), "0\r\n\r\n" VICTIM,
        "Transfer-Encoding"),
    BAD("no encoding", ENCODING(""), "0\r\n\r\n" VICTIM, "Transfer-Encoding"),
    BAD("an encoding with a space before the colon", "Transfer-Encoding : chunked\r\n",
        "0\r\n\r\n" VICTIM, NULL),
    BAD("an encoding folded into its value", "Transfer-Encoding:\r\n chunked\r\n",
        "0\r\n\r\n" VICTIM, NULL),
    /* libmicrohttpd glues the second line to the name: it would see Transfer-Encoding: chunked. */
    BAD("an encoding made by a folded line", LENGTH("5") "Transfer-Enc: chunked\r\n oding\r\n",
        "0\r\n\r\n" VICTIM, NULL),
    BAD("a length made by a folded line", "Content-Len: 60\r\n gth\r\n", VICTIM, NULL),
    BAD("a length hidden behind a CR", "X: y\rContent-Length: 60\r\n", VICTIM, "X"),
    BAD("a length hidden behind a NUL", "X: y\0Content-Length: 60\r\n", VICTIM, NULL),
    BAD("a length hidden behind a bare LF", "X: y\nContent-Length: 60\r\n", VICTIM, NULL),
    BAD("a length with a NUL in it", "Content-Length: 2\0" "0\r\n", "{}" VICTIM, NULL),
    BAD("a head that ends at a NUL", "\0\r\nContent-Length: 60\r\n", VICTIM, NULL),
    RAW("chunks of HTTP/1.0",
        "PUT " JOB "f1 HTTP/1.0\r\nConnection: keep-alive\r\n" ENCODING("chunked")
        "\r\n0\r\n\r\n" VICTIM, ENDS, 400, "bad-request", "Transfer-Encoding"),
    MHD("a length below zero", LENGTH("-1"), VICTIM, 400),
    MHD("a length with a plus", LENGTH("+2"), "{}" VICTIM, 400),
    MHD("a length in hexadecimal", LENGTH("0x2"), "{}" VICTIM, 400),
    MHD("a length with a comma", LENGTH("2,2"), "{}" VICTIM, 400),
    MHD("a length with a fraction", LENGTH("2.0"), "{}" VICTIM, 400),
    MHD("a length in two parts", LENGTH("2 0"), "{}" VICTIM, 400),
    MHD("a length that is none", LENGTH("all"), VICTIM, 400),
    MHD("an empty length", LENGTH(""), VICTIM, 400),
    MHD("a length of 2^64", LENGTH("18446744073709551616"), VICTIM, 413),
    MHD("a length of 2^128", LENGTH("340282366920938463463374607431768211456"), VICTIM, 413),
    RAW("a length of 2^63-1", PUT(LENGTH("9223372036854775807"), VICTIM), ENDS, 413, "too-large",
        NULL),
    RAW("a length of 2^64-2", PUT(LENGTH("18446744073709551614"), VICTIM), ENDS, 413, "too-large",
        NULL),
    RAW("a length of a mebibyte and a byte", PUT(LENGTH("1048577"), ""), ENDS, 413, "too-large",
        NULL),
    RAW("too long a body, withheld until it is asked for",
        PUT(LENGTH("1048577") "Expect: 100-continue\r\n", ""), ENDS, 413, "too-large", NULL),
    RAW("a long body where there is none",
        "GET /healthz HTTP/1.1\r\nHost: x\r\n" LENGTH("99999999") "\r\n", ENDS, 413, "too-large",
        NULL),
    RAW("a long body to nowhere",
        "PUT /nowhere HTTP/1.1\r\nHost: x\r\n" LENGTH("99999999") "\r\n", ENDS, 404,
        "no-such-path", NULL),
    RAW("a body to nowhere, withheld until it is asked for",
        "PUT /nowhere HTTP/1.1\r\nHost: x\r\n" LENGTH("9") "Expect: 100-continue\r\n\r\n", ENDS,
        404, "no-such-path", NULL),
    RAW("a bad body, withheld until it is asked for, and sent at once",
        PUT(LENGTH("2") "Expect: 100-continue\r\n", "{}"), KEEPS, 422, "missing-field", "uid"),
    RAW("something else is expected", PUT(LENGTH("2") "Expect: the unexpected\r\n", "{}"), KEEPS,
        422, "missing-field", "uid"),
    RAW("a short body where there is none: it is read over",
        "GET /healthz HTTP/1.1\r\nHost: x\r\n" LENGTH("3") "\r\nabc", KEEPS, 200, NULL, NULL),
    RAW("a request in the body where there is none",
        "GET /healthz HTTP/1.1\r\nHost: x\r\n" LENGTH("58") "\r\n" VICTIM, KEEPS, 200, NULL, NULL),
    RAW("a length with zeros before it: odd, but right", PUT(LENGTH("0000000000002"), "{}"), KEEPS,
        422, "missing-field", "uid"),
};
/* clang-format on */

const struct bad_table framing_table = BAD_TABLE("ends of requests", cases);
