/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/ha/haparts.h"

#include <stdio.h>
#include <string.h>

enum { QUIET_MS = 500 };

unsigned ha_dice(struct ha_context *context, uint32_t sides)
{
    return prng_below(&context->scene.prng, sides);
}

/* So many answers that the next thing happens at a moment that the dice choose. */
void ha_go_on(struct ha_context *context)
{
    scene_run(&context->scene, prng_between(&context->scene.prng, 5, 160), QUIET_MS);
}

void ha_go_on_for(struct ha_context *context, unsigned from_ms, unsigned to_ms)
{
    scene_run(&context->scene, UINT32_MAX, prng_between(&context->scene.prng, from_ms, to_ms));
}

void ha_skip(struct ha_context *context, const char *why)
{
    context->left_out[context->fault]++;
    printf("skipped: %s: %s\n", haschedule(&(size_t){0})[context->fault].name, why);
}

bool ha_another_leads(void *arg)
{
    const struct ha_wish *wish = arg;
    const int leader = units_leader(&wish->context->units);

    return leader >= 0 &&
           (leader != wish->broker || wish->context->units.lives[leader] != wish->life);
}

bool ha_none_leads(void *arg)
{
    const struct ha_wish *wish = arg;

    return units_leader(&wish->context->units) < 0;
}

bool ha_lives_again(void *arg)
{
    const struct ha_wish *wish = arg;

    return wish->context->units.lives[wish->broker] != wish->life;
}

void ha_await(struct ha_context *context, bool (*holds)(void *wish), struct ha_wish *wish,
              const char *words)
{
    if (!scene_await(&context->scene, holds, wish))
        verdict_fault(&context->scene.verdict, "%s", words);
}

/* The one that leads, or will in a moment. */
unsigned ha_leader(struct ha_context *context)
{
    struct ha_wish wish = {context, -1, 0};

    ha_await(context, ha_another_leads, &wish, "no broker leads");
    const int leader = units_leader(&context->units);
    return leader < 0 ? ha_dice(context, BROKERS_MAX) : (unsigned)leader;
}

unsigned ha_standby(struct ha_context *context)
{
    return (ha_leader(context) + 1 + ha_dice(context, BROKERS_MAX - 1)) % BROKERS_MAX;
}

struct ha_wish ha_wish_of(struct ha_context *context, unsigned broker)
{
    return (struct ha_wish){context, (int)broker, context->units.lives[broker]};
}

void ha_await_another(struct ha_context *context, struct ha_wish wish)
{
    ha_await(context, ha_another_leads, &wish, "no other broker takes over");
}

/* Through which the broker sends most: its commits. */
static unsigned busiest_link(struct ha_context *context, unsigned broker)
{
    struct tcpproxy *const *links = context->units.links[broker];
    uint64_t before[ETCDCLUSTER_MAX], most = 0;
    unsigned member = 0;

    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
        before[m] = tcpproxy_passed(links[m], TCPPROXY_TO_SERVER);
    ha_go_on(context);
    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++) {
        const uint64_t more = tcpproxy_passed(links[m], TCPPROXY_TO_SERVER) - before[m];
        member = more > most ? m : member;
        most = more > most ? more : most;
    }
    return member;
}

/* That it asks about its lease. */
static unsigned asked_member(struct ha_context *context, unsigned broker)
{
    struct plainhttp_reply reply;
    unsigned member = 0;

    (void)brokers_call(&context->units.brokers, broker, "GET", "/v1/status", NULL, &reply);
    const char *url =
        json_string_value(json_object_get(json_object_get(reply.json, "leadership"), "member"));
    for (unsigned m = 0; m < ETCDCLUSTER_MAX; m++)
        if (url && strcmp(url, etcdcluster_url(context->cluster, m)) == 0)
            member = m;
    plainhttp_reply_release(&reply);
    ha_go_on(context);
    return member;
}

unsigned ha_member(struct ha_context *context, unsigned broker)
{
    return context->units.network ? asked_member(context, broker) : busiest_link(context, broker);
}

void ha_let_lead(struct ha_context *context, unsigned broker)
{
    for (unsigned i = 0; i < BROKERS_MAX; i++)
        if (i != broker)
            units_kill(&context->units, i);
    (void)ha_leader(context);
    for (unsigned i = 0; i < BROKERS_MAX; i++)
        if (i != broker)
            units_start(&context->units, i);
}

unsigned ha_proxied_leader(struct ha_context *context, unsigned *member)
{
    unsigned leader = ha_leader(context);

    if (context->units.network) {
        leader = ha_standby(context);
        units_kill(&context->units, leader);
        units_through_proxies(&context->units, leader, true);
        units_start(&context->units, leader);
        units_through_proxies(&context->units, leader, false);
        ha_let_lead(context, leader);
    }
    *member = busiest_link(context, leader);
    return leader;
}
