#include "broker/http/farewell.h"

#include <microhttpd.h>
#include <sys/socket.h>

static void send_bytes(int fd, gnutls_session_t tls, const char *bytes, size_t length)
{
    if (tls)
        (void)gnutls_record_send(tls, bytes, length);
    else
        (void)send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void farewell_send(int fd, gnutls_session_t tls, const struct problem *problem)
{
    struct writer body = {0}, answer = {0};
    problem_write(problem, &body);
    writer_textf(&answer,
                 "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nRetry-After: %u\r\n"
                 "Connection: close\r\nContent-Length: %zu\r\n\r\n%.*s",
                 problem->status, MHD_get_reason_phrase_for((unsigned)problem->status),
                 problem->retry_after, body.used, (int)body.used, body.failed ? "" : body.data);
    if (!body.failed && !answer.failed)
        send_bytes(fd, tls, answer.data, answer.used);
    writer_release(&body);
    writer_release(&answer);
}
