/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/places.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void places_release(struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        free(places->all[i].name);
        free(places->all[i].nodes.text);
    }
    free(places->all);
    free(places->unplaced.text);
    *places = (struct places){0};
}

/* Names of nodes, in lists and ranges: what is in none becomes '?', as they are printed into
 * others' configuration. */
static char *restrict_letters(char *names)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "_.-[],";
    for (char *at = names; at && *(at += strspn(at, allowed)); at++)
        *at = '?';
    return names;
}

/* Whether the name is that of the last one's successor; the numbers of both are the name's end. */
static bool continues(const struct places_nodes *nodes, const char *name, size_t prefix)
{
    char number[24];
    snprintf(number, sizeof number, "%0*lu", nodes->width, nodes->last + 1);
    return nodes->width > 0 && nodes->prefix == prefix &&
           strncmp(nodes->text + nodes->start, name, prefix) == 0 &&
           strcmp(name + prefix, number) == 0;
}

static void add_name(struct places_nodes *nodes, const char *name)
{
    enum { DIGITS_MAX = 9, RANGE_SIZE = 2 * DIGITS_MAX + 8 };
    const size_t length = strlen(name);
    size_t prefix = length;
    while (prefix > 0 && length - prefix < DIGITS_MAX && isdigit((unsigned char)name[prefix - 1]))
        prefix--;
    while (nodes->length + length + RANGE_SIZE > nodes->capacity) {
        nodes->capacity = nodes->capacity == 0 ? 64 : 2 * nodes->capacity;
        nodes->text = memory_resized(nodes->text, nodes->capacity, 1);
    }
    if (continues(nodes, name, prefix)) {
        char *number = nodes->text + nodes->start + prefix;
        nodes->last++;
        number +=
            sprintf(number, "[%0*lu-%0*lu]", nodes->width, nodes->first, nodes->width, nodes->last);
        nodes->length = (size_t)(number - nodes->text);
        return;
    }
    if (nodes->length > 0)
        nodes->text[nodes->length++] = ',';
    nodes->start = nodes->length;
    nodes->prefix = prefix;
    nodes->width = (int)(length - prefix);
    nodes->first = nodes->last = strtoul(name + prefix, NULL, 10);
    memcpy(nodes->text + nodes->start, name, length + 1);
    (void)restrict_letters(nodes->text + nodes->start);
    nodes->length += length;
}

static struct place *find(struct places *places, const char *name)
{
    for (size_t i = places->count; i > 0; i--) /* the next node is mostly at the last one */
        if (strcmp(places->all[i - 1].name, name) == 0)
            return &places->all[i - 1];
    return NULL;
}

/* NULL: it is no name of a switch. */
static struct place *place_of(struct places *places, const char *name)
{
    struct place place = {0};
    char plain[24];
    if (!name || sscanf(name, "g%4us%3u", &place.group, &place.number) != 2)
        return NULL;
    snprintf(plain, sizeof plain, "g%us%u", place.group, place.number);
    if (strcmp(name, plain) != 0) /* also blanks and signs, which sscanf skips */
        return NULL;
    struct place *found = find(places, name);
    if (found)
        return found;
    place.name = memory_text(name);
    places->all = memory_room(places->all, places->count, &places->capacity, sizeof place);
    places->all[places->count] = place;
    return &places->all[places->count++];
}

static unsigned number_of(const json_t *object, const char *member)
{
    return (unsigned)json_integer_value(json_object_get(object, member));
}

void places_add_node(struct places *places, const char *name, const json_t *node)
{
    const json_t *nic;
    size_t i;
    bool placed = false;
    json_array_foreach(json_object_get(node, "nics"), i, nic)
    {
        const char *state = json_string_value(json_object_get(nic, "state"));
        struct place *place = place_of(places, json_string_value(json_object_get(nic, "switch")));
        if (!place)
            continue;
        place->nics++;
        place->nics_down += state && strcmp(state, "down") == 0;
        if (placed)
            continue;
        placed = true;
        place->node_count++;
        add_name(&place->nodes, name);
    }
    if (placed)
        return;
    places->unplaced_count++;
    add_name(&places->unplaced, name);
}

void places_mark_down(struct places *places, const char *name)
{
    struct place *place = name ? find(places, name) : NULL;
    if (place)
        place->down = true;
}

void places_read(struct places *places, const json_t *topology)
{
    const char *unplaced = json_string_value(json_object_get(topology, "nodes_without_address"));
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(topology, "switches"), i, one)
    {
        const char *nodes = json_string_value(json_object_get(one, "nodes"));
        const char *state = json_string_value(json_object_get(one, "state"));
        struct place *place = place_of(places, json_string_value(json_object_get(one, "switch")));
        if (!place || place->nodes.text)
            continue;
        place->nodes.text = restrict_letters(memory_text(nodes && *nodes ? nodes : NULL));
        place->node_count = number_of(one, "node_count");
        place->nics = number_of(one, "nics");
        place->nics_down = number_of(one, "nics_down");
        place->down = state && strcmp(state, "down") == 0;
    }
    places->unplaced_count = number_of(topology, "node_count") - number_of(topology, "placed");
    places->unplaced.text = restrict_letters(memory_text(unplaced && *unplaced ? unplaced : NULL));
}

static int compare(const void *a, const void *b)
{
    const struct place *l = a, *r = b;
    return l->group != r->group ? (l->group > r->group) - (l->group < r->group)
                                : (l->number > r->number) - (l->number < r->number);
}

void places_sort(struct places *places)
{
    if (places->count > 0)
        qsort(places->all, places->count, sizeof *places->all, compare);
}

/* ---- forms ---- */

/* Slurm wants each node once, and a switch has nodes or switches: one without nodes is left out. */
static bool is_leaf(const struct place *place)
{
    return place->nodes.text;
}

/* Calls each for every group that has nodes, with the range of its switches; how many there are. */
static size_t groups(const struct places *places,
                     void (*each)(const struct place *first, const struct place *end, size_t index))
{
    size_t count = 0;
    for (size_t i = 0, end = 0; i < places->count; i = end) {
        bool any = false;
        for (end = i; end < places->count && places->all[end].group == places->all[i].group; end++)
            any |= is_leaf(&places->all[end]);
        if (any && each)
            each(&places->all[i], &places->all[end], count);
        count += any;
    }
    return count;
}

static void print_conf_group(const struct place *first, const struct place *end, size_t index)
{
    (void)index;
    const char *between = "";
    for (const struct place *place = first; place < end; place++)
        if (is_leaf(place))
            printf("SwitchName=%s Nodes=%s\n", place->name, place->nodes.text);
    printf("SwitchName=g%u Switches=", first->group);
    for (const struct place *place = first; place < end; place++) {
        if (!is_leaf(place))
            continue;
        printf("%s%s", between, place->name);
        between = ",";
    }
    putchar('\n');
}

static void print_group_name(const struct place *first, const struct place *end, size_t index)
{
    (void)end;
    printf("%sg%u", index > 0 ? "," : "", first->group);
}

void places_print_slurm(const struct places *places)
{
    printf("# Groups and switches of the fabric, for TopologyPlugin=topology/tree; written by "
           "mcastctl topology\n");
    if (places->unplaced.text)
        printf("# Without an address: %s\n", places->unplaced.text);
    if (groups(places, print_conf_group) < 2)
        return;
    printf("SwitchName=fabric Switches=");
    (void)groups(places, print_group_name);
    putchar('\n');
}

static void print_yaml_group(const struct place *first, const struct place *end, size_t index)
{
    (void)index;
    const char *between = "";
    printf("      - switch: g%u\n        children: ", first->group);
    for (const struct place *place = first; place < end; place++) {
        if (!is_leaf(place))
            continue;
        printf("%s%s", between, place->name);
        between = ",";
    }
    putchar('\n');
    for (const struct place *place = first; place < end; place++)
        if (is_leaf(place))
            printf("      - switch: %s\n        nodes: %s\n", place->name, place->nodes.text);
}

void places_print_slurm_yaml(const struct places *places)
{
    printf("# Groups and switches of the fabric; written by mcastctl topology\n");
    if (places->unplaced.text)
        printf("# Without an address: %s\n", places->unplaced.text);
    printf("- topology: fabric\n  cluster_default: true\n  tree:\n    switches:\n");
    if (groups(places, NULL) > 1) {
        printf("      - switch: fabric\n        children: ");
        (void)groups(places, print_group_name);
        putchar('\n');
    }
    (void)groups(places, print_yaml_group);
}

static void print_dot_group(const struct place *first, const struct place *end)
{
    printf("  fabric -- \"g%u\";\n  subgraph \"cluster_g%u\" {\n    label=\"group %u\";\n    "
           "\"g%u\" [shape=ellipse];\n",
           first->group, first->group, first->group, first->group);
    for (const struct place *place = first; place < end; place++) {
        printf("    \"%s\" [label=\"%s\\n%u nodes, %u NICs%s\"%s];\n", place->name, place->name,
               place->node_count, place->nics, place->nics_down > 0 ? ", some down" : "",
               place->down            ? ", color=red"
               : place->nics_down > 0 ? ", color=orange"
                                      : "");
        printf("    \"g%u\" -- \"%s\";\n", first->group, place->name);
    }
    printf("  }\n");
}

void places_print_graphviz(const struct places *places)
{
    printf("graph fabric {\n  node [shape=box];\n  fabric [shape=doublecircle];\n");
    for (size_t i = 0, end = 0; i < places->count; i = end) {
        for (end = i; end < places->count && places->all[end].group == places->all[i].group;)
            end++;
        print_dot_group(&places->all[i], &places->all[end]);
    }
    printf("}\n");
}
