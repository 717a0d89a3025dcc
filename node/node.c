/* SPDX-License-Identifier: Apache-2.0 */
#include "node/node.h"

#include "node/services/library.h"
#include "node/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int node_remember(struct node *node, bool change, struct error *err)
{
    int rc = statedir_open(&node->dir, node->settings.spool, change, err);
    if (rc == 0)
        rc = notes_load(&node->notes, &node->dir, err);
    if (rc == 0 && change)
        rc = boot_open(&node->boot, &node->dir, &node->notes, err);
    if (rc == 0 && node->notes.damaged > 0)
        say("%s/%s cannot be read as a note of a job; it is left as it is: see which services are "
            "there "
            "(mcast-node list), then delete it",
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

static const char *url_of(const struct node *node)
{
    return node->settings.url[0] ? node->settings.url : NULL;
}

/* Two proofs would not add up: the broker looks at the credential only. A munged that is named and
 * is away should be said, rather than that the broker does not know who asks. */
static enum mcast_munge munge_use(const struct settings *settings)
{
    return settings->cert[0] ? MCAST_MUNGE_AUTO : MCAST_MUNGE_ALWAYS;
}

static int connect_broker(struct node *node, struct mcast_error *error)
{
    const struct settings *settings = &node->settings;
    int rc = mcast_open(&node->broker, url_of(node), error);
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
        rc = mcast_set_munge(node->broker, munge_use(settings), settings->munge_socket, error);
    if (rc == 0)
        return 0;
    mcast_close(node->broker);
    node->broker = NULL;
    return rc;
}

struct mcast *node_broker(struct node *node, struct mcast_error *error)
{
    if (node->broker_gone) {
        *error = (struct mcast_error){.code = MCAST_UNREACHABLE};
        snprintf(error->text, sizeof error->text, "the broker had no answer before");
        return NULL;
    }
    if (!node->broker && connect_broker(node, error) < 0)
        return NULL;
    return node->broker;
}

void node_say_error(struct node *node, const struct mcast_error *error)
{
    if (strcmp(node->said.text, error->text) != 0)
        say("%s", error->text);
    node->said = *error;
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
    static char name[CLAIM_NAME_SIZE];
    const struct node *node = arg;
    const struct note *note = notes_holder(&node->notes, device, service);
    return note ? claim_name(&note->claim, name) : NULL;
}
