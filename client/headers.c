#include "client/headers.h"
#include "client/fault.h"
#include "client/munge.h"

#include <stdio.h>
#include <string.h>

/* One more line; NULL: none. False when memory is exhausted. */
static bool add(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = line ? curl_slist_append(*list, line) : *list;
    if (line && !longer)
        return false;
    *list = longer;
    return true;
}

/* Of root's credential only the host is believed, and by this name (docs/security.md). */
static bool add_node(struct curl_slist **list, const char *node)
{
    static const char name[] = "Mcast-Node: ";
    struct text line = {0};
    bool ok = text_add(&line, name, sizeof(name) - 1) && text_add(&line, node, strlen(node)) &&
              add(list, text_string(&line));
    text_release(&line);
    return ok;
}

static int add_credential(struct curl_slist **list, const struct call *call, const char *socket,
                          struct mcast_error *error)
{
    static const char scheme[] = "Authorization: Munge ", version[] = "mcastd1 ";
    struct text payload = {0}, line = {0};
    char *credential = NULL;
    /* What it is good for stands in it: nobody can use it for another request. */
    bool ok = text_add(&payload, version, sizeof(version) - 1) &&
              text_add(&payload, call->method, strlen(call->method)) &&
              text_add(&payload, " ", 1) && text_add(&payload, call->path, strlen(call->path));
    int rc = ok ? munge_credential(socket, text_string(&payload), &credential, error)
                : fault_nomem(error);
    if (rc == 0 &&
        (!text_add(&line, scheme, sizeof(scheme) - 1) ||
         !text_add(&line, credential, strlen(credential)) || !add(list, text_string(&line))))
        rc = fault_nomem(error);
    munge_forget(credential);
    text_release(&payload);
    text_release(&line);
    return rc;
}

static int add_token(struct curl_slist **list, struct secret token, struct mcast_error *error)
{
    static const char scheme[] = "Authorization: Bearer ";
    const char *shown = secret_expose(token);
    struct text line = {0};
    bool ok = text_add(&line, scheme, sizeof(scheme) - 1) &&
              text_add(&line, shown, strlen(shown)) && add(list, text_string(&line));
    if (line.bytes)
        explicit_bzero(line.bytes, line.length);
    text_release(&line);
    return ok ? 0 : fault_nomem(error);
}

void headers_free(struct curl_slist *list)
{
    for (struct curl_slist *line = list; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    curl_slist_free_all(list);
}

int headers_make(struct curl_slist **out, const struct call *call,
                 const struct credentials *credentials, struct headers_note *unproved,
                 struct mcast_error *error)
{
    char accept[96], last[64];
    struct mcast_error why = {0};
    unproved->text[0] = '\0';
    snprintf(accept, sizeof(accept), "Accept: %s",
             call->accept ? call->accept : "application/json");
    snprintf(last, sizeof(last), "Last-Event-ID: %llu", (unsigned long long)call->last_event_id);
    /* "Expect:" keeps curl from asking for leave before it sends a large body. */
    if (!add(out, accept) || !add(out, "Expect:") ||
        !add(out, call->body ? "Content-Type: application/json" : NULL) ||
        !add(out, call->last_event_id > 0 ? last : NULL))
        return fault_nomem(error);
    if (!secret_none(call->token))
        return add_token(out, call->token, error);
    if (!credentials || !credentials_want_munge(credentials))
        return 0;
    int rc = add_credential(out, call, credentials->munge_socket, &why);
    if (rc == MCAST_UNREACHABLE && credentials->munge == MCAST_MUNGE_AUTO) {
        snprintf(unproved->text, sizeof(unproved->text), "%.300s", why.text);
        return 0;
    }
    if (rc == 0 && credentials->node && !add_node(out, credentials->node))
        rc = fault_nomem(&why);
    if (rc < 0 && error)
        *error = why;
    return rc;
}
