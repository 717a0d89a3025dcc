/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/login/castore.h"

#include "base/memory.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    LOOKED_MS = 1000, /* a file that was just looked at is not looked at again */
    YOUNG_S = 2
};

/* To notice that the file has changed. All zero: there is none. The system's directory, too: the
 * store keeps what it has found there. */
struct stamp {
    struct stat file, directory;
    bool young; /* changed a moment ago, and maybe again within the same tick of its clock */
};

struct castore {
    uv_loop_t *loop;
    const char *file, *directory; /* the second only of the system's */
    X509_STORE *store;            /* NULL: not read yet, or it cannot be */
    struct stamp stamp;           /* of what was read last */
    bool known;                   /* it was */
    uint64_t looked_ms;           /* by the loop's clock */

    uv_work_t work;
    bool reading;
    X509_STORE *read; /* the thread's, until it is done */
    struct stamp read_stamp;

    void (*ready)(void *arg);
    void *ready_arg;
    void (*closed)(void *arg); /* not NULL: to be closed when nothing is read any more */
    void *closed_arg;
};

static struct stat stat_or_zero(const char *path)
{
    struct stat status;
    return path && stat(path, &status) == 0 ? status : (struct stat){0};
}

static struct stamp stat_files(const struct castore *castore)
{
    struct stamp stamp = {.file = stat_or_zero(castore->file),
                          .directory = stat_or_zero(castore->directory)};
    const time_t now = time(NULL);
    stamp.young =
        now - stamp.file.st_ctim.tv_sec < YOUNG_S || now - stamp.directory.st_ctim.tv_sec < YOUNG_S;
    return stamp;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* What was read is what is there. What could not be read may be readable now. */
static bool is_current(const struct castore *castore)
{
    const struct stamp *read = &castore->stamp, now = stat_files(castore);
    return castore->store && !read->young && same_file(&now.file, &read->file) &&
           same_file(&now.directory, &read->directory);
}

/* In a thread of libuv's. The flags are those that libcurl sets. */
static void read_store(uv_work_t *work)
{
    struct castore *castore = work->data;
    castore->read_stamp = stat_files(castore);
    X509_STORE *store = X509_STORE_new();
    if (store && X509_STORE_load_locations(store, castore->file, castore->directory) == 1 &&
        X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN) == 1) {
        castore->read = store;
        return;
    }
    X509_STORE_free(store);
    castore->read = NULL;
}

static void free_castore(struct castore *castore)
{
    void (*closed)(void *arg) = castore->closed;
    void *arg = castore->closed_arg;
    X509_STORE_free(castore->store);
    free(castore);
    closed(arg);
}

static void on_read(uv_work_t *work, int status)
{
    struct castore *castore = work->data;
    (void)status; /* cancelled, nothing was read */
    castore->reading = false;
    X509_STORE_free(castore->store);
    castore->store = castore->read;
    castore->read = NULL;
    castore->stamp = castore->read_stamp;
    castore->known = true;
    castore->looked_ms = uv_now(castore->loop);
    if (castore->closed)
        free_castore(castore);
    else
        castore->ready(castore->ready_arg);
}

bool castore_await(struct castore *castore)
{
    if (castore->reading)
        return false;
    if (castore->known && uv_now(castore->loop) - castore->looked_ms < LOOKED_MS)
        return true;
    castore->looked_ms = uv_now(castore->loop);
    if (castore->known && is_current(castore))
        return true;
    castore->reading = uv_queue_work(castore->loop, &castore->work, read_store, on_read) == 0;
    return !castore->reading;
}

X509_STORE *castore_get(struct castore *castore)
{
    if (castore->store)
        (void)X509_STORE_up_ref(castore->store);
    return castore->store;
}

struct castore *castore_create(uv_loop_t *loop, const char *file, void (*ready)(void *arg),
                               void *arg)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    struct castore *castore = memory_zeroed(sizeof *castore);
    castore->loop = loop;
    castore->ready = ready;
    castore->ready_arg = arg;
    castore->work.data = castore;
    castore->file = file ? file : curl->cainfo ? curl->cainfo : "";
    castore->directory = file ? NULL : curl->capath;
    return castore;
}

void castore_destroy(struct castore *castore, void (*closed)(void *arg), void *arg)
{
    if (!castore)
        return;
    castore->closed = closed;
    castore->closed_arg = arg;
    if (castore->reading)
        (void)uv_cancel((uv_req_t *)&castore->work); /* unless it has begun */
    else
        free_castore(castore);
}

bool castore_possible(void)
{
    const char *tls = curl_version_info(CURLVERSION_NOW)->ssl_version;
    return tls && strstr(tls, "OpenSSL/");
}
