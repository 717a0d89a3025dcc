#include "client/event.h"
#include "client/fault.h"
#include "client/field.h"

#include <stdlib.h>
#include <string.h>

static int decode_gap(struct event *event, struct mcast_error *error)
{
    struct mcast_event *seen = &event->seen;
    int rc = field_uint64(event->root, "from", FIELD_REQUIRED, UINT64_MAX, &seen->gap_from, error);
    if (rc < 0)
        return rc;
    return field_uint64(event->root, "to", FIELD_REQUIRED, UINT64_MAX, &seen->gap_to, error);
}

static int decode_fields(struct event *event, struct mcast_error *error)
{
    struct mcast_event *seen = &event->seen;
    const json_t *root = event->root;
    int rc;
    if ((rc = field_uint64(root, "seq", FIELD_REQUIRED, UINT64_MAX, &seen->seq, error)) < 0 ||
        (rc = field_string(root, "event", FIELD_REQUIRED, &seen->event, error)) < 0 ||
        (rc = field_string(root, "time", FIELD_OPTIONAL, &seen->time, error)) < 0 ||
        (rc = field_bool(root, "fatal", &seen->fatal, error)) < 0 ||
        (rc = field_string(root, "cluster", FIELD_OPTIONAL, &seen->cluster, error)) < 0 ||
        (rc = field_string(root, "job", FIELD_OPTIONAL, &seen->job, error)) < 0 ||
        (rc = field_uint64(root, "number", FIELD_OPTIONAL, UINT64_MAX, &seen->number, error)) < 0 ||
        (rc = field_uint32(root, "uid", FIELD_OPTIONAL, &seen->uid, error)) < 0)
        return rc;
    return field_string(root, "detail", FIELD_OPTIONAL, &seen->detail, error);
}

int event_decode(struct event *event, const struct sse_event *sent, struct mcast_error *error)
{
    *event = (struct event){0};
    int rc = field_parse(sent->data, strlen(sent->data), &event->root, error);
    if (rc == 0 && strcmp(sent->name, "gap") == 0) {
        event->seen.event = "gap";
        rc = decode_gap(event, error);
    } else if (rc == 0) {
        rc = decode_fields(event, error);
    }
    if (rc == 0) {
        event->line = json_dumps(event->root, JSON_COMPACT);
        event->seen.json = event->line;
        if (!event->line)
            rc = fault_nomem(error);
    }
    if (rc < 0)
        event_release(event);
    return rc;
}

void event_release(struct event *event)
{
    free(event->line);
    json_decref(event->root);
    *event = (struct event){0};
}
