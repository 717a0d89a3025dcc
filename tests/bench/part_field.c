/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/parts.h"
#include "tests/bench/reserveturn.h"
#include "tests/bench/request.h"
#include "tests/bench/server.h"
#include "tests/bench/wrapper.h"

#include <stdio.h>
#include <string.h>

/* What others do with the same connections on the same disk: etcd, which also makes what it
 * acknowledges durable, and nginx, which only answers. */

enum { CONNECTIONS = 64, WARM_UP_FIRST = 1 << 30, VALUE_SIZE = 272, TEXT_SIZE = 512 };

struct field {
    const struct bench *bench;
    struct server etcd, nginx; /* of which there is none: folder "" */
};

/* ---- etcd ---- */

/* Key and value are Base64: the id of a job padded to four bytes is, and so are letters. */
static void make_put(size_t index, struct load_request *out)
{
    char id[REQUEST_ID_SIZE];

    request_id(index, id);
    out->method = "POST";
    snprintf(out->path, sizeof out->path, "/v3/kv/put");
    const int length =
        snprintf(out->body, sizeof out->body, "{\"key\":\"jobs%s\",\"value\":\"", id);
    memset(out->body + length, 'A', VALUE_SIZE);
    memcpy(out->body + length + VALUE_SIZE, "\"}", 3);
}

/* It takes no path of a socket, but makes one called "localhost:1" where it runs. */
static int start_etcd(struct server *etcd, const char *program)
{
    char script[WRAPPER_PATH_SIZE], before[TEXT_SIZE], data[TEXT_SIZE];
    const char *argv[] = {script,
                          "--data-dir",
                          data,
                          "--listen-client-urls",
                          "unix://localhost:1",
                          "--advertise-client-urls",
                          "unix://localhost:1",
                          "--listen-peer-urls",
                          "unix://localhost:2",
                          "--initial-advertise-peer-urls",
                          "http://localhost:2",
                          "--initial-cluster",
                          "default=http://localhost:2",
                          "--log-level",
                          "error",
                          NULL};

    if (server_prepare(etcd, "localhost:1") < 0)
        return -1;
    folder_path(data, sizeof data, etcd->folder, "data");
    snprintf(before, sizeof before, "env -C %s", etcd->folder);
    return wrapper_write(script, etcd->folder, "etcd", before, program) == 0
               ? server_start(etcd, argv)
               : -1;
}

/* ---- nginx ---- */

static int start_nginx(struct server *nginx, const char *program)
{
    static const char form[] =
        "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;\n"
        "events { worker_connections 1024; }\n"
        "http {\n  access_log off;\n  keepalive_requests 1000000000;\n"
        "  client_body_temp_path body;\n  proxy_temp_path proxy;\n  fastcgi_temp_path fastcgi;\n"
        "  uwsgi_temp_path uwsgi;\n  scgi_temp_path scgi;\n"
        "  server { listen unix:%s; location / { return 200 \"{}\"; } }\n}\n";
    const char *argv[] = {program,     "-p", nginx->folder, "-e",
                          "error.log", "-c", "nginx.conf",  NULL};
    char text[sizeof form + sizeof nginx->socket];

    if (server_prepare(nginx, "nginx.sock") < 0)
        return -1;
    snprintf(text, sizeof text, form, nginx->socket);
    return folder_write(nginx->folder, "nginx.conf", 0600, text) == 0 ? server_start(nginx, argv)
                                                                      : -1;
}

/* ---- turns ---- */

static int other_turn(const struct bench *bench, const struct server *server, size_t first,
                      void (*make)(size_t index, struct load_request *out), struct turn *out)
{
    struct load load = {.socket = server->socket,
                        .connections = CONNECTIONS,
                        .first = WARM_UP_FIRST,
                        .count = bench->warm_up,
                        .make = make,
                        .expected = 200};

    if (first == 0 && turn_measure(server->process, &load, out) < 0)
        return -1;
    load.first = first;
    load.count = bench->requests;
    return turn_measure(server->process, &load, out);
}

static int take_turns(const struct field *field, size_t repetition)
{
    struct report *report = field->bench->report;
    const size_t count = field->bench->requests, first = repetition * count;
    struct reserveturn reserved;
    struct turn turn;

    if (reserveturn_run(field->bench, CONNECTIONS, count, &reserved) < 0)
        return -1;
    report_figure(report, "field: mcastd, reserves", "/s", reserved.turn.rate);
    report_figure(report, "field: mcastd, CPU of one", "µs", reserved.turn.cpu_us);
    if (field->etcd.folder[0]) {
        if (other_turn(field->bench, &field->etcd, first, make_put, &turn) < 0)
            return -1;
        report_figure(report, "field: etcd, puts", "/s", turn.rate);
        report_figure(report, "field: etcd, CPU of one", "µs", turn.cpu_us);
    }
    if (field->nginx.folder[0]) {
        if (other_turn(field->bench, &field->nginx, first, request_echo, &turn) < 0)
            return -1;
        report_figure(report, "field: nginx, answers", "/s", turn.rate);
        report_figure(report, "field: nginx, CPU of one", "µs", turn.cpu_us);
    }
    return 0;
}

/* What is compared; three programs that do different things. */
static const char words[] =
    "field, each with 64 connections over a Unix socket:\n"
    "  mcastd   checks who asks, parses and judges a reserve, gives it a VNI, saves it (fsync, as\n"
    "           many as have gathered at once), answers; one process, no copy elsewhere\n"
    "  etcd     parses a put of 200 bytes (JSON, its gateway to gRPC), writes it to its raft log\n"
    "           (fsync, likewise gathered), applies it, answers; one member, so no copy "
    "elsewhere,\n"
    "           nobody asked who he is; written to be replicated, and keeps every version\n"
    "  nginx    reads the same body and answers 200; parses, decides and saves nothing\n";

int part_field(const struct bench *bench)
{
    struct field field = {.bench = bench};
    int result = 0;

    fputs(words, stdout);
    if (!bench->etcd)
        printf("etcd is not installed (./dev bench --field fetches it): left out\n");
    else
        result = start_etcd(&field.etcd, bench->etcd);
    if (!bench->nginx)
        printf("nginx is not installed (./dev bench --field fetches it): left out\n");
    else if (result == 0)
        result = start_nginx(&field.nginx, bench->nginx);
    for (size_t i = 0; result == 0 && i < bench->repetitions; i++) {
        printf("field, repetition %zu of %zu\n", i + 1, bench->repetitions);
        fflush(stdout);
        result = take_turns(&field, i);
    }
    server_stop(&field.etcd);
    server_stop(&field.nginx);
    return result;
}
