#include "client/flight.h"
#include "client/fault.h"
#include "client/httpdate.h"
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
static void take_date(struct flight *flight, const char *value, size_t length)
{
    int64_t seconds;
    if (!httpdate_parse(value, length, &seconds))
        return;
    int64_t half_way = flight->sent_ms + (now_ms() - flight->sent_ms) / 2;
    flight->peer->clock_ahead_ms = seconds * 1000 + 500 - half_way;
    flight->peer->clock_known = true;
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

void flight_reach(struct flight *flight)
{
    if (flight->reached)
        ++*flight->reached;
}

void flight_take_header(struct flight *flight, const char *name, size_t name_length,
                        const char *value, size_t value_length)
{
    if (is("date", name, name_length))
        take_date(flight, value, value_length);
    else if (is("retry-after", name, name_length))
        take_pause(flight->answer, value, value_length);
    else if (is("content-type", name, name_length))
        take_type(flight->answer, value, value_length);
}

bool flight_take_body(struct flight *flight, int status, const char *bytes, size_t length)
{
    if (flight->each && status == 200 && strcmp(flight->answer->type, flight->call->accept) == 0) {
        flight->ended = flight->each(bytes, length, flight->data);
    } else if (flight->answer->body.length + length > CALL_ANSWER_MAX) {
        flight->rc = MCAST_UNCLEAR;
    } else if (!text_add(&flight->answer->body, bytes, length)) {
        flight->rc = MCAST_NOMEM;
    }
    return flight->rc == 0 && flight->ended == 0;
}

void flight_set_trouble(struct flight *flight, enum trouble_kind kind, const char *words)
{
    flight->trouble.kind = kind;
    snprintf(flight->trouble.words, sizeof(flight->trouble.words), "%s", words);
}

int flight_prepare(struct flight *flight, struct mcast_error *error)
{
    struct flight_peer *peer = flight->peer;
    int rc = 0;
    flight->trouble = (struct trouble){0};
    flight->ended = flight->rc = 0;
    text_clear(&flight->answer->body);
    flight->answer->status = 0;
    flight->answer->type[0] = '\0';
    flight->answer->retry_after = 0;
    if (peer->endpoint.tls)
        rc = credentials_check(&peer->credentials, error);
    if (rc == 0)
        rc = headers_make(&flight->headers, flight->call,
                          peer->endpoint.socket[0] ? NULL : &peer->credentials, &peer->unproved,
                          error);
    flight->sent_ms = now_ms();
    return rc;
}

int flight_conclude(struct flight *flight, struct mcast_error *error)
{
    const struct flight_peer *peer = flight->peer;
    if (flight->ended != 0)
        return flight->ended;
    if (flight->rc == MCAST_NOMEM)
        return fault_nomem(error);
    if (flight->rc != 0)
        return fault_set(error, MCAST_UNCLEAR,
                         "what answers at %s sends more than %d bytes; is it mcastd?",
                         endpoint_name(&peer->endpoint), CALL_ANSWER_MAX);
    if (flight->trouble.kind == TROUBLE_NONE)
        return 0;
    const struct trouble_place place = {&peer->endpoint, &peer->credentials,
                                        (unsigned)flight->limit_ms};
    return trouble_explain(&flight->trouble, &place, error);
}

void flight_release(struct flight *flight)
{
    headers_release(&flight->headers);
}

bool flight_stale(const struct answer *answer)
{
    return answer->status == 401 &&
           (problem_is(answer, "munge-replayed") || problem_is(answer, "munge-expired"));
}
