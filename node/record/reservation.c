/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/reservation.h"

#include "client/calls/call.h"
#include "node/commands/command.h"
#include "node/retry.h"
#include "node/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_MAX = 1 << 20 };

/* The document as one string, for free(); NULL after a message. */
static char *read_document(const char *file, size_t *length)
{
    bool standard = strcmp(file, "-") == 0;
    FILE *in = standard ? stdin : fopen(file, "re");
    char *text = in ? malloc(DOCUMENT_MAX) : NULL;
    if (text)
        *length = fread(text, 1, DOCUMENT_MAX, in);
    bool bad = !text || ferror(in) || *length == DOCUMENT_MAX;
    if (bad && text && !ferror(in))
        errno = EFBIG;
    if (bad) {
        say("%s cannot be read as a reservation: %s", file, strerror(errno));
        free(text);
        text = NULL;
    }
    if (in && !standard)
        fclose(in);
    return text;
}

static int from_file(const char *file, struct mcast_reservation **out)
{
    struct mcast_error error;
    size_t length = 0;
    char *text = read_document(file, &length);
    if (!text)
        return COMMAND_USAGE;
    int rc = reservation_parse(text, length, out, &error);
    explicit_bzero(text, length); /* the job's token may be in it */
    free(text);
    if (rc == 0)
        return COMMAND_GO_ON;
    say("%s is not a reservation as mcastctl show --json prints it: %s", file, error.text);
    return COMMAND_USAGE;
}

static int show_with_retry(struct node *node, const char *job, bool patient,
                           struct mcast_reservation **out, struct mcast_error *error)
{
    struct mcast *broker = node_broker(node, error);
    struct broker_retry retry;
    int rc;
    if (!broker)
        return error->code;
    broker_retry_begin(&retry, node->settings.busy_ms, patient);
    do
        rc = mcast_show(broker, node->cluster, job, out, error);
    while (rc < 0 && broker_retry_again(&retry, error));
    return rc;
}

static int from_broker(struct node *node, const char *job, bool quiet,
                       struct mcast_reservation **out)
{
    struct mcast_error error;
    if (!node->cluster) {
        say("no cluster is given: use --cluster NAME, or set cluster in node.conf");
        return COMMAND_USAGE;
    }
    int rc = show_with_retry(node, job, !quiet, out, &error);
    if (rc == 0 && strcmp((*out)->state, "gone") == 0) {
        mcast_reservation_free(*out);
        rc = error.code = MCAST_NOT_FOUND;
        snprintf(error.text, sizeof error.text, "job %.130s is released already", job);
    }
    if (rc == 0)
        return COMMAND_GO_ON;
    node->broker_gone = rc == MCAST_UNREACHABLE;
    return rc == MCAST_NOT_FOUND && quiet ? COMMAND_NOT_FOUND : command_unanswered(&error);
}

int reservation_fetch(struct node *node, const char *file, const char *job, bool quiet,
                      struct claim *claim)
{
    struct mcast_reservation *reservation = NULL;
    struct error err;
    int rc = file ? from_file(file, &reservation) : from_broker(node, job, quiet, &reservation);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (claim_from_reservation(claim, reservation, node->cluster, job, node->name, &err) < 0)
        rc = command_failed(&err);
    mcast_reservation_free(reservation);
    return rc;
}
