/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/service/notify.h"

/* Listening sockets that the service manager keeps while the service is away, in its file
 * descriptor store (FDSTORE in sd_notify(3), FileDescriptorStoreMax in systemd.service(5)): who
 * connects during a restart waits in the kernel's queue instead of being refused. Only TCP, and
 * only of a broker that is alone: of several, one that is away must refuse, so that clients ask the
 * one that leads.
 *
 * A socket's name in the store is "KEY=HOST_PORT". Without a store everything here does nothing but
 * listen. */

enum { KEPT_MAX = 8 };

struct kept {
    const struct notify *notify;
    int fds[KEPT_MAX]; /* that were given back and are not in use yet; -1: none */
    char names[KEPT_MAX][128];
};

/* Reads and unsets LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES (sd_listen_fds(3)). */
void kept_receive(struct kept *kept, const struct notify *notify);

/* Listens at address as socket_listen_tcp does, with the socket of this key and address that was
 * kept, or with a new one, which is kept from now on. kept NULL: it is not. */
int kept_listen(struct kept *kept, const char *key, const char *address, int *port,
                struct error *err);

/* Closes what was kept for another address of this key than this one, or "", and has it removed
 * from the store: it refuses from now on. */
void kept_drop(struct kept *kept, const char *key, const char *address);
