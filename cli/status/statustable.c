/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/status/statustable.h"
#include "base/memory.h"
#include "cli/age.h"
#include "cli/command.h"
#include "cli/plain.h"
#include "cli/table.h"
#include "cli/status/verdict.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HEIGHT = 24, WIDTH = 80, NAME_WIDTH = 15, OTHERS_MAX = 3, NODES_MAX = 32 };

/* A screen that is filled from above. */
struct screen {
    size_t width, height, lines, hidden;
};

/* A line that is being written: words with commas between. */
struct words {
    char *text;
    size_t size;
    FILE *out;
};

static void begin(struct words *words)
{
    words->out = memory_must(open_memstream(&words->text, &words->size));
}

__attribute__((format(printf, 2, 3))) static void add(struct words *words, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (ftell(words->out) > 0)
        fputs(", ", words->out);
    vfprintf(words->out, format, args);
    va_end(args);
}

/* Only what there is. */
static void add_count(struct words *words, long long count, const char *what)
{
    if (count > 0)
        add(words, "%lld %s", count, what);
}

static void end(struct words *words, struct screen *screen, const char *name)
{
    char lead[NAME_WIDTH + 1];
    fclose(words->out);
    plain_make(words->text);
    (void)snprintf(lead, sizeof lead, "%-*s", NAME_WIDTH, name);
    if (words->text[0] && screen->lines + 4 > screen->height) /* it may be wrapped */
        screen->hidden++;
    else if (words->text[0])
        screen->lines += plain_wrapped(screen->width, 0, lead, words->text);
    free(words->text);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = command_text(object, name);
    return text ? text : "";
}

static long long number_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static void add_age(struct words *words, const char *what, const char *when)
{
    char age[AGE_SIZE];
    age_between(when, time(NULL), age);
    if (age[0])
        add(words, "%s %s", what, age);
}

/* Of several brokers, one that is not the one whose status this is. */
static void show_other(struct screen *screen, const char *what, const json_t *other)
{
    const char *host = text_of(other, "host"), *version = text_of(other, "version");
    struct words words;
    begin(&words);
    add(&words, "%s%s%s", text_of(other, "url"), version[0] ? " " : "", version);
    if (host[0])
        add(&words, "host %s", host);
    end(&words, screen, what);
}

/* Whether this URL is that of an entry. */
static bool has_url(const json_t *list, const char *url)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(list, i, entry)
    {
        if (strcmp(text_of(entry, "url"), url) == 0)
            return true;
    }
    return false;
}

static void show_broker(struct screen *screen, const json_t *root)
{
    const json_t *standbys = json_object_get(json_object_get(root, "leadership"), "standbys");
    const json_t *listed = json_object_get(root, "brokers"), *other;
    const char *role = text_of(root, "role"), *url = text_of(root, "url");
    struct words words;
    size_t i, shown = 0;
    begin(&words);
    add(&words, "%s%s%s", text_of(root, "version"), role[0] ? " " : "", role);
    add_age(&words, "up", text_of(root, "started"));
    if (url[0])
        add(&words, "%s", url);
    end(&words, screen, "broker");
    json_array_foreach(standbys, i, other)
    {
        if (shown++ < OTHERS_MAX)
            show_other(screen, "standby", other);
    }
    json_array_foreach(listed, i, other)
    {
        const char *its_role = text_of(other, "role"), *its_url = text_of(other, "url");
        if (strcmp(its_url, url) != 0 && !has_url(standbys, its_url) && shown++ < OTHERS_MAX)
            show_other(screen, its_role[0] ? its_role : "no answer", other);
    }
    screen->hidden += shown > OTHERS_MAX ? shown - OTHERS_MAX : 0;
}

static void show_link(struct screen *screen, const json_t *root)
{
    const json_t *fm = json_object_get(root, "fabric_manager");
    const json_t *queues = json_object_get(root, "queues");
    const long long waiting = number_of(queues, "fm_reserve") + number_of(queues, "fm_release") +
                              number_of(queues, "fm_check") + number_of(queues, "fm_cleanup");
    char age[AGE_SIZE];
    struct words words;
    if (!text_of(fm, "url")[0])
        return;
    begin(&words);
    add(&words, "%s", text_of(fm, "url"));
    add_age(&words, text_of(fm, "link"), text_of(fm, "since"));
    age_between(text_of(fm, "answered"), time(NULL), age);
    if (age[0])
        add(&words, "answered %s ago", age);
    add_age(&words, "login ends in", text_of(fm, "login_expires"));
    if (number_of(fm, "losses") > 0)
        add(&words, "lost %lld time%s", number_of(fm, "losses"),
            number_of(fm, "losses") == 1 ? "" : "s");
    add_count(&words, waiting, "waiting");
    add_count(&words, number_of(queues, "fm_under_way"), "under way");
    end(&words, screen, "fabric manager");
}

static void show_jobs(struct screen *screen, const json_t *root)
{
    const json_t *jobs = json_object_get(root, "jobs");
    struct words words;
    if (!jobs)
        return;
    begin(&words);
    add(&words, "%lld active", number_of(jobs, "active"));
    add_count(&words, number_of(jobs, "releasing"), "releasing");
    add_count(&words, number_of(jobs, "reserved"), "with addresses");
    add_count(&words, number_of(root, "strays"),
              number_of(root, "strays") == 1 ? "stray at the fabric manager"
                                             : "strays at the fabric manager");
    end(&words, screen, "jobs");
}

static void show_vnis(struct screen *screen, const json_t *root)
{
    const json_t *vnis = json_object_get(root, "vnis");
    struct words words;
    if (!vnis)
        return;
    begin(&words);
    add(&words, "%lld free of %lld", number_of(vnis, "free"), number_of(vnis, "pool"));
    add(&words, "%lld in use", number_of(vnis, "live"));
    add_count(&words, number_of(vnis, "held"), "quarantined");
    add_count(&words, number_of(vnis, "overdue"), "of them overdue");
    add_count(&words, number_of(vnis, "quarantined"), "suspect");
    add_count(&words, number_of(vnis, "shared"), "shared");
    add_count(&words, number_of(vnis, "unconfirmed"), "unconfirmed");
    add_count(&words, number_of(vnis, "other_partitions_used"), "in use, of other partitions");
    add_count(&words, number_of(vnis, "refused"), "reserves refused");
    end(&words, screen, "VNIs");
}

static void show_partition_keys(struct screen *screen, const json_t *root)
{
    const json_t *keys = json_object_get(root, "partition_keys");
    struct words words;
    if (number_of(keys, "pool") == 0)
        return;
    begin(&words);
    add(&words, "%lld free of %lld", number_of(keys, "free"), number_of(keys, "pool"));
    add_count(&words, number_of(keys, "taken"), "in use or quarantined");
    add_count(&words, number_of(keys, "refused"), "reserves refused");
    end(&words, screen, "partition keys");
}

static void show_addresses(struct screen *screen, const json_t *root)
{
    const json_t *addresses = json_object_get(root, "addresses");
    const long long total = number_of(addresses, "total");
    const long long each = number_of(addresses, "per_job");
    struct words words;
    if (!addresses)
        return;
    begin(&words);
    if (total > 0)
        add(&words, "%lld reserved of %lld", number_of(addresses, "reserved"), total);
    else
        add(&words, "%lld reserved", number_of(addresses, "reserved"));
    if (each > 0)
        add(&words, "%lld a job", each);
    end(&words, screen, "addresses");
}

static void show_rest(struct screen *screen, const json_t *root)
{
    const json_t *cleanups = json_object_get(root, "cleanups");
    const json_t *connections = json_object_get(root, "connections");
    const json_t *commits = json_object_get(root, "commits");
    struct words words;
    begin(&words);
    add_count(&words, number_of(cleanups, "pending"), "pending");
    add_count(&words, number_of(cleanups, "given_up"), "given up");
    end(&words, screen, "cleanups");
    begin(&words);
    if (connections)
        add(&words, "%lld of %lld", number_of(connections, "open"), number_of(connections, "max"));
    add_count(&words, number_of(connections, "event_streams"), "of them follow events");
    add_count(&words, number_of(connections, "refused"), "refused");
    end(&words, screen, "connections");
    begin(&words);
    if (commits)
        add(&words, "%lld record%s saved since the start", number_of(commits, "records"),
            number_of(commits, "records") == 1 ? "" : "s");
    add_count(&words, number_of(json_object_get(root, "queues"), "unsaved"), "unsaved");
    add_count(&words, number_of(commits, "failures"),
              number_of(commits, "failures") == 1 ? "failed commit" : "failed commits");
    end(&words, screen, "ledger");
}

static void add_cluster(struct table *table, const json_t *cluster)
{
    char age[AGE_SIZE], nodes[NODES_MAX + 1];
    const char *synced = text_of(cluster, "synced"), *listed = text_of(cluster, "listed");
    const char *all = text_of(cluster, "nodes");
    age_between(strcmp(synced, listed) > 0 ? synced : listed, time(NULL), age);
    char *name = memory_text(text_of(cluster, "name"));
    plain_make(name);
    (void)snprintf(nodes, sizeof nodes, "%s", all[0] ? all : "-");
    if (strlen(all) >= sizeof nodes)
        strcpy(nodes + NODES_MAX - 3, "...");
    plain_make(nodes);
    table_row(table);
    table_cell(table, name);
    table_cellf(table, "%lld", number_of(cluster, "active"));
    table_cellf(table, "%lld", number_of(cluster, "releasing"));
    table_cellf(table, "%s%s", age[0] ? age : "never", age[0] ? " ago" : "");
    table_cell(table, nodes);
    free(name);
}

/* As many as fit. */
static int show_clusters(struct screen *screen, const json_t *clusters)
{
    const size_t count = json_array_size(clusters);
    const size_t room = screen->lines < screen->height ? screen->height - screen->lines : 0;
    const size_t shown = room < 4 ? 0 : count > room - 2 ? room - 3 : count;
    struct table *table;
    screen->hidden += count - shown;
    if (shown == 0)
        return 0;
    table = table_create("CLUSTER,>ACTIVE,>RELEASING,LISTED,~NODES");
    for (size_t i = 0; i < shown; i++)
        add_cluster(table, json_array_get(clusters, i));
    return table_print(table);
}

int statustable_print(const json_t *root)
{
    static const struct {
        void (*show)(struct screen *screen, const json_t *root);
        bool always; /* else not of a standby, which knows no jobs */
    } lines[] = {{show_broker, true},
                 {show_link, true},
                 {show_jobs, false},
                 {show_vnis, false},
                 {show_partition_keys, false},
                 {show_addresses, false},
                 {show_rest, false}};
    struct screen screen = {.width = plain_width(WIDTH), .height = plain_height(HEIGHT)};
    const bool stands_by = strcmp(text_of(root, "role"), "standby") == 0;
    int code = 0;
    screen.lines = verdict_print(root, screen.height);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].always || !stands_by)
            lines[i].show(&screen, root);
    if (!stands_by)
        code = show_clusters(&screen, json_object_get(root, "clusters"));
    if (screen.hidden > 0)
        printf("And %zu more lines: mcastctl status --json\n", screen.hidden);
    return code != 0 ? code : command_finish();
}
