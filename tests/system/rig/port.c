/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/port.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* What is above a real Slurm takes (slurm/cluster.c). */
enum { PORT_FIRST = 10000, PORT_END = 20000 };

static int end_of_ports(void)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    char line[32] = "";
    long first = 0;

    if (file && fgets(line, sizeof line, file))
        first = strtol(line, NULL, 10);
    if (file)
        fclose(file);
    return first > PORT_FIRST + 1000 && first < PORT_END ? (int)first : PORT_END;
}

static bool is_free(int port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;

    if (fd >= 0)
        close(fd);
    return bound;
}

/* This name can be bound once. The descriptor that keeps it, or -1. */
static int claim(int port)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "mcast-port-%d", port);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&name, sizeof name) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void port_draw(struct port *port)
{
    const unsigned span = (unsigned)(end_of_ports() - PORT_FIRST);
    unsigned random;

    for (;;) {
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            abort();
        port->number = PORT_FIRST + (int)(random % span);
        if ((port->claim = claim(port->number)) < 0)
            continue;
        if (is_free(port->number))
            return;
        close(port->claim);
    }
}

void port_release(struct port *port)
{
    if (port->claim > 0)
        close(port->claim);
    port->claim = 0;
}
