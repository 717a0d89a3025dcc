/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Notifications for the service manager: the datagrams of sd_notify(3), sent directly, so
 * that they are there without libsystemd. Without NOTIFY_SOCKET in the
 * environment everything here does nothing. */

struct notify {
    int fd; /* -1: no service manager */
    struct sockaddr_un address;
    socklen_t length;
    uint64_t watchdog_us; /* WATCHDOG=1 is wanted at least this often; 0: never */
};

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. 0; or a code with a sentence when the
 * address cannot be used; then everything does nothing, too. */
int notify_init(struct notify *notify, struct error *err);
void notify_release(struct notify *notify);

/* One datagram: lines "NAME=value" (NOTIFY_*). wait: up to a second for the service manager, for
 * what must arrive; else it never waits, for what is repeated soon. Whether it was sent. */
__attribute__((format(printf, 3, 4))) bool notify_send(const struct notify *notify, bool wait,
                                                       const char *format, ...);
/* RELOADING=1 with the moment, as Type=notify-reload wants it (systemd 253); ends with READY=1. */
void notify_reloading(const struct notify *notify);

/* Hands the service manager a copy of fd, to be given back at the next start under this name, which
 * has no colon; where it keeps any (FileDescriptorStoreMax). */
void notify_store(const struct notify *notify, const char *name, int fd);
