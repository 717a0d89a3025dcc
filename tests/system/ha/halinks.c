/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/ha/halinks.h"

#include "tests/system/ha/haparts.h"

static void cut_leader(struct ha_context *context, unsigned directions)
{
    const unsigned leader = ha_leader(context);
    const struct ha_wish wish = ha_wish_of(context, leader);

    units_cut(&context->units, leader, directions);
    ha_await_another(context, wish);
    ha_go_on(context);
    units_cut(&context->units, leader, 0);
    ha_go_on(context);
}

void leader_cut(struct ha_context *context)
{
    cut_leader(context, TCPPROXY_TO_SERVER | TCPPROXY_TO_CLIENT);
}

void leader_unheard(struct ha_context *context)
{
    cut_leader(context, TCPPROXY_TO_SERVER);
}

void leader_deaf(struct ha_context *context)
{
    cut_leader(context, TCPPROXY_TO_CLIENT);
}

/* For less than the lease, or about as long. */
void links_torn(struct ha_context *context)
{
    const unsigned leader = ha_leader(context);

    for (int i = 0; i < 3; i++) {
        units_cut(&context->units, leader, 1 + ha_dice(context, 3));
        ha_go_on_for(context, 50, 1800);
        units_cut(&context->units, leader, 0);
        ha_go_on(context);
    }
}

void one_link_cut(struct ha_context *context)
{
    const unsigned leader = ha_leader(context);
    const unsigned member = ha_member(context, leader);

    units_cut_link(&context->units, leader, member, 1 + ha_dice(context, 3));
    ha_go_on(context);
    ha_go_on_for(context, 50, 1500);
}

void standby_cut(struct ha_context *context)
{
    units_cut(&context->units, ha_standby(context), 1 + ha_dice(context, 3));
    ha_go_on(context);
    if (ha_dice(context, 2))
        units_kill(&context->units, ha_leader(context));
    ha_go_on_for(context, 50, 1500);
}

void links_reset(struct ha_context *context)
{
    unsigned member;
    const unsigned leader = ha_proxied_leader(context, &member);

    for (int i = 0; i < 5; i++) {
        for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
            tcpproxy_reset(context->units.links[leader][m], ha_dice(context, 3) == 0);
        ha_go_on(context);
    }
}

void links_slow(struct ha_context *context)
{
    unsigned member;
    const unsigned leader = ha_proxied_leader(context, &member);

    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
        tcpproxy_delay(context->units.links[leader][m], prng_between(&context->scene.prng, 5, 150));
    ha_go_on(context);
    ha_go_on_for(context, 50, 800);
}

/* ---- what needs hosts ---- */

static struct network *network_of(struct ha_context *context)
{
    if (!context->units.network)
        ha_skip(context, "no network namespaces");
    return context->units.network;
}

/* From etcd and the fabric manager alike, and without being told. */
void leader_unplugged(struct ha_context *context)
{
    struct network *network = network_of(context);
    const unsigned leader = ha_leader(context);
    struct ha_wish wish = ha_wish_of(context, leader);

    if (!network)
        return;
    network_unplug(network, UNITS_HOST(leader), true);
    ha_await_another(context, wish);
    ha_await(context, ha_lives_again, &wish, "a broker without network does not end");
    ha_go_on(context);
    network_unplug(network, UNITS_HOST(leader), false);
    ha_go_on(context);
}

/* Power off: no peer sees its connections end. */
void leaders_host_lost(struct ha_context *context)
{
    struct network *network = network_of(context);
    const unsigned leader = ha_leader(context);
    const struct ha_wish wish = ha_wish_of(context, leader);

    if (!network)
        return;
    network_unplug(network, UNITS_HOST(leader), true);
    units_kill(&context->units, leader);
    ha_await_another(context, wish);
    network_unplug(network, UNITS_HOST(leader), false);
    units_start(&context->units, leader);
    ha_go_on(context);
}

/* The one that leads them in half of the cases. */
static unsigned some_member(struct ha_context *context)
{
    const int leader = ha_dice(context, 2) ? etcdcluster_leader(context->cluster) : -1;

    return leader < 0 ? ha_dice(context, ETCDCLUSTER_MAX) : (unsigned)leader;
}

void members_host_lost(struct ha_context *context)
{
    struct network *network = network_of(context);
    const unsigned member = some_member(context);

    if (!network)
        return;
    network_unplug(network, member, true);
    etcdcluster_kill(context->cluster, member);
    ha_go_on(context);
    ha_go_on_for(context, 50, 3000);
    network_unplug(network, member, false);
    (void)etcdcluster_restart(context->cluster, member);
    ha_go_on(context);
}

/* From the other members; brokers reach it. */
void member_cut(struct ha_context *context)
{
    struct network *network = network_of(context);
    const unsigned member = some_member(context), directions = 1 + ha_dice(context, 3);

    for (unsigned m = 0; network && m < ETCDCLUSTER_MAX; m++)
        if (m != member)
            network_cut(network, member, m, directions);
    ha_go_on_for(context, 500, 4000);
    if (ha_dice(context, 3) == 0)
        units_kill(&context->units, ha_leader(context));
    ha_go_on(context);
}

/* Both reach the third one. */
void members_link_cut(struct ha_context *context)
{
    struct network *network = network_of(context);
    const unsigned member = some_member(context);

    if (network)
        network_cut(network, member, (member + 1 + ha_dice(context, 2)) % ETCDCLUSTER_MAX,
                    1 + ha_dice(context, 3));
    ha_go_on_for(context, 500, 4000);
}

/* What the leader has sent its host may send again when the cut ends, unless it
 * was told that it must not: another broker may lead by then (F21). */
void fabric_manager_cut(struct ha_context *context)
{
    struct network *network = network_of(context);
    const unsigned leader = ha_leader(context);
    const struct ha_wish wish = ha_wish_of(context, leader);

    if (!network)
        return;
    network_cut(network, UNITS_HOST(leader), UNITS_FM_HOST, 1 + ha_dice(context, 3));
    ha_go_on_for(context, 200, 3000);
    if (ha_dice(context, 2)) {
        units_kill(&context->units, leader);
        ha_await_another(context, wish);
    }
    ha_go_on(context);
    network_heal(network);
    ha_go_on_for(context, 100, 3500);
}

/* The broker and the member that lead are on one side, two and two on the other; the fabric manager
 * is on either. */
void network_split(struct ha_context *context)
{
    struct network *network = network_of(context);
    const unsigned leader = ha_leader(context), member = some_member(context);
    struct ha_wish wish = ha_wish_of(context, leader);
    bool apart[UNITS_HOSTS] = {false};

    if (!network)
        return;
    apart[member] = apart[UNITS_HOST(leader)] = true;
    apart[UNITS_FM_HOST] = ha_dice(context, 2);
    for (unsigned i = 0; i < UNITS_HOSTS; i++)
        for (unsigned j = 0; j < i; j++)
            if (apart[i] != apart[j])
                network_cut(network, i, j, NETWORK_THERE | NETWORK_BACK);
    ha_await_another(context, wish);
    ha_await(context, ha_lives_again, &wish, "a broker with the smaller part of etcd does not end");
    ha_go_on(context);
    network_heal(network);
    ha_go_on(context);
}

/* All that some pairs of hosts send each other for some milliseconds, again and again. */
void frames_lost(struct ha_context *context)
{
    struct network *network = network_of(context);

    for (int i = 0; network && i < 60; i++) {
        const unsigned one = ha_dice(context, UNITS_HOSTS);
        const unsigned other = (one + 1 + ha_dice(context, UNITS_HOSTS - 1)) % UNITS_HOSTS;
        network_cut(network, one, other, ha_dice(context, 4));
        ha_go_on_for(context, 1, 40);
    }
}
