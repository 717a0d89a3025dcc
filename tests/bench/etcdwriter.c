/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/etcdwriter.h"

#include "tests/bench/sample.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Keys and values are texts that happen to be base64: letters and digits, a multiple of four. */
#define LEADER "benchleader0"
#define SEQUENCE "benchsequenc"

enum { GROUP = 64 /* operations of an inner transaction, as the broker's */, PATH_SIZE = 128 };

struct writer {
    const struct etcdwriter_options *options;
    CURL *easy;
    char url[PATH_SIZE], ca[PATH_SIZE], cert[PATH_SIZE], key[PATH_SIZE];
    char *value;                 /* of each put */
    uint64_t revision, sequence; /* of the leader key; of the last transaction */
    uint64_t next;               /* key */
    char answer[1 << 16];
    size_t length;
};

static size_t on_answer(char *bytes, size_t size, size_t count, void *arg)
{
    struct writer *writer = arg;

    if (size * count >= sizeof writer->answer - writer->length)
        return 0;
    memcpy(writer->answer + writer->length, bytes, size * count);
    writer->length += size * count;
    return size * count;
}

static char *write_transaction(struct writer *writer, size_t *length)
{
    const size_t puts = writer->options->puts;
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    if (!out)
        abort();
    fprintf(out,
            "{\"compare\":[{\"key\":\"" LEADER "\",\"target\":\"CREATE\",\"result\":\"EQUAL\","
            "\"create_revision\":\"%" PRIu64 "\"},{\"key\":\"" SEQUENCE "\",\"target\":\"VALUE\","
            "\"result\":\"EQUAL\",\"value\":\"%016" PRIx64 "\"}],\"success\":[{\"request_put\":"
            "{\"key\":\"" SEQUENCE "\",\"value\":\"%016" PRIx64 "\"}}",
            writer->revision, writer->sequence, writer->sequence + 1);
    for (size_t i = 0; i < puts; i++) {
        const bool first = puts > GROUP && i % GROUP == 0;

        fprintf(out, "%s{\"request_put\":{\"key\":\"benchkey%016" PRIx64 "\",\"value\":\"%s\"}}",
                first ? ",{\"request_txn\":{\"success\":[" : ",", writer->next++, writer->value);
        if (puts > GROUP && (i % GROUP == GROUP - 1 || i == puts - 1))
            fputs("]}}", out);
    }
    fputs("]}", out);
    if (fclose(out) != 0)
        abort();
    return text;
}

static int commit(struct writer *writer)
{
    size_t length;
    char *text = write_transaction(writer, &length);
    long status = 0;

    writer->length = 0;
    curl_easy_setopt(writer->easy, CURLOPT_POSTFIELDSIZE, (long)length);
    curl_easy_setopt(writer->easy, CURLOPT_POSTFIELDS, text);
    const CURLcode code = curl_easy_perform(writer->easy);
    curl_easy_getinfo(writer->easy, CURLINFO_RESPONSE_CODE, &status);
    writer->answer[writer->length] = '\0';
    free(text);
    writer->sequence++;
    if (code == CURLE_OK && status == 200 && strstr(writer->answer, "\"succeeded\":true"))
        return 0;
    fprintf(stderr, "%s: %s, HTTP status %ld: %.200s\n", writer->url, curl_easy_strerror(code),
            status, writer->answer);
    return -1;
}

/* The keys of the guards. */
static int found(struct writer *writer, struct etcdcluster *cluster)
{
    static const char *const calls[][2] = {
        {"/v3/kv/deleterange", "{\"key\":\"benc\",\"range_end\":\"bend\"}"},
        {"/v3/kv/put", "{\"key\":\"" SEQUENCE "\",\"value\":\"0000000000000000\"}"},
        {"/v3/kv/put", "{\"key\":\"" LEADER "\",\"value\":\"0000\"}"},
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct plainhttp_reply reply;
        const char *revision = NULL;
        const int status = etcdcluster_call(cluster, 0, calls[i][0], calls[i][1], &reply);
        if (status == 200 &&
            json_unpack(reply.json, "{s:{s:s}}", "header", "revision", &revision) == 0)
            writer->revision = strtoull(revision, NULL, 10);
        plainhttp_reply_release(&reply);
        if (!revision)
            return -1;
    }
    return 0;
}

static struct writer *create(struct etcdcluster *cluster, const struct etcdwriter_options *options)
{
    struct writer *writer = calloc(1, sizeof *writer);
    const size_t length = (options->value_size + 2) / 3 * 4;
    static char type[] = "Content-Type: application/json";
    static struct curl_slist headers = {.data = type};

    if (!writer || !(writer->value = malloc(length + 1)) || !(writer->easy = curl_easy_init()))
        abort();
    memset(writer->value, 'A', length);
    writer->value[length] = '\0';
    writer->options = options;
    snprintf(writer->url, sizeof writer->url, "%s/v3/kv/txn", etcdcluster_url(cluster, 0));
    curl_easy_setopt(writer->easy, CURLOPT_URL, writer->url);
    curl_easy_setopt(writer->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(writer->easy, CURLOPT_HTTPHEADER, &headers);
    curl_easy_setopt(writer->easy, CURLOPT_WRITEFUNCTION, on_answer);
    curl_easy_setopt(writer->easy, CURLOPT_WRITEDATA, writer);
    if (!options->certificates)
        return writer;
    curl_easy_setopt(writer->easy, CURLOPT_CAINFO,
                     folder_path(writer->ca, PATH_SIZE, options->certificates, "ca.pem"));
    curl_easy_setopt(writer->easy, CURLOPT_SSLCERT,
                     folder_path(writer->cert, PATH_SIZE, options->certificates, "client.pem"));
    curl_easy_setopt(writer->easy, CURLOPT_SSLKEY,
                     folder_path(writer->key, PATH_SIZE, options->certificates, "client.key"));
    return writer;
}

static void destroy(struct writer *writer)
{
    curl_easy_cleanup(writer->easy);
    free(writer->value);
    free(writer);
}

static int64_t cpu_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static int measure(struct writer *writer, struct etcdwriter_result *out)
{
    const size_t count = writer->options->count;
    int64_t *times_ns = calloc(count, sizeof *times_ns);
    int result = times_ns ? commit(writer) : -1; /* it connects */
    const int64_t began = await_now_ns(), computed = cpu_ns();

    for (size_t i = 0; result == 0 && i < count; i++) {
        const int64_t asked = await_now_ns();

        result = commit(writer);
        times_ns[i] = await_now_ns() - asked;
    }
    out->rate = (double)count * 1e9 / (double)(await_now_ns() - began);
    out->cpu_us = (double)(cpu_ns() - computed) / 1e3 / (double)count;
    if (result == 0) {
        sample_sort(times_ns, count);
        const int64_t median_ns = times_ns[count / 2];
        out->median_us = (double)median_ns / 1e3;
    }
    free(times_ns);
    return result;
}

int etcdwriter_run(struct etcdcluster *cluster, const struct etcdwriter_options *options,
                   struct etcdwriter_result *out)
{
    struct writer *writer = create(cluster, options);
    const int result = found(writer, cluster) == 0 ? measure(writer, out) : -1;

    destroy(writer);
    return result;
}
