/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/broker/datagrams.h"
#include "tests/unit/unit.h"

#include "broker/log/log.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

char datagrams_path[96];
static char folder[64];
static int listener = -1;

void datagrams_bind(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (listener >= 0)
        close(listener);
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
                     0);
}

int datagrams_open(void **state)
{
    strcpy(folder, "/tmp/mcast-datagrams-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(datagrams_path, sizeof datagrams_path, "%s/socket", folder);
    datagrams_bind(datagrams_path);
    return 0;
}

int datagrams_close(void **state)
{
    unsetenv("JOURNAL_STREAM");
    log_open(LOG_JOURNAL_SOCKET);
    close(listener);
    listener = -1;
    (void)unlink(datagrams_path);
    return rmdir(folder);
}

const char *datagrams_next(void)
{
    static char text[8192];
    ssize_t length = recv(listener, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

void datagrams_become_journal(void)
{
    struct stat self;
    char stream[64];
    assert_int_equal(fstat(STDERR_FILENO, &self), 0);
    (void)snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)self.st_dev,
                   (uintmax_t)self.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    log_open(datagrams_path);
}
