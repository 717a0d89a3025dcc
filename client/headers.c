#include "client/headers.h"
#include "client/fault.h"
#include "client/munge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
              text_add(&payload, " ", 1) && text_add(&payload, call->path, strlen(call->path));
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

int headers_make(struct headers *out, const struct call *call,
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
    if (!secret_none(call->token))
        return add(out, "Authorization: Bearer ", secret_expose(call->token)) ? 0
                                                                              : fault_nomem(error);
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
