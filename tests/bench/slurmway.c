/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/slurmway.h"

#include "tests/system/rig/await.h"

#include <curl/curl.h>
#include <stdio.h>
#include <time.h>

enum { TEXT_SIZE = 256, TIMEOUT_S = 60 };

static size_t take(const char *data, size_t size, size_t count, void *arg)
{
    return size * count;
}

static void choose_method(CURL *curl, const char *method, const char *body)
{
    if (body) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    } else {
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    }
}

/* A new client, and with it a new connection. */
static int call(const struct slurmway *way, const char *method, const char *path, const char *body,
                long expected)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    char url[TEXT_SIZE];
    long status = 0;

    if (!curl || !headers) {
        curl_easy_cleanup(curl);
        curl_slist_free_all(headers);
        return -1;
    }
    snprintf(url, sizeof url, "%s%s", way->url, path);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_USERNAME, "cxi");
    curl_easy_setopt(curl, CURLOPT_PASSWORD, way->password);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    choose_method(curl, method, body);
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    if (code == CURLE_OK && status == expected)
        return 0;
    fprintf(stderr, "the Slurm plugin's way: %s %s: %s, status %ld\n", method, path,
            curl_easy_strerror(code), status);
    return -1;
}

static int one_job(const struct slurmway *way, size_t index)
{
    static const char jobs[] = "/fabric/collectives/jobs";
    char path[TEXT_SIZE], body[TEXT_SIZE];

    snprintf(path, sizeof path, "%s/%zu", jobs, index);
    snprintf(body, sizeof body, "{\"jobID\":\"%zu\",\"mcastLimit\":23}", index);
    return call(way, "GET", path, NULL, 404) < 0 || call(way, "POST", jobs, body, 201) < 0 ||
                   call(way, "DELETE", path, NULL, 200) < 0
               ? -1
               : 0;
}

static double own_cpu_us(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

int slurmway_run(const struct slurmway *way, double *seconds, double *cpu_us)
{
    const double cpu_before = own_cpu_us();
    const int64_t began = await_now_ns();

    for (size_t i = 0; i < way->jobs; i++)
        if (one_job(way, i + 1) < 0)
            return -1;
    *seconds = (double)(await_now_ns() - began) / 1e9;
    *cpu_us = (own_cpu_us() - cpu_before) / (double)way->jobs;
    return 0;
}
