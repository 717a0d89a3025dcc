#include "client/headers.h"
#include "client/fault.h"
#include "client/munge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One more line, "<start><rest>"; rest NULL: none. False when memory is exhausted. */
static bool add(struct headers *headers, const char *start, const char *rest)
{
    if (!rest)
        return true;
    assert(headers->count < HEADERS_MAX);
    size_t size = strlen(start) + strlen(rest) + 1;
    char *line = malloc(size);
    if (!line)
        return false;
    snprintf(line, size, "%s%s", start, rest);
    headers->line[headers->count++] = line;
    return true;
}

static int add_credential(struct headers *headers, const struct call *call, const char *socket,
                          struct mcast_error *error)
{
    static const char version[] = "mcastd1 ";
    struct text payload = {0};
    char *credential = NULL;
    /* What it is good for stands in it: nobody can use it for another request. */
    bool ok = text_add(&payload, version, sizeof(version) - 1) &&
              text_add(&payload, call->method, strlen(call->method)) &&
              text_add(&payload, " ", 1) &&
              text_add(&payload, text_string(&call->path), call->path.length);
    int rc = ok ? munge_credential(socket, text_string(&payload), &credential, error)
                : fault_nomem(error);
    if (rc == 0 && !add(headers, "Authorization: Munge ", credential))
        rc = fault_nomem(error);
    munge_forget(credential);
    text_release(&payload);
    return rc;
}

void headers_release(struct headers *headers)
{
    for (size_t i = 0; i < headers->count; i++) {
        explicit_bzero(headers->line[i], strlen(headers->line[i]));
        free(headers->line[i]);
    }
    headers->count = 0;
}

int headers_make(struct headers *out, const struct call *call, struct secret token,
                 const struct credentials *credentials, struct headers_note *unproved,
                 struct mcast_error *error)
{
    char last[24];
    struct mcast_error why = {0};
    unproved->text[0] = '\0';
    snprintf(last, sizeof(last), "%llu", (unsigned long long)call->last_event_id);
    if (!add(out, "Accept: ", call->accept ? call->accept : "application/json") ||
        !add(out, "Content-Type: ", call->body ? "application/json" : NULL) ||
        !add(out, "Last-Event-ID: ", call->last_event_id > 0 ? last : NULL))
        return fault_nomem(error);
    if (call->with_token)
        return add(out, "Authorization: Bearer ", secret_expose(token)) ? 0 : fault_nomem(error);
    if (!credentials || !credentials_want_munge(credentials))
        return 0;
    int rc = add_credential(out, call, credentials->munge_socket, &why);
    if (rc == MCAST_UNREACHABLE && credentials->munge == MCAST_MUNGE_AUTO) {
        snprintf(unproved->text, sizeof(unproved->text), "%.300s", why.text);
        return 0;
    }
    /* Of root's credential only the host is believed, and by this name (docs/security.md). */
    if (rc == 0 && !add(out, "Mcast-Node: ", credentials->node))
        rc = fault_nomem(&why);
    if (rc < 0 && error)
        *error = why;
    return rc;
}

/* ---- the Date of an answer ---- */

/* Written anew from what was read, it must be the same: sscanf alone takes more. Not strptime,
 * whose names are the locale's. */
bool headers_read_date(const char *text, size_t length, int64_t *seconds)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    enum { SIZE = sizeof("Sun, 06 Nov 1994 08:49:37 GMT") };
    struct tm tm = {0};
    char date[SIZE], again[4 * SIZE], name[4];
    if (length < SIZE - 1)
        return false;
    memcpy(date, text, SIZE - 1);
    date[SIZE - 1] = '\0';
    if (sscanf(date + 5, "%2d %3s %4d %2d:%2d:%2d", &tm.tm_mday, name, &tm.tm_year, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec) != 6)
        return false;
    snprintf(again, sizeof(again), "%.3s, %02d %s %04d %02d:%02d:%02d GMT", date, tm.tm_mday, name,
             tm.tm_year, tm.tm_hour, tm.tm_min, tm.tm_sec);
    const char *month = strstr(months, name);
    if (strcmp(again, date) != 0 || !month || (month - months) % 3 != 0 || tm.tm_mday < 1 ||
        tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
        return false;
    tm.tm_mon = (int)(month - months) / 3;
    tm.tm_year -= 1900;
    *seconds = timegm(&tm);
    return true;
}
