/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/inventory.h"

#include <stdio.h>
#include <string.h>

#include "mock-fm/objects/document.h"
#include "mock-fm/objects/objects.h"

#define PARTITIONS "/fabric/vni/partitions"
#define BLOCKS "/fabric/vni/blocks"
#define SWITCHES "/fabric/switches"
#define PORTS "/fabric/ports"
#define LINKS "/fabric/links"
#define TOPOLOGY_MAPS "/fabric/topology-maps"
#define POLICIES "/fabric/port-policies"
#define TELEMETRY "/switch-telemetry"

#define PARTITION "default"
#define VNI_RANGE "1024-65535" /* Slurm's default */
#define NAME_SIZE 48           /* "g511s31p63-g511s31p63" and room for any unsigned */

struct port {
    unsigned group, sw, number;
};

/* Members have places from 0 on; a link has that of its end with the lower DFA. */
enum members { ONE, POLICIES_OF_PORTS, ALL_SWITCHES, ALL_PORTS, ALL_LINKS };

struct member {
    const struct inventory *inventory;
    size_t place;
    struct port port, peer; /* of a switch, its first port; the other end of its link, if linked */
    bool linked;
    char name[NAME_SIZE];
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

static size_t count_places(const struct inventory *inventory, enum members members)
{
    size_t switches = (size_t)inventory->groups * inventory->switches;
    switch (members) {
    case ONE:
        return 1;
    case POLICIES_OF_PORTS:
        return 2;
    case ALL_SWITCHES:
        return switches;
    case ALL_PORTS:
    case ALL_LINKS:
        break;
    }
    return switches * inventory->ports;
}

static void name_link(char name[NAME_SIZE], struct port low, struct port high)
{
    snprintf(name, NAME_SIZE, "g%us%up%u-g%us%up%u", low.group, low.sw, low.number, high.group,
             high.sw, high.number);
}

/* False: nothing is at this place. */
static bool find_member(const struct inventory *inventory, enum members members, size_t place,
                        struct member *member)
{
    struct port port =
        port_at(inventory, members == ALL_SWITCHES ? place * inventory->ports : place);
    *member = (struct member){.inventory = inventory, .place = place, .port = port};
    member->linked = find_peer(inventory, port, &member->peer);
    switch (members) {
    case ONE:
        snprintf(member->name, NAME_SIZE, "%s", PARTITION);
        break;
    case POLICIES_OF_PORTS:
        snprintf(member->name, NAME_SIZE, "%s", place == 0 ? "edge" : "fabric");
        break;
    case ALL_SWITCHES:
        snprintf(member->name, NAME_SIZE, "g%us%u", port.group, port.sw);
        break;
    case ALL_PORTS:
        snprintf(member->name, NAME_SIZE, "g%us%up%u", port.group, port.sw, port.number);
        break;
    case ALL_LINKS:
        name_link(member->name, port, member->peer);
        return member->linked && dfa(port) <= dfa(member->peer);
    }
    return true;
}

static json_t *link_to_switch(struct port port)
{
    return json_sprintf(SWITCHES "/g%us%u", port.group, port.sw);
}

static json_t *link_to_port(struct port port)
{
    return json_sprintf(PORTS "/g%us%up%u", port.group, port.sw, port.number);
}

static json_t *describe_block(const struct member *member)
{
    (void)member;
    return json_pack("{s:s, s:[s]}", "partitionName", PARTITION, "vniRanges", VNI_RANGE);
}

static json_t *describe_partition(const struct member *member)
{
    json_t *edge = json_array(), *document = describe_block(member);
    for (size_t i = 0; i < count_places(member->inventory, ALL_PORTS); i++) {
        struct port port = port_at(member->inventory, i), peer;
        if (!find_peer(member->inventory, port, &peer))
            json_array_append_new(edge, json_integer(dfa(port)));
    }
    json_object_set_new(document, "edgePortDFA", edge);
    return document;
}

static json_t *describe_switch(const struct member *member)
{
    struct port port = member->port;
    json_t *links = json_array();
    for (; port.number < member->inventory->ports; port.number++)
        json_array_append_new(links, link_to_port(port));
    return json_pack("{s:i, s:i, s:o}", "groupNumber", (int)port.group, "switchNumber",
                     (int)port.sw, "portLinks", links);
}

static json_t *describe_port(const struct member *member)
{
    struct port port = member->port, peer = member->peer;
    json_t *document = json_pack(
        "{s:i, s:i, s:i, s:I, s:s, s:s, s:o}", "groupNumber", (int)port.group, "switchNumber",
        (int)port.sw, "portNumber", (int)port.number, "DFA", (json_int_t)dfa(port), "portType",
        member->linked ? "fabric" : "edge", "portPolicyLink",
        member->linked ? POLICIES "/fabric" : POLICIES "/edge", "switchLink", link_to_switch(port));
    char link[NAME_SIZE], mac[NIC_TEXT_SIZE];
    if (member->linked) { /* a link is named after its lower end */
        bool lower = dfa(port) < dfa(peer);
        name_link(link, lower ? port : peer, lower ? peer : port);
        json_object_set_new(document, "linkLink", json_sprintf(LINKS "/%s", link));
        return document;
    }
    /* The 20 bits by which a tree's macs name a NIC are as many as those of the DFA. */
    nic_format_long(dfa(port) >> 12, mac);
    json_object_set_new(document, "macAddress", json_string(mac));
    return document;
}

static json_t *describe_link(const struct member *member)
{
    bool local = member->port.group == member->peer.group;
    return json_pack("{s:s, s:[o, o]}", "linkType", local ? "local" : "global", "portLinks",
                     link_to_port(member->port), link_to_port(member->peer));
}

static json_t *describe_topology(const struct member *member)
{
    const struct inventory *inventory = member->inventory;
    return json_pack("{s:s, s:i, s:i, s:i}", "topology", "dragonfly", "groups",
                     (int)inventory->groups, "switchesPerGroup", (int)inventory->switches,
                     "portsPerSwitch", (int)inventory->ports);
}

static json_t *describe_policy(const struct member *member)
{
    return json_pack("{s:s}", "portType", member->name);
}

static json_t *describe_telemetry(const struct member *member)
{
    return json_pack("{s:o, s:i}", "switchLink", link_to_switch(member->port), "portsOnline",
                     (int)member->inventory->ports);
}

static const struct collection {
    const char *base, *kind;
    enum members members;
    /* Without the document fields, which are the same everywhere. */
    json_t *(*describe)(const struct member *member);
} collections[] = {
    {PARTITIONS, "VniPartition", ONE, describe_partition},
    {BLOCKS, "VniBlock", ONE, describe_block},
    {SWITCHES, "Switch", ALL_SWITCHES, describe_switch},
    {PORTS, "Port", ALL_PORTS, describe_port},
    {LINKS, "Link", ALL_LINKS, describe_link},
    {TOPOLOGY_MAPS, "TopologyMap", ONE, describe_topology},
    {POLICIES, "PortPolicy", POLICIES_OF_PORTS, describe_policy},
    {TELEMETRY, "SwitchTelemetry", ALL_SWITCHES, describe_telemetry},
};

/* *name is what follows its base: "" for the list itself. */
static const struct collection *find_collection(const char *path, const char **name)
{
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++)
        if ((*name = document_below(path, collections[i].base)))
            return &collections[i];
    return NULL;
}

bool inventory_owns(const char *path)
{
    const char *name;
    return find_collection(path, &name);
}

static json_t *list_members(const struct inventory *inventory, const struct collection *collection,
                            const struct request *request)
{
    struct document_page page = document_page_of(request);
    size_t places = count_places(inventory, collection->members);
    for (uint64_t place = page.after; place < places; place++) {
        struct member member;
        if (find_member(inventory, collection->members, (size_t)place, &member) &&
            !document_page_add(&page, place + 1, collection->base, member.name))
            break;
    }
    return document_of_page(&page, collection->base);
}

/* Where a member of this name would be; the member found there may still have another name. */
static size_t guess_place(const struct inventory *inventory, enum members members, const char *name)
{
    unsigned group = 0, sw = 0, port = 0;
    if (members == ONE)
        return 0;
    if (members == POLICIES_OF_PORTS)
        return strcmp(name, "edge") == 0 ? 0 : 1;
    if (sscanf(name, "g%9us%9up%9u", &group, &sw, &port) < 2 || group >= inventory->groups ||
        sw >= inventory->switches || port >= inventory->ports)
        return 0;
    size_t place = (size_t)group * inventory->switches + sw;
    return members == ALL_SWITCHES ? place : place * inventory->ports + port;
}

json_t *inventory_read(const struct inventory *inventory, const char *path,
                       const struct request *request, struct problem *problem)
{
    const char *name;
    const struct collection *collection = find_collection(path, &name);
    struct member member;
    char kind[64];
    if (!name[0])
        return list_members(inventory, collection, request);
    if (!find_member(inventory, collection->members,
                     guess_place(inventory, collection->members, name), &member) ||
        strcmp(member.name, name) != 0) {
        problem_set(problem, 404, "nothing of this name in %s: %.64s", collection->base, name);
        return NULL;
    }
    snprintf(kind, sizeof kind, "com:mock-fm:fabric:%s", collection->kind);
    json_t *document = collection->describe(&member);
    json_object_set_new(document, "documentSelfLink",
                        json_sprintf("%s/%s", collection->base, name));
    return document_with_tail(document, kind, 0, 0);
}

int inventory_parse(struct inventory *inventory, const char *text, struct problem *problem)
{
    unsigned groups = 0, switches = 0, ports = 0;
    int end = 0;
    /* sscanf would also take blanks and signs. */
    if (text[strspn(text, "0123456789x")] ||
        sscanf(text, "%9ux%9ux%9u%n", &groups, &switches, &ports, &end) != 3 || text[end] ||
        groups < 1 || groups > INVENTORY_GROUPS_MAX || switches < 1 ||
        switches > INVENTORY_SWITCHES_MAX || ports < 1 || ports > INVENTORY_PORTS_MAX)
        return problem_set(problem, 400,
                           "--fabric must be GROUPSxSWITCHESxPORTS, at most %dx%dx%d, as 2x2x4, "
                           "not '%.64s'",
                           INVENTORY_GROUPS_MAX, INVENTORY_SWITCHES_MAX, INVENTORY_PORTS_MAX, text);
    /* Local ports, the busiest switch's share of the global ones rounded up, and an edge port. */
    unsigned needed = switches - 1 + (groups - 1 + switches - 1) / switches + 1;
    if (ports < needed)
        return problem_set(problem, 400,
                           "--fabric %ux%u needs at least %u ports per switch for its links and an "
                           "edge port, not %u",
                           groups, switches, needed, ports);
    *inventory = (struct inventory){.groups = groups, .switches = switches, .ports = ports};
    return 0;
}
