#include "mock-fm/objects/inventory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock-fm/objects/document.h"
#include "mock-fm/objects/nic.h"

#define PARTITIONS "/fabric/vni/partitions"
#define BLOCKS "/fabric/vni/blocks"
#define SWITCHES "/fabric/switches"
#define PORTS "/fabric/ports"
#define LINKS "/fabric/links"
#define TOPOLOGY_MAPS "/fabric/topology-maps"
#define POLICIES "/fabric/port-policies"
#define TELEMETRY "/switch-telemetry"

#define PARTITION "default"
#define VNI_RANGE "1024-65535" /* what Slurm takes unless told otherwise */
#define NAME_SIZE 48           /* "g511s31p63-g511s31p63" and room for any unsigned */
#define LINK_SIZE (NAME_SIZE + sizeof TOPOLOGY_MAPS)

struct port {
    unsigned group, sw, number;
};

/* Members have places from 0 on; a link has that of its end with the lower DFA. */
struct inventory_collection {
    const char *base, *kind;
    size_t (*places)(const struct inventory *inventory);
    /* False: nothing is at this place. */
    bool (*name)(const struct inventory *inventory, size_t place, char name[NAME_SIZE]);
    /* Without the document fields, which are the same everywhere. */
    json_t *(*describe)(const struct inventory *inventory, size_t place);
};

static struct port port_at(const struct inventory *inventory, size_t place)
{
    size_t sw = place / inventory->ports;

    return (struct port){.group = (unsigned)(sw / inventory->switches),
                         .sw = (unsigned)(sw % inventory->switches),
                         .number = (unsigned)(place % inventory->ports)};
}

static uint32_t dfa(struct port port)
{
    return port.group << 23 | port.sw << 18 | port.number << 12;
}

/* The others of a switch or group, itself left out, are counted from 0 on. */
static unsigned other_at(unsigned rank, unsigned self)
{
    return rank < self ? rank : rank + 1;
}

static unsigned rank_of(unsigned other, unsigned self)
{
    return other < self ? other : other - 1;
}

/* Finds the port at the other end. False: an edge port, which has none. */
static bool find_peer(const struct inventory *inventory, struct port port, struct port *peer)
{
    unsigned local = inventory->switches - 1, rank;

    if (port.number < local) {
        unsigned sw = other_at(port.number, port.sw);

        *peer = (struct port){.group = port.group, .sw = sw, .number = rank_of(port.sw, sw)};
        return true;
    }
    rank = (port.number - local) * inventory->switches + port.sw;
    if (rank + 1 >= inventory->groups)
        return false;
    peer->group = other_at(rank, port.group);
    rank = rank_of(port.group, peer->group);
    peer->sw = rank % inventory->switches;
    peer->number = local + rank / inventory->switches;
    return true;
}

static bool is_edge(const struct inventory *inventory, struct port port)
{
    struct port peer;

    return !find_peer(inventory, port, &peer);
}

static size_t count_one(const struct inventory *inventory)
{
    (void)inventory;
    return 1;
}

static size_t count_policies(const struct inventory *inventory)
{
    (void)inventory;
    return 2;
}

static size_t count_switches(const struct inventory *inventory)
{
    return (size_t)inventory->groups * inventory->switches;
}

static size_t count_ports(const struct inventory *inventory)
{
    return count_switches(inventory) * inventory->ports;
}

static bool name_default(const struct inventory *inventory, size_t place, char name[NAME_SIZE])
{
    (void)inventory;
    (void)place;
    snprintf(name, NAME_SIZE, "%s", PARTITION);
    return true;
}

static bool name_policy(const struct inventory *inventory, size_t place, char name[NAME_SIZE])
{
    (void)inventory;
    snprintf(name, NAME_SIZE, "%s", place == 0 ? "edge" : "fabric");
    return true;
}

static bool name_switch(const struct inventory *inventory, size_t place, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "g%us%u", (unsigned)(place / inventory->switches),
             (unsigned)(place % inventory->switches));
    return true;
}

static bool name_port(const struct inventory *inventory, size_t place, char name[NAME_SIZE])
{
    struct port port = port_at(inventory, place);

    snprintf(name, NAME_SIZE, "g%us%up%u", port.group, port.sw, port.number);
    return true;
}

static bool name_link(const struct inventory *inventory, size_t place, char name[NAME_SIZE])
{
    struct port port = port_at(inventory, place), peer;

    if (!find_peer(inventory, port, &peer) || dfa(peer) < dfa(port))
        return false;
    snprintf(name, NAME_SIZE, "g%us%up%u-g%us%up%u", port.group, port.sw, port.number, peer.group,
             peer.sw, peer.number);
    return true;
}

static json_t *link_to_switch(unsigned group, unsigned sw)
{
    return json_sprintf(SWITCHES "/g%us%u", group, sw);
}

static json_t *link_to_port(struct port port)
{
    return json_sprintf(PORTS "/g%us%up%u", port.group, port.sw, port.number);
}

static json_t *describe_partition(const struct inventory *inventory, size_t place)
{
    json_t *edge = json_array();

    (void)place;
    for (size_t i = 0; edge && i < count_ports(inventory); i++) {
        struct port port = port_at(inventory, i);

        if (is_edge(inventory, port))
            json_array_append_new(edge, json_integer(dfa(port)));
    }
    return json_pack("{s:s, s:[s], s:o}", "partitionName", PARTITION, "vniRanges", VNI_RANGE,
                     "edgePortDFA", edge);
}

static json_t *describe_block(const struct inventory *inventory, size_t place)
{
    (void)inventory;
    (void)place;
    return json_pack("{s:s, s:[s]}", "partitionName", PARTITION, "vniRanges", VNI_RANGE);
}

static json_t *describe_switch(const struct inventory *inventory, size_t place)
{
    struct port port = port_at(inventory, place * inventory->ports);
    json_t *links = json_array();

    for (; links && port.number < inventory->ports; port.number++)
        json_array_append_new(links, link_to_port(port));
    return json_pack("{s:i, s:i, s:o}", "groupNumber", (int)port.group, "switchNumber",
                     (int)port.sw, "portLinks", links);
}

/* The link to the link at this port, which is named after its lower end. */
static json_t *link_to_link(const struct inventory *inventory, struct port port, struct port peer)
{
    struct port low = dfa(port) < dfa(peer) ? port : peer;
    size_t place =
        ((size_t)low.group * inventory->switches + low.sw) * inventory->ports + low.number;
    char name[NAME_SIZE] = "";

    name_link(inventory, place, name);
    return json_sprintf(LINKS "/%s", name);
}

static json_t *describe_port(const struct inventory *inventory, size_t place)
{
    struct port port = port_at(inventory, place), peer;
    bool fabric = find_peer(inventory, port, &peer);
    json_t *document =
        json_pack("{s:i, s:i, s:i, s:I, s:s, s:s, s:o}", "groupNumber", (int)port.group,
                  "switchNumber", (int)port.sw, "portNumber", (int)port.number, "DFA",
                  (json_int_t)dfa(port), "portType", fabric ? "fabric" : "edge", "portPolicyLink",
                  fabric ? POLICIES "/fabric" : POLICIES "/edge", "switchLink",
                  link_to_switch(port.group, port.sw));
    char mac[NIC_TEXT_SIZE];

    if (fabric) {
        json_object_set_new(document, "linkLink", link_to_link(inventory, port, peer));
        return document;
    }
    /* The 20 bits by which a tree's macs name a NIC are as many as those of the DFA. */
    nic_format_long(dfa(port) >> 12, mac);
    json_object_set_new(document, "macAddress", json_string(mac));
    return document;
}

static json_t *describe_link(const struct inventory *inventory, size_t place)
{
    struct port port = port_at(inventory, place), peer = port;

    find_peer(inventory, port, &peer);
    return json_pack("{s:s, s:[o, o]}", "linkType", port.group == peer.group ? "local" : "global",
                     "portLinks", link_to_port(port), link_to_port(peer));
}

static json_t *describe_topology(const struct inventory *inventory, size_t place)
{
    (void)place;
    return json_pack("{s:s, s:i, s:i, s:i}", "topology", "dragonfly", "groups",
                     (int)inventory->groups, "switchesPerGroup", (int)inventory->switches,
                     "portsPerSwitch", (int)inventory->ports);
}

static json_t *describe_policy(const struct inventory *inventory, size_t place)
{
    char name[NAME_SIZE];

    name_policy(inventory, place, name);
    return json_pack("{s:s}", "portType", name);
}

static json_t *describe_telemetry(const struct inventory *inventory, size_t place)
{
    unsigned group = (unsigned)(place / inventory->switches);
    unsigned sw = (unsigned)(place % inventory->switches);

    return json_pack("{s:o, s:i}", "switchLink", link_to_switch(group, sw), "portsOnline",
                     (int)inventory->ports);
}

static const struct inventory_collection collections[] = {
    {PARTITIONS, "VniPartition", count_one, name_default, describe_partition},
    {BLOCKS, "VniBlock", count_one, name_default, describe_block},
    {SWITCHES, "Switch", count_switches, name_switch, describe_switch},
    {PORTS, "Port", count_ports, name_port, describe_port},
    {LINKS, "Link", count_ports, name_link, describe_link},
    {TOPOLOGY_MAPS, "TopologyMap", count_one, name_default, describe_topology},
    {POLICIES, "PortPolicy", count_policies, name_policy, describe_policy},
    {TELEMETRY, "SwitchTelemetry", count_switches, name_switch, describe_telemetry},
};

const struct inventory_collection *inventory_find(const char *path, const char **name)
{
    for (size_t i = 0; i < sizeof collections / sizeof collections[0]; i++) {
        size_t length = strlen(collections[i].base);

        if (strncmp(path, collections[i].base, length) != 0 ||
            (path[length] && path[length] != '/'))
            continue;
        *name = path[length] && path[length + 1] ? path + length + 1 : NULL;
        return &collections[i];
    }
    return NULL;
}

json_t *inventory_list(const struct inventory *inventory,
                       const struct inventory_collection *collection, uint64_t page_size,
                       uint64_t after)
{
    struct document_page page = {.links = json_array(), .size = page_size, .after = after};
    size_t places = collection->places(inventory);

    for (uint64_t place = after; place < places; place++) {
        char name[NAME_SIZE];

        if (collection->name(inventory, (size_t)place, name) &&
            !document_page_add(&page, place + 1, collection->base, name))
            break;
    }
    return document_of_page(&page, collection->base);
}

/* One number of a name, behind its letter; moves on. False: it is none below the limit. */
static bool take_number(const char **text, char letter, unsigned limit, size_t *number)
{
    char *end;

    if ((*text)[0] != letter || !isdigit((unsigned char)(*text)[1]))
        return false;
    *number = strtoul(*text + 1, &end, 10);
    *text = end;
    return *number < limit;
}

/* Where a member of this name would be; the name found there may still be another one. */
static size_t guess_place(const struct inventory *inventory,
                          const struct inventory_collection *collection, const char *name)
{
    size_t group, sw, port = 0;

    if (collection->places == count_policies)
        return strcmp(name, "edge") == 0 ? 0 : 1;
    if (!take_number(&name, 'g', inventory->groups, &group) ||
        !take_number(&name, 's', inventory->switches, &sw))
        return 0;
    if (collection->places == count_switches)
        return group * inventory->switches + sw;
    if (collection->places != count_ports || !take_number(&name, 'p', inventory->ports, &port))
        return 0;
    return (group * inventory->switches + sw) * inventory->ports + port;
}

json_t *inventory_member(const struct inventory *inventory,
                         const struct inventory_collection *collection, const char *name,
                         struct problem *problem)
{
    size_t place = guess_place(inventory, collection, name);
    char found[NAME_SIZE], self[LINK_SIZE], kind[64];
    json_t *document;

    if (!collection->name(inventory, place, found) || strcmp(found, name) != 0) {
        problem_set(problem, 404, "nothing of this name in %s: %.64s", collection->base, name);
        return NULL;
    }
    snprintf(self, sizeof self, "%s/%s", collection->base, name);
    snprintf(kind, sizeof kind, "com:mock-fm:fabric:%s", collection->kind);
    if ((document = collection->describe(inventory, place)))
        json_object_set_new(document, "documentSelfLink", json_string(self));
    if (!(document = document_with_tail(document, kind, 0, 0)))
        problem_set(problem, 500, "out of memory");
    return document;
}

/* A number without sign or blanks, then this character; moves behind it. */
static bool take_size(const char **text, char end, unsigned most, unsigned *size)
{
    char *rest;
    unsigned long number;

    if (!isdigit((unsigned char)(*text)[0]))
        return false;
    number = strtoul(*text, &rest, 10);
    if (*rest != end || number < 1 || number > most)
        return false;
    *size = (unsigned)number;
    *text = rest + 1;
    return true;
}

int inventory_parse(struct inventory *inventory, const char *text, struct problem *problem)
{
    const char *rest = text;
    unsigned needed;

    if (!take_size(&rest, 'x', INVENTORY_GROUPS_MAX, &inventory->groups) ||
        !take_size(&rest, 'x', INVENTORY_SWITCHES_MAX, &inventory->switches) ||
        !take_size(&rest, '\0', INVENTORY_PORTS_MAX, &inventory->ports))
        return problem_set(problem, 400,
                           "--fabric must be GROUPSxSWITCHESxPORTS, at most %dx%dx%d, as 2x2x4, "
                           "not '%.64s'",
                           INVENTORY_GROUPS_MAX, INVENTORY_SWITCHES_MAX, INVENTORY_PORTS_MAX, text);
    /* Local ports, the busiest switch's share of the global ones rounded up, and an edge port. */
    needed = inventory->switches - 1 +
             (inventory->groups - 1 + inventory->switches - 1) / inventory->switches + 1;
    if (inventory->ports < needed)
        return problem_set(problem, 400,
                           "--fabric %ux%u needs at least %u ports per switch for its links and an "
                           "edge port, not %u",
                           inventory->groups, inventory->switches, needed, inventory->ports);
    return 0;
}
