/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken for a request's head (broker/http/request/head.h), behind the real libmicrohttpd:
 * the whole input is what a client sends. A head that is accepted must be one by the letter of RFC
 * 9112, which is worked out a second time here, from the bytes alone. */

#include "broker/http/request/head.h"
#include "broker/http/listen/httpworker.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MEMORY = 16384, RUNS_MAX = 8 };

struct verdict {
    char uri[MEMORY];
    bool heard, accepted;
};

static void *on_target(void *arg, const char *uri, struct MHD_Connection *connection)
{
    struct verdict *verdict = arg;
    if (!verdict->heard)
        (void)snprintf(verdict->uri, sizeof verdict->uri, "%s", uri ? uri : "");
    return verdict;
}

static enum MHD_Result on_access(void *arg, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **context)
{
    struct verdict *verdict = arg;
    struct problem problem = {0};
    const struct head head = {
        .method = method, .target = url, .version = version, .uri = verdict->uri};
    if (verdict->heard)
        return MHD_NO;
    verdict->heard = true;
    verdict->accepted = head_check(connection, &head, &problem) == 0;
    if (!verdict->accepted) {
        FUZZ_CHECK(problem.status == 400 && problem.code && problem.detail[0] != '\0');
    }
    return MHD_NO; /* ends the connection */
}

static size_t leave_escaped(void *arg, struct MHD_Connection *connection, char *text)
{
    return strlen(text);
}

/* ---- RFC 9112, to the letter ---- */

struct fields {
    unsigned host, length, encoding, type, login;
    bool chunked, digits;
};

static bool is_token(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", text[i]))
            return false;
    return length > 0;
}

static bool is_value(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return false;
    return true;
}

static bool named(const char *line, size_t length, const char *name)
{
    return strlen(name) == length && strncasecmp(line, name, length) == 0;
}

static bool is_digits(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size && text[at] >= '0' && text[at] <= '9')
        at++;
    return size > 0 && at == size;
}

static bool take_field(struct fields *fields, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    if (!colon || !is_token(line, (size_t)(colon - line)))
        return false;
    size_t name = (size_t)(colon - line);
    const char *value = colon + 1, *end = line + length;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    size_t size = (size_t)(end - value);
    if (named(line, name, "Content-Length")) {
        fields->digits = is_digits(value, size);
        fields->length++;
    } else if (named(line, name, "Transfer-Encoding")) {
        fields->chunked = named(value, size, "chunked");
        fields->encoding++;
    }
    fields->host += named(line, name, "Host");
    fields->type += named(line, name, "Content-Type");
    fields->login += named(line, name, "Authorization");
    return is_value(value, size);
}

/* METHOD SP target SP HTTP/1.x */
static bool is_first_line(const char *line, size_t length, bool *old)
{
    const char *target = memchr(line, ' ', length), *end = line + length;
    const char *version = target ? memchr(target + 1, ' ', (size_t)(end - target - 1)) : NULL;
    if (!version || !is_token(line, (size_t)(target - line)) || version == target + 1)
        return false;
    for (const char *at = target + 1; at < version; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f)
            return false;
    *old = end - version == 9 && memcmp(version, " HTTP/1.0", 9) == 0;
    return end - version == 9 && memcmp(version, " HTTP/1.", 8) == 0 && version[8] >= '0' &&
           version[8] <= '9';
}

/* Before 1.0 libmicrohttpd overwrites with NULs what it cuts, and what is checked afterwards knows
 * how many bytes stood there, not which. So what it takes for a line's end, or a head's, passes
 * when it is as many bytes as CR LF would be: a NUL and what follows up to LF alone, and a line
 * that begins with
 * ':', which it takes for the empty one. */

/* CR LF, or NUL LF. */
static bool is_line_end(const char *at, const char *end)
{
    return end - at >= 2 && (at[0] == '\r' || at[0] == '\0') && at[1] == '\n';
}

/* CR LF CR LF, or what passes for it. */
static bool is_head_end(const char *at, const char *end)
{
    if (end - at < 4 || at[3] != '\n')
        return false;
    bool colon = (at[0] == '\n' && at[1] == ':') || (at[1] == '\n' && at[2] == ':');
    return colon || memchr(at, '\0', 3) || memcmp(at, "\r\n\r", 3) == 0;
}

static const char *line_stop(const char *line, const char *end)
{
    while (line < end && *line != '\r' && *line != '\n' && *line != '\0')
        line++;
    return line;
}

/* 2.2: empty lines before the first are to be skipped; one that begins with a NUL passes for such a
 * one. */
static const char *first_line(const char *at, const char *end)
{
    while (at < end && (*at == '\r' || *at == '\n' || *at == '\0')) {
        bool nul = *at++ == '\0';
        while (nul && at < end && *at != '\n')
            at++;
    }
    return at;
}

static bool is_head(const char *bytes, size_t length)
{
    const char *end = bytes + length, *at = first_line(bytes, end), *stop;
    struct fields fields = {0};
    bool old = false;
    stop = line_stop(at, end);
    if (!is_first_line(at, (size_t)(stop - at), &old))
        return false;
    while (!is_head_end(stop, end)) {
        at = stop + 2;
        if (!is_line_end(stop, end) || !take_field(&fields, at, (size_t)(line_stop(at, end) - at)))
            return false;
        stop = line_stop(at, end);
    }
    return fields.host <= 1 && fields.length <= 1 && fields.encoding <= 1 && fields.type <= 1 &&
           fields.login <= 1 && (fields.host == 1 || old) &&
           (fields.length == 0 || fields.digits) &&
           (fields.encoding == 0 || (fields.chunked && !old && fields.length == 0));
}

/* ---- */

static struct MHD_Daemon *start(struct verdict *verdict)
{
    /* As httpworker.c starts it. */
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_access, verdict,
        MHD_OPTION_STRICT_FOR_CLIENT, (int)mhd_checks_lines(MHD_get_version()),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        verdict, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_END);
    if (!daemon)
        abort();
    return daemon;
}

static void converse(struct MHD_Daemon *daemon, const char *bytes, size_t length)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0 ||
        send(ends[0], bytes, length, MSG_NOSIGNAL) != (ssize_t)length ||
        MHD_add_connection(daemon, ends[1], (struct sockaddr *)&address, sizeof address) != MHD_YES)
        abort();
    (void)shutdown(ends[0], SHUT_WR);
    MHD_UNSIGNED_LONG_LONG wait;
    for (int i = 0; i < RUNS_MAX; i++) {
        MHD_run(daemon);
        if (i > 2 && (MHD_get_timeout(daemon, &wait) != MHD_YES || wait > 0))
            break;
    }
    close(ends[0]);
    MHD_run(daemon);
}

void fuzz_one(struct fuzz_input *in)
{
    static struct MHD_Daemon *daemon;
    static struct verdict verdict;
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    if (!daemon)
        daemon = start(&verdict);
    verdict.heard = verdict.accepted = false;
    if (length > 0 && length < MEMORY)
        converse(daemon, bytes, length);
    FUZZ_CHECK(!verdict.accepted || is_head(bytes, length));
    free(bytes);
}
