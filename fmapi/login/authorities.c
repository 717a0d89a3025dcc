/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/login/authorities.h"

#include <curl/curl.h>
#include <string.h>

struct place {
    const char *file, *directory; /* the second only of the system's */
};

static struct place place_of(const char *ca)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    if (ca)
        return (struct place){.file = ca};
    return (struct place){.file = curl->cainfo ? curl->cainfo : "", .directory = curl->capath};
}

static struct stat stat_or_zero(const char *path)
{
    struct stat status;
    return path && stat(path, &status) == 0 ? status : (struct stat){0};
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool authorities_changed(const struct authorities *authorities, const char *ca)
{
    const struct place place = place_of(ca);
    const struct stat file = stat_or_zero(place.file), directory = stat_or_zero(place.directory);
    return !same_file(&file, &authorities->file) || !same_file(&directory, &authorities->directory);
}

/* The flags are those that libcurl sets. */
static X509_STORE *read_store(struct place place)
{
    const char *tls = curl_version_info(CURLVERSION_NOW)->ssl_version;
    X509_STORE *store = tls && strstr(tls, "OpenSSL/") ? X509_STORE_new() : NULL;
    if (store && X509_STORE_load_locations(store, place.file, place.directory) == 1 &&
        X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN) == 1)
        return store;
    X509_STORE_free(store);
    return NULL;
}

struct authorities authorities_read(const char *ca)
{
    const struct place place = place_of(ca);
    struct authorities authorities = {.file = stat_or_zero(place.file),
                                      .directory = stat_or_zero(place.directory)};
    authorities.store = read_store(place); /* later: a change meanwhile is noticed */
    return authorities;
}

void authorities_release(struct authorities *authorities)
{
    X509_STORE_free(authorities->store);
    *authorities = (struct authorities){0};
}
