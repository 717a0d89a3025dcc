/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport/request.h"
#include "base/memory.h"
#include "client/text.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { PAUSE_MAX_S = 3600 }; /* that is believed to be asked for */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- what it is sent with ---- */

static int make_credential(const struct call *call, const char *socket, char **credential,
                           struct mcast_error *error)
{
    char *payload = NULL;
    /* What it is good for stands in it: it cannot be used for another request. */
    if (asprintf(&payload, "mcastd1 %s %s", call->method, call->path) < 0)
        return fault_nomem(error);
    int rc = credentials_make_munge(socket, payload, credential, error);
    free(payload);
    return rc;
}

/* In one piece of memory, so that no copy of a token is left behind as it grows. */
static int write_head(struct request *request, const char *scheme, const char *proof,
                      const char *node)
{
    static const char format[] = "Accept: %s\r\n%s%s%s%s%s%s%s";
    const struct call *call = &request->call;
    const char *accept = call->accept ? call->accept : "application/json";
    size_t size = strlen(accept) + strlen(proof) + strlen(node) + 200;
    request->head_size = size;
    request->head = malloc(size);
    if (!request->head)
        return fault_nomem(&request->error);
    int length = snprintf(request->head, size, format, accept,
                          call->body ? "Content-Type: application/json\r\n" : "", scheme, proof,
                          proof[0] ? "\r\n" : "", node[0] ? "Mcast-Node: " : "", node,
                          node[0] ? "\r\n" : "");
    (void)length;
    assert(length > 0 && (size_t)length < size);
    return 0;
}

static int make_head(struct request *request)
{
    const struct call *call = &request->call;
    struct peer *peer = request->peer;
    const struct credentials *credentials = &peer->credentials;
    const char *node = credentials->is[NODE];
    char *credential = NULL;
    peer->unproved[0] = '\0';
    if (call->with_token)
        return write_head(request, "Authorization: Bearer ", secret_expose(peer->token), "");
    if (request->endpoint->socket[0] || !credentials_want_munge(credentials))
        return write_head(request, "", "", "");
    int rc = make_credential(call, credentials->is[MUNGE_SOCKET], &credential, &request->error);
    if (rc == MCAST_UNREACHABLE && credentials->munge == MCAST_MUNGE_AUTO) {
        snprintf(peer->unproved, sizeof peer->unproved, "%.300s", request->error.text);
        rc = write_head(request, "", "", "");
    } else if (rc == 0) {
        /* Of root's credential only the host is believed, and by this name (docs/security.md). */
        rc = write_head(request, "Authorization: Munge ", credential, node ? node : "");
    }
    memory_wipe_text(credential);
    return rc;
}

static void release_head(struct request *request)
{
    if (request->head)
        explicit_bzero(request->head, request->head_size); /* curl.c cuts it into lines */
    free(request->head);
    request->head = NULL;
}

/* ---- what comes back ---- */

/* Written anew from what was read, it must be the same: sscanf alone takes more. Not strptime,
 * whose names are the locale's, nor timegm, which reads the time zone's file. */
bool request_read_date(const char *text, int64_t *seconds)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    enum { LENGTH = sizeof "Sun, 06 Nov 1994 08:49:37 GMT" - 1 };
    char again[4 * LENGTH], name[4];
    int day, year, hour, minute, second;
    if (strnlen(text, LENGTH) < LENGTH || sscanf(text + 5, "%2d %3s %4d %2d:%2d:%2d", &day, name,
                                                 &year, &hour, &minute, &second) != 6)
        return false;
    snprintf(again, sizeof again, "%.3s, %02d %s %04d %02d:%02d:%02d GMT", text, day, name, year,
             hour, minute, second);
    const char *found = strstr(months, name);
    if (strncmp(again, text, LENGTH) != 0 || again[LENGTH] || strchr(again, '-') || !found ||
        (found - months) % 3 != 0 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60)
        return false;
    int month = ((int)(found - months) / 3 + 10) % 12; /* from March, after which leap days are */
    year -= month >= 10;
    int days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    *seconds = ((((int64_t)days - 719469) * 24 + hour) * 60 + minute) * 60 + second;
    return true;
}

/* The date was written some time between the request and now: half way is the best guess, and its
 * second was half over on average. */
static void read_clock(struct request *request, const char *value)
{
    int64_t seconds;
    if (!request_read_date(value, &seconds))
        return;
    int64_t half_way = request->sent_ms + (now_ms() - request->sent_ms) / 2;
    request->peer->clock_ahead_ms = seconds * 1000 + 500 - half_way;
    request->peer->clock_known = true;
}

/* Seconds; a date, which a proxy may write as well, is none. */
static void read_retry_after(struct answer *answer, const char *value)
{
    unsigned long seconds = value[0] >= '0' && value[0] <= '9' ? strtoul(value, NULL, 10) : 0;
    answer->retry_after = seconds < PAUSE_MAX_S ? (unsigned)seconds : PAUSE_MAX_S;
}

/* The media type, without parameters. */
static void read_type(struct answer *answer, const char *value)
{
    snprintf(answer->type, sizeof answer->type, "%.*s", (int)strcspn(value, "; \t\r\n"), value);
    for (char *c = answer->type; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

void request_take_header(struct request *request, const char *name, const char *value)
{
    request->heard = true;
    if (strcasecmp(name, "date") == 0)
        read_clock(request, value);
    else if (strcasecmp(name, "retry-after") == 0)
        read_retry_after(&request->answer, value);
    else if (strcasecmp(name, "content-type") == 0)
        read_type(&request->answer, value);
}

bool request_take_body(struct request *request, int status, const char *bytes, size_t length)
{
    const struct call *call = &request->call;
    struct answer *answer = &request->answer;
    request->heard = true;
    if (call->each && status == 200 && strcmp(answer->type, call->accept) == 0) {
        request->streamed = true;
        request->ended = call->each(bytes, length, call->data);
    } else if (answer->body.length + length > REQUEST_ANSWER_MAX) {
        request->given_up = MCAST_UNCLEAR;
    } else if (!text_add(&answer->body, bytes, length)) {
        request->given_up = MCAST_NOMEM;
    }
    return request->given_up == 0 && request->ended == 0;
}

void request_set_trouble(struct request *request, enum trouble_kind kind, const char *words)
{
    request->trouble.kind = kind;
    snprintf(request->trouble.words, sizeof request->trouble.words, "%s", words);
}

int request_prepare(struct request *request)
{
    struct text body = request->answer.body;
    request->trouble = (struct trouble){0};
    request->ended = request->given_up = 0;
    request->connected = request->unread = request->heard = false;
    text_clear(&body);
    request->answer = (struct answer){.body = body};
    int rc = request->endpoint->tls
                 ? credentials_check(&request->peer->credentials, &request->error)
                 : 0;
    if (rc == 0)
        rc = make_head(request);
    request->sent_ms = now_ms();
    return rc;
}

int request_conclude(struct request *request)
{
    struct mcast_error *error = &request->error;
    release_head(request);
    *error = (struct mcast_error){0};
    if (request->ended != 0)
        return request->ended;
    if (request->given_up == MCAST_NOMEM)
        return fault_nomem(error);
    if (request->given_up != 0)
        return fault_set(error, MCAST_UNCLEAR,
                         "what answers at %s sends more than %d bytes; is it mcastd?",
                         endpoint_name(request->endpoint), REQUEST_ANSWER_MAX);
    if (request->trouble.kind == TROUBLE_NONE)
        return 0;
    return trouble_explain(request);
}

bool request_stale(const struct request *request)
{
    const struct answer *answer = &request->answer;
    return answer->status == 401 &&
           (problem_is(answer, "munge-replayed") || problem_is(answer, "munge-expired"));
}

void request_release(struct request *request)
{
    release_head(request);
    text_release(&request->answer.body);
}
