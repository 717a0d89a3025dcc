#include "tests/system/http/line.h"

#include "tests/system/rig/await.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

struct line {
    int fd;
    char *data;
    size_t used, size;
};

struct line *line_open(const char *path, int port)
{
    struct line *line = calloc(1, sizeof *line);
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in remote = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval deadline = {.tv_sec = AWAIT_DEADLINE_MS / 1000};
    assert_non_null(line);
    line->fd = socket(path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(line->fd >= 0);
    setsockopt(line->fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    setsockopt(line->fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
    if (path) {
        snprintf(local.sun_path, sizeof local.sun_path, "%s", path);
        assert_int_equal(connect(line->fd, (struct sockaddr *)&local, sizeof local), 0);
    } else {
        assert_int_equal(connect(line->fd, (struct sockaddr *)&remote, sizeof remote), 0);
    }
    line->size = 4096;
    line->data = calloc(1, line->size);
    assert_non_null(line->data);
    return line;
}

void line_close(struct line *line)
{
    if (!line)
        return;
    close(line->fd);
    free(line->data);
    free(line);
}

int line_send(struct line *line, const char *bytes, size_t length)
{
    while (length) {
        ssize_t sent = send(line->fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return -1;
        bytes += sent;
        length -= (size_t)sent;
    }
    return 0;
}

int line_request(struct line *line, const char *method, const char *path, const char *headers,
                 const char *body)
{
    char *text;
    int length =
        asprintf(&text, "%s %s HTTP/1.1\r\nHost: mcastd\r\n%sContent-Length: %zu\r\n\r\n%s", method,
                 path, headers ? headers : "", body ? strlen(body) : 0, body ? body : "");
    assert_true(length > 0);
    int rc = line_send(line, text, (size_t)length);
    free(text);
    return rc;
}

/* Reads what comes: bytes, 0 at the end, -1 when the deadline passed. */
static ssize_t read_some(struct line *line)
{
    if (line->size - line->used < 2) {
        line->size *= 2;
        line->data = realloc(line->data, line->size);
        assert_non_null(line->data);
    }
    ssize_t got = recv(line->fd, line->data + line->used, line->size - line->used - 1, 0);
    if (got > 0)
        line->used += (size_t)got;
    line->data[line->used] = '\0';
    return got;
}

int line_answer(struct line *line, bool bodiless, struct answer *answer)
{
    long taken;
    while ((taken = answer_take(line->data, line->used, bodiless, answer)) == 0)
        if (read_some(line) <= 0)
            return -1;
    assert_true(taken > 0);
    line->used -= (size_t)taken;
    memmove(line->data, line->data + taken, line->used + 1);
    return 0;
}

bool line_await(struct line *line, const char *text)
{
    while (!strstr(line->data, text))
        if (read_some(line) <= 0)
            return false;
    return true;
}

const char *line_seen(const struct line *line)
{
    return line->data;
}

bool line_ended(struct line *line)
{
    size_t before = line->used;
    return read_some(line) <= 0 && line->used == before;
}
