#include "client/request.h"
#include "client/fault.h"
#include "client/problem.h"

#include <ctype.h>
#include <stdio.h>
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

/* The date was written some time between the request and now: half way is the best guess, and its
 * second was half over on average. */
static void take_date(struct request *request, const char *value, size_t length)
{
    int64_t seconds;
    if (!headers_read_date(value, length, &seconds))
        return;
    int64_t half_way = request->sent_ms + (now_ms() - request->sent_ms) / 2;
    request->peer->clock_ahead_ms = seconds * 1000 + 500 - half_way;
    request->peer->clock_known = true;
}

/* Seconds; a date, which a proxy may write as well, is none. */
static void take_pause(struct answer *answer, const char *value, size_t length)
{
    unsigned seconds = 0;
    size_t used = 0;
    for (; used < length && value[used] >= '0' && value[used] <= '9'; used++)
        seconds = seconds < PAUSE_MAX_S ? seconds * 10 + (unsigned)(value[used] - '0') : seconds;
    answer->retry_after = seconds < PAUSE_MAX_S ? seconds : PAUSE_MAX_S;
}

/* The media type, without parameters. */
static void take_type(struct answer *answer, const char *value, size_t length)
{
    size_t used = 0;
    while (used < length && value[used] && !strchr("; \t\r\n", value[used]) &&
           used < sizeof(answer->type) - 1) {
        answer->type[used] = (char)tolower((unsigned char)value[used]);
        used++;
    }
    answer->type[used] = '\0';
}

static bool is(const char *name, const char *bytes, size_t length)
{
    return strlen(name) == length && strncasecmp(name, bytes, length) == 0;
}

void request_take_header(struct request *request, const char *name, size_t name_length,
                         const char *value, size_t value_length)
{
    if (is("date", name, name_length))
        take_date(request, value, value_length);
    else if (is("retry-after", name, name_length))
        take_pause(&request->answer, value, value_length);
    else if (is("content-type", name, name_length))
        take_type(&request->answer, value, value_length);
}

bool request_take_body(struct request *request, int status, const char *bytes, size_t length)
{
    const struct call *call = &request->call;
    struct answer *answer = &request->answer;
    if (call->each && status == 200 && strcmp(answer->type, call->accept) == 0)
        request->ended = call->each(bytes, length, call->data);
    else if (answer->body.length + length > REQUEST_ANSWER_MAX)
        request->rc = MCAST_UNCLEAR;
    else if (!text_add(&answer->body, bytes, length))
        request->rc = MCAST_NOMEM;
    return request->rc == 0 && request->ended == 0;
}

void request_set_trouble(struct request *request, enum trouble_kind kind, const char *words)
{
    request->trouble.kind = kind;
    snprintf(request->trouble.words, sizeof(request->trouble.words), "%s", words);
}

int request_prepare(struct request *request, struct mcast_error *error)
{
    struct peer *peer = request->peer;
    struct text body = request->answer.body;
    int rc = 0;
    request->trouble = (struct trouble){0};
    request->ended = request->rc = 0;
    request->connected = request->unread = false;
    text_clear(&body);
    request->answer = (struct answer){.body = body};
    if (peer->endpoint.tls)
        rc = credentials_check(&peer->credentials, error);
    if (rc == 0)
        rc = headers_make(&request->headers, &request->call, peer->token,
                          peer->endpoint.socket[0] ? NULL : &peer->credentials, &peer->unproved,
                          error);
    request->sent_ms = now_ms();
    return rc;
}

int request_conclude(struct request *request, struct mcast_error *error)
{
    const struct peer *peer = request->peer;
    headers_release(&request->headers);
    if (request->ended != 0)
        return request->ended;
    if (request->rc == MCAST_NOMEM)
        return fault_nomem(error);
    if (request->rc != 0)
        return fault_set(error, MCAST_UNCLEAR,
                         "what answers at %s sends more than %d bytes; is it mcastd?",
                         endpoint_name(&peer->endpoint), REQUEST_ANSWER_MAX);
    if (request->trouble.kind == TROUBLE_NONE)
        return 0;
    const struct trouble_place place = {&peer->endpoint, &peer->credentials,
                                        (unsigned)request->limit_ms};
    return trouble_explain(&request->trouble, &place, error);
}

bool request_stale(const struct request *request)
{
    const struct answer *answer = &request->answer;
    return answer->status == 401 &&
           (problem_is(answer, "munge-replayed") || problem_is(answer, "munge-expired"));
}

void request_release(struct request *request)
{
    headers_release(&request->headers);
    text_release(&request->answer.body);
}
