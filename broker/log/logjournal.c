/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/log/logjournal.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { MESSAGE_SIZE = 2 * LOG_LINE_MAX };

struct message {
    char text[MESSAGE_SIZE];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void append_text(struct message *message,
                                                              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = sizeof message->text - message->length;
    int length = vsnprintf(message->text + message->length, room, format, args);
    va_end(args);
    /* What does not fit is left out whole: half a line would be another field. */
    if (length > 0 && (size_t)length < room)
        message->length += (size_t)length;
}

static void add_field(struct message *message, const char *name, const char *value)
{
    char escaped[256];
    if (value == NULL || *value == '\0')
        return;
    (void)log_escape(escaped, sizeof escaped, value);
    append_text(message, "%s=%s\n", name, escaped);
}

enum logjournal_sent logjournal_send(int fd, const char *socket, int level,
                                     const struct log_fields *fields, const char *text)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct message message = {.length = 0};
    assert(strlen(socket) < sizeof address.sun_path);
    memcpy(address.sun_path, socket, strlen(socket) + 1);

    append_text(&message, "MESSAGE=%s\nPRIORITY=%d\nSYSLOG_IDENTIFIER=mcastd\n", text, level);
    if (fields != NULL) {
        add_field(&message, "MCASTD_EVENT", fields->event);
        add_field(&message, "MCASTD_CLUSTER", fields->cluster);
        add_field(&message, "MCASTD_JOB", fields->job);
        if (fields->vni != 0)
            append_text(&message, "MCASTD_VNI=%u\n", fields->vni);
    }
    /* Not connected: the journal may be restarted and make its socket anew. */
    ssize_t sent = sendto(fd, message.text, message.length, MSG_DONTWAIT | MSG_NOSIGNAL,
                          (const struct sockaddr *)&address, sizeof address);
    if (sent >= 0)
        return LOGJOURNAL_SENT;
    return errno == EAGAIN || errno == ENOBUFS ? LOGJOURNAL_BUSY : LOGJOURNAL_AWAY;
}
