/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/rates.h"

#include "base/memory.h"
#include "cli/command.h"
#include "cli/plain.h"
#include "cli/screen.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NODES_MAX = 1 << 17, ROWS_USUAL = 24, ROWS_AROUND = 6, AMOUNT_SIZE = 32 };

/* A second's, of all NICs of a node, or of all nodes. */
struct rate {
    char *node;
    unsigned nics;
    double tx, rx, packets, paused;
};

struct rates {
    struct rate *all; /* since the last show; by name */
    size_t count, capacity;
};

struct rates *rates_create(void)
{
    return memory_zeroed(sizeof(struct rates));
}

static void forget(struct rates *rates)
{
    for (size_t i = 0; i < rates->count; i++)
        free(rates->all[i].node);
    rates->count = 0;
}

void rates_destroy(struct rates *rates)
{
    forget(rates);
    free(rates->all);
    free(rates);
}

static double number_of(const json_t *object, const char *name)
{
    const double number = json_number_value(json_object_get(object, name));
    return number > 0 ? number : 0;
}

/* Where the node is, or belongs. */
static size_t place_of(const struct rates *rates, const char *node)
{
    size_t low = 0, high = rates->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(rates->all[middle].node, node) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The newest word of a node counts. */
static struct rate *rate_of(struct rates *rates, const char *node)
{
    const size_t at = place_of(rates, node);
    if (at < rates->count && strcmp(rates->all[at].node, node) == 0)
        return &rates->all[at];
    if (rates->count == NODES_MAX)
        return NULL;
    rates->all = memory_room(rates->all, rates->count, &rates->capacity, sizeof *rates->all);
    memmove(rates->all + at + 1, rates->all + at, (rates->count++ - at) * sizeof *rates->all);
    rates->all[at] = (struct rate){.node = memory_text(node)};
    return &rates->all[at];
}

bool rates_take(struct rates *rates, const char *line)
{
    json_t *told = line[0] == '{' ? json_loads(line, 0, NULL) : NULL;
    const char *node = command_text(told, "node");
    const double seconds = number_of(told, "over_ms") / 1000;
    struct rate *rate = node && seconds > 0 ? rate_of(rates, node) : NULL;
    const json_t *nic;
    size_t i;
    if (rate)
        *rate = (struct rate){.node = rate->node};
    json_array_foreach(json_object_get(told, "nics"), i, nic)
    {
        if (!rate)
            break;
        rate->nics++;
        rate->tx += number_of(nic, "tx_octets") / seconds;
        rate->rx += number_of(nic, "rx_octets") / seconds;
        rate->packets += (number_of(nic, "tx_packets") + number_of(nic, "rx_packets")) / seconds;
        rate->paused += number_of(nic, "paused") / seconds;
    }
    json_decref(told);
    return rate;
}

/* ---- showing ---- */

/* "12.5 M". */
static const char *amount(double value, char out[AMOUNT_SIZE])
{
    static const char units[] = " kMGTP";
    size_t unit = 0;
    while (value >= 1000 && unit < sizeof units - 2) {
        value /= 1000;
        unit++;
    }
    snprintf(out, AMOUNT_SIZE, unit > 0 ? "%.1f %c" : "%.0f", value, units[unit]);
    return out;
}

static int by_traffic(const void *a, const void *b)
{
    const struct rate *left = *(const struct rate *const *)a,
                      *right = *(const struct rate *const *)b;
    const double one = left->tx + left->rx, other = right->tx + right->rx;
    return one != other ? (one < other) - (one > other) : strcmp(left->node, right->node);
}

static struct rate sum_of(const struct rates *rates)
{
    struct rate sum = {0};
    for (size_t i = 0; i < rates->count; i++) {
        const struct rate *rate = &rates->all[i];
        sum.nics += rate->nics;
        sum.tx += rate->tx;
        sum.rx += rate->rx;
        sum.packets += rate->packets;
        sum.paused += rate->paused;
    }
    return sum;
}

static void add_rate(struct table *table, const char *name, const struct rate *rate)
{
    char text[AMOUNT_SIZE];
    table_row(table);
    table_cell(table, name);
    table_cellf(table, "%u", rate->nics);
    table_cell(table, amount(rate->tx, text));
    table_cell(table, amount(rate->rx, text));
    table_cell(table, amount(rate->packets, text));
    table_cell(table, amount(rate->paused, text));
}

static size_t rows_of_terminal(void)
{
    const size_t rows = plain_height(ROWS_USUAL);
    return rows > ROWS_AROUND + 1 ? rows - ROWS_AROUND : 1;
}

/* The busiest first, as many as fit. */
static void show_table(const struct rates *rates, const struct rate *sum, const char *when,
                       const char *cluster, const char *job, const char *words)
{
    const size_t room = rows_of_terminal(), shown = rates->count < room ? rates->count : room;
    const struct rate **order = memory_resized(NULL, rates->count + 1, sizeof(struct rate *));
    struct table *table =
        table_create("NODE,>NICS,>OCTETS/S SENT,>RECEIVED,>PACKETS/S,>CYCLES/S PAUSED");
    for (size_t i = 0; i < rates->count; i++)
        order[i] = &rates->all[i];
    qsort(order, rates->count, sizeof *order, by_traffic);
    screen_begin();
    plain_printf("%s  job %s/%s, %zu nodes tell\n", when, cluster, job, rates->count);
    add_rate(table, "all", sum);
    for (size_t i = 0; i < shown; i++)
        add_rate(table, order[i]->node, order[i]);
    (void)table_print(table);
    if (shown < rates->count)
        printf("and %zu nodes more\n", rates->count - shown);
    if (words[0])
        plain_printf("%s\n", words);
    (void)screen_show("Ctrl-C ends it");
    free(order);
}

void rates_show(struct rates *rates, const char *cluster, const char *job, const char *words)
{
    const struct rate sum = sum_of(rates);
    const time_t now = time(NULL);
    struct tm local;
    char when[16] = "", tx[AMOUNT_SIZE], rx[AMOUNT_SIZE], paused[AMOUNT_SIZE];
    if (localtime_r(&now, &local))
        (void)strftime(when, sizeof when, "%H:%M:%S", &local);
    if (screen_is_terminal())
        show_table(rates, &sum, when, cluster, job, words);
    else
        plain_printf("%s  %zu nodes, octets/s: %s sent, %s received; %s cycles/s paused\n", when,
                     rates->count, amount(sum.tx, tx), amount(sum.rx, rx),
                     amount(sum.paused, paused));
    fflush(stdout);
    forget(rates);
}
