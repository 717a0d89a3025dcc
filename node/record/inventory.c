/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/inventory.h"

#include "base/memory.h"
#include "base/names.h"
#include "node/services/sysfs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AGAIN_S = 24 * 60 * 60, REFUSED_AGAIN_S = 60 * 60, WORD_MAX = 64 };

/* ---- which they are ---- */

/* A word as the broker takes it: others' characters become '_'. */
static void set_word(json_t *nic, const char *name, const struct settings *settings,
                     const char *device, const char *file)
{
    char word[SYSFS_TEXT_SIZE];
    if (!sysfs_read(settings->sysfs, device, file, word))
        return;
    for (char *at = word; *at; at++)
        if (*at <= ' ' || *at > '~' || strchr("\"\\,;", *at))
            *at = '_';
    word[WORD_MAX] = '\0';
    json_object_set_new(nic, name, json_string(word));
}

static json_t *make_nic(const struct settings *settings, const struct nic *nic)
{
    const struct cxil_devinfo *info = &nic->info;
    const bool up = info->link_state == 1;
    json_t *made = memory_must(json_pack("{s:s,s:I,s:s}", "device", nic->name, "address",
                                         (json_int_t)info->nid, "link", up ? "up" : "down"));
    if (info->link_speed > 0 && info->link_speed <= UINT32_MAX)
        json_object_set_new(made, "speed", json_integer((json_int_t)info->link_speed));
    set_word(made, "serial", settings, nic->name, "fru/serial_number");
    set_word(made, "firmware", settings, nic->name, "uc/qspi_blob_version");
    return made;
}

json_t *inventory_make(struct node *node, struct error *err)
{
    const int rc = node_find_nics(node, err);
    if (rc < 0 && rc != ERROR_NOT_FOUND)
        return NULL;
    json_t *list = memory_must(json_array());
    for (unsigned int i = 0; rc == 0 && i < node->nics.count; i++)
        json_array_append_new(list, make_nic(&node->settings, &node->nics.at[i]));
    return list;
}

/* ---- what the broker has ---- */

static const char file_name[] = "inventory";

struct told {
    int64_t order; /* of the last report */
    int64_t at_s;  /* when it was confirmed, or refused, by this machine's clock */
    bool refused;
    json_t *nics; /* or NULL */
};

static void read_told(const struct node *node, struct told *told)
{
    char *text = NULL;
    json_int_t order = 0, at_s = 0;
    int refused = 0;
    json_t *nics = NULL;
    *told = (struct told){0};
    if (statedir_read(&node->dir, file_name, &text, NULL) < 0)
        return;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (root && json_unpack(root, "{s:I,s:I,s:b,s:o}", "order", &order, "at", &at_s, "refused",
                            &refused, "nics", &nics) == 0)
        *told = (struct told){order, at_s, refused, json_incref(nics)};
    json_decref(root);
    free(text);
}

static void write_told(const struct node *node, int64_t order, bool refused, json_t *nics)
{
    struct error err;
    json_t *root =
        memory_must(json_pack("{s:I,s:I,s:b,s:O}", "order", (json_int_t)order, "at",
                              (json_int_t)time(NULL), "refused", (int)refused, "nics", nics));
    char *text = memory_must(json_dumps(root, JSON_INDENT(1)));
    if (statedir_write(&node->dir, file_name, text, &err) < 0)
        say("%s", err.text);
    free(text);
    json_decref(root);
}

/* ---- telling ---- */

struct report {
    const char *node, *body;
    char *answer;
};

static int send(struct mcast *broker, void *arg, struct mcast_error *error)
{
    struct report *report = arg;
    free(report->answer);
    report->answer = NULL;
    return mcast_report_inventory(broker, report->node, report->body, &report->answer, error);
}

/* *kept: the order of what the broker has then. */
static int send_once(struct node *node, int64_t order, json_t *nics, int64_t *kept,
                     struct mcast_error *error)
{
    json_t *body = memory_must(json_pack("{s:I,s:O}", "order", (json_int_t)order, "nics", nics));
    char *text = memory_must(json_dumps(body, JSON_COMPACT));
    struct report report = {node->name, text, NULL};
    const int rc = node_ask(node, send, &report, node->settings.busy_ms, false, error);
    json_t *answer = rc == 0 ? json_loads(report.answer, 0, NULL) : NULL;
    *kept = json_integer_value(json_object_get(answer, "order"));
    json_decref(answer);
    free(report.answer);
    free(text);
    json_decref(body);
    return rc;
}

/* The order grows with each report, also when the clock was set back; and when the spool was lost
 * as well, the broker says what it has. */
int inventory_report(struct node *node, json_t *nics, struct mcast_error *error)
{
    struct told told;
    struct timespec now;
    int64_t kept = 0;
    read_told(node, &told);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int64_t order = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (order <= told.order)
        order = told.order + 1;
    int rc = send_once(node, order, nics, &kept, error);
    if (rc == 0 && kept > order) {
        order = kept + 1;
        rc = send_once(node, order, nics, &kept, error);
    }
    const bool refused = rc == MCAST_REFUSED || rc == MCAST_NOT_FOUND; /* there: an older broker */
    if (rc == 0 || refused)
        write_told(node, order, refused, rc == 0 || !told.nics ? nics : told.nics);
    json_decref(told.nics);
    return rc;
}

static bool is_due(const struct told *told, json_t *nics)
{
    const int64_t age_s = (int64_t)time(NULL) - told->at_s;
    if (told->refused && age_s >= 0 && age_s < REFUSED_AGAIN_S)
        return false;
    return told->refused || !told->nics || !json_equal(told->nics, nics) || age_s < 0 ||
           age_s >= AGAIN_S;
}

void inventory_tend(struct node *node)
{
    struct error err;
    struct mcast_error error;
    struct told told;
    const int64_t spread_ms = node->settings.inventory_ms;
    if (!node->settings.report || !node->settings.inventory ||
        note_clock_ms() < (spread_ms > 0 ? name_hash("", node->name) % spread_ms : 0))
        return;
    json_t *nics = inventory_make(node, &err);
    if (!nics) {
        say("warning: the node's NICs are not reported: %s", err.text);
        return;
    }
    read_told(node, &told);
    if (is_due(&told, nics) && inventory_report(node, nics, &error) < 0)
        say("warning: the node's NICs are reported later: %s", error.text);
    json_decref(told.nics);
    json_decref(nics);
}
