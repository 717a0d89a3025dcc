/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/network.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ADDRESS_SIZE = 16 };

/* The last one is the test's own. */
#define MAC "02:00:00:00:00:%02x"
#define NOT_A_MAC_HERE "02:00:00:00:ff:ff"

struct network {
    int outside, own; /* namespaces: where the process was; the bridge's */
    unsigned count;
    struct {
        int namespace;
        char address[ADDRESS_SIZE];
        bool unplugged, lost[NETWORK_HOSTS_MAX]; /* frames to that host */
    } hosts[NETWORK_HOSTS_MAX];
};

static int here(void)
{
    return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

static void enter(int namespace)
{
    if (setns(namespace, CLONE_NEWNET) < 0) {
        perror("setns");
        abort();
    }
}

void network_enter(struct network *network, int host)
{
    assert(!network || host < (int)network->count);
    if (network)
        enter(host < 0 ? network->own : network->hosts[host].namespace);
}

/* Lines for ip(8), which is carried out at this host. */
__attribute__((format(printf, 3, 4))) static bool run(struct network *network, int host,
                                                      const char *format, ...)
{
    va_list arguments;

    network_enter(network, host);
    FILE *ip = popen("PATH=$PATH:/usr/sbin:/sbin ip -batch -", "we"); /* NOLINT(cert-env33-c) */
    va_start(arguments, format);
    const bool told = ip && vfprintf(ip, format, arguments) > 0;
    va_end(arguments);
    const bool done = ip && pclose(ip) == 0;
    network_enter(network, -1);
    return told && done;
}

static void must(bool done)
{
    if (!done) {
        fprintf(stderr, "network: ip has failed (above)\n");
        abort();
    }
}

static bool add_host(struct network *network)
{
    const unsigned host = network->count;

    if (unshare(CLONE_NEWNET) < 0 || (network->hosts[host].namespace = here()) < 0)
        return false;
    network->count++;
    snprintf(network->hosts[host].address, ADDRESS_SIZE, "10.99.0.%u", host + 1);
    return run(network, (int)host,
               "link set lo up\n"
               "link add eth0 address " MAC " type veth peer name h%u netns /proc/%d/fd/%d\n"
               "address add %s/24 dev eth0\n"
               "link set eth0 up\n",
               host + 1, host, (int)getpid(), network->own, network->hosts[host].address) &&
           run(network, -1, "link set h%u master bridge up\n", host);
}

static bool build(struct network *network, unsigned hosts)
{
    if (!run(network, -1,
             "link set lo up\n"
             "link add bridge address " MAC " type bridge\n"
             "address add 10.99.0.254/24 dev bridge\n"
             "link set bridge up\n",
             0xfe))
        return false;
    while (network->count < hosts)
        if (!add_host(network))
            return false;
    return true;
}

struct network *network_create(unsigned hosts, const char **lacks)
{
    struct network *network = calloc(1, sizeof *network);

    assert(hosts <= NETWORK_HOSTS_MAX);
    *lacks = "out of memory or descriptors";
    if (!network || (network->outside = here()) < 0) {
        free(network);
        return NULL;
    }
    *lacks = "network namespaces need root and CAP_SYS_ADMIN";
    if (unshare(CLONE_NEWNET) < 0 || (network->own = here()) < 0) {
        close(network->outside);
        free(network);
        return NULL;
    }
    *lacks = "ip (Debian's iproute2) cannot make a bridge of network namespaces";
    if (build(network, hosts))
        return network;
    enter(network->outside);
    network_destroy(network);
    return NULL;
}

void network_destroy(struct network *network)
{
    if (!network)
        return;
    for (unsigned i = 0; i < network->count; i++)
        close(network->hosts[i].namespace);
    close(network->own);
    close(network->outside);
    free(network);
}

const char *network_address(const struct network *network, unsigned host)
{
    assert(host < network->count);
    return network->hosts[host].address;
}

/* The bridge gives frames for an address that none has to all, and each throws them away. */
static void lose(struct network *network, unsigned from, unsigned to, bool lost)
{
    char mac[] = NOT_A_MAC_HERE;

    if (network->hosts[from].lost[to] == lost)
        return;
    network->hosts[from].lost[to] = lost;
    if (!lost)
        snprintf(mac, sizeof mac, MAC, to + 1);
    must(run(network, (int)from, "neighbor replace %s lladdr %s nud permanent dev eth0\n",
             network->hosts[to].address, mac));
}

void network_cut(struct network *network, unsigned one, unsigned other, unsigned directions)
{
    assert(one < network->count && other < network->count && one != other);
    lose(network, one, other, directions & NETWORK_THERE);
    lose(network, other, one, directions & NETWORK_BACK);
}

void network_unplug(struct network *network, unsigned host, bool unplugged)
{
    assert(host < network->count);
    if (network->hosts[host].unplugged == unplugged)
        return;
    network->hosts[host].unplugged = unplugged;
    must(run(network, -1, "link set h%u %s\n", host, unplugged ? "down" : "up"));
}

void network_heal(struct network *network)
{
    for (unsigned i = 0; i < network->count; i++) {
        network_unplug(network, i, false);
        for (unsigned j = 0; j < i; j++)
            network_cut(network, i, j, 0);
    }
}
