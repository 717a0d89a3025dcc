/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_LOG_LOGJOURNAL_H
#define MCAST_BROKER_LOG_LOGJOURNAL_H

#include "broker/log/log.h"

/* One message to the journal of systemd in its own protocol, with fields that journalctl can select
 * by (`journalctl -u mcastd MCASTD_JOB=f2Rs8`): a datagram of lines NAME=value. All values are one
 * line (log_escape), so the protocol's form for others is not needed, nor are memory files: a
 * message is far below the size of a datagram. */

#define LOGJOURNAL_SOCKET "/run/systemd/journal/socket"

enum logjournal_sent {
    LOGJOURNAL_SENT,
    LOGJOURNAL_BUSY, /* its queue is full; waiting for it would stall the loop */
    LOGJOURNAL_AWAY, /* the journal is not reachable: use stderr */
};

/* text is escaped already; fields may be NULL. fd: any datagram socket of AF_UNIX. */
enum logjournal_sent logjournal_send(int fd, const char *socket, int level,
                                     const struct log_fields *fields, const char *text);

#endif
