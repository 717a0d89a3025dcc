/* SPDX-License-Identifier: Apache-2.0 */
#include "node/node.h"

#include "node/record/unreached.h"
#include "node/retry.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* Nodes that were refused together must not come again together. */
enum {
    BUSY_FIRST_MS = 500,
    BUSY_SPREAD_MS = 1000,
    BUSY_AFTER_MAX_MS = 60000, /* of what the answer asks for: a proxy may say an hour */
};

void say(const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* Users' words may be in it: a line stays one, in root's log and for a terminal. */
    for (char *at = line; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
    fprintf(stderr, "mcast-node: %s\n", line); /* one write, however many hooks run at once */
}

int node_remember(struct node *node, bool change, struct error *err)
{
    int rc = statedir_open(&node->dir, node->settings.spool, change, err);
    if (rc == 0)
        rc = notes_load(&node->notes, &node->dir, err);
    if (rc == 0 && change)
        rc = boot_open(&node->boot, &node->dir, &node->notes, err);
    if (rc == 0 && node->notes.damaged > 0)
        say("%s/%s cannot be read as a note of a job; it is left as it is: see which services are "
            "there (mcast-node list), then delete it",
            node->dir.path, node->notes.damaged_name);
    return rc;
}

int node_find_nics(struct node *node, struct error *err)
{
    const struct cxi_calls *calls = NULL;
    int rc = 0;
    if (node->nics_known)
        return 0;
    if ((rc = library_open(&calls, node->settings.libcxi, err)) == 0)
        rc = nics_open(&node->nics, calls, err);
    node->nics_known = rc == 0;
    return rc;
}

static int connect_broker(struct node *node, struct mcast_error *error)
{
    const struct settings *settings = &node->settings;
    const char *url = settings->url[0] ? settings->url : NULL;
    /* Two proofs would not add up: the broker looks at the credential only. A munged that is named
     * and is away should be said, rather than that the broker does not know who asks. */
    enum mcast_munge munge = settings->cert[0] ? MCAST_MUNGE_AUTO : MCAST_MUNGE_ALWAYS;
    int rc = mcast_open(&node->broker, url, error);
    if (rc == 0 && settings->timeout_ms > 0)
        rc = mcast_set_timeout(node->broker, (unsigned)settings->timeout_ms, error);
    if (rc == 0 && settings->cacert[0])
        rc = mcast_set_cacert(node->broker, settings->cacert, error);
    if (rc == 0 && settings->cert[0])
        rc = mcast_set_certificate(node->broker, settings->cert, settings->key, error);
    if (rc == 0 && settings->server_user[0])
        rc = mcast_set_server_user(node->broker, settings->server_user, error);
    if (rc == 0)
        rc = mcast_set_node(node->broker, node->name, error);
    if (rc == 0 && settings->munge_socket[0])
        rc = mcast_set_munge(node->broker, munge, settings->munge_socket, error);
    if (rc < 0) {
        mcast_close(node->broker);
        node->broker = NULL;
    }
    return rc;
}

/* Whether the request is to be sent again, after a pause. A busy broker is normal and not logged; a
 * broker that does not listen is logged once. */
static bool pause_for_broker(struct retry *retry, bool if_absent, bool *logged,
                             const struct mcast_error *error)
{
    unsigned int after_ms;
    const bool munge = strcmp(error->word, "munge") == 0; /* munged may be in a restart, too */
    const bool absent = munge || strcmp(error->word, "no-connection") == 0;
    if ((!mcast_later(error, &after_ms) && !munge) || (absent && !if_absent) ||
        retry_left_ms(retry) <= 0)
        return false;
    if (absent && !*logged)
        say("warning: %s; retrying for %lld s", error->text,
            (long long)(retry_left_ms(retry) + 999) / 1000);
    *logged |= absent;
    if (after_ms > BUSY_AFTER_MAX_MS)
        after_ms = BUSY_AFTER_MAX_MS;
    if (retry->pause_ms < after_ms)
        retry->pause_ms = after_ms;
    return retry_pause(retry);
}

/* A broker that is slow, or goes, was found; and its certificate that is over is over for all. */
static bool found_no_way(int rc, const struct mcast_error *error)
{
    static const char *const words[] = {"no-connection", "denied", "untrusted",
                                        "tls",           "munge",  "libcurl"};
    bool is_listed = false;
    for (size_t i = 0; rc < 0 && i < sizeof words / sizeof words[0]; i++)
        is_listed |= strcmp(error->word, words[i]) == 0;
    return is_listed && error->status == 0 && !strstr(error->text, "is not valid today");
}

int node_ask(struct node *node, node_request_fn *request, void *arg, int64_t retry_ms,
             bool if_absent, struct mcast_error *error)
{
    struct retry retry;
    uint32_t chance = 0;
    bool logged = false;
    if (node->broker_gone) {
        *error = (struct mcast_error){.code = MCAST_UNREACHABLE};
        snprintf(error->text, sizeof error->text, "the broker had no answer before");
        return error->code;
    }
    int rc = node->broker ? 0 : connect_broker(node, error);
    (void)!getrandom(&chance, sizeof chance, GRND_NONBLOCK); /* early in the boot: none */
    retry_begin(&retry, &retry_real, retry_ms);
    retry.pause_ms = BUSY_FIRST_MS + chance % BUSY_SPREAD_MS;
    for (bool again = rc == 0; again;
         again = rc < 0 && pause_for_broker(&retry, if_absent, &logged, error))
        rc = request(node->broker, arg, error);
    node->broker_gone = rc == MCAST_UNREACHABLE || (rc < 0 && mcast_later(error, NULL));
    const bool unreached = found_no_way(rc, error);
    snprintf(node->unreached, sizeof node->unreached, "%.199s", unreached ? error->text : "");
    if (!unreached)
        unreached_forget(node);
    return rc;
}

void node_release(struct node *node)
{
    if (node->nics_known)
        nics_close(&node->nics);
    notes_release(&node->notes);
    statedir_close(&node->dir);
    mcast_close(node->broker);
}

const char *node_job_of(void *arg, const char *device, unsigned int service)
{
    const struct node *node = arg;
    const struct note *note = notes_holder(&node->notes, device, service);
    return note ? note->claim.name : NULL;
}
