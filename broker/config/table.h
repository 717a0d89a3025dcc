/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The table of all keys (keys.inc): one row is everything that is known about one. */

enum config_type {
    CONFIG_TEXT,     /* char[size] */
    CONFIG_PATH,     /* char[size]: absolute */
    CONFIG_URL,      /* char[n][FM_URL_SIZE], unused ones "": http or https, without trailing slash;
                        several may go on in indented lines */
    CONFIG_LISTEN,   /* char[size]: "HOST:PORT" */
    CONFIG_JOB_CA,   /* char[size]: auto, yes, no or an absolute path */
    CONFIG_NUMBER,   /* uint32_t, min–max; the word, if there is one, is 0 */
    CONFIG_MODE,     /* uint32_t, octal */
    CONFIG_DURATION, /* int64_t milliseconds, min–max; the word, if there is one, is -1 */
    CONFIG_BOOL,     /* bool: yes, no */
    CONFIG_CHOICE,   /* int: min for the first of the words, min + 1 for the second, … */
    CONFIG_CLASSES,  /* uint32_t: bits of enum traffic_class, at least one */
    CONFIG_IDSET,    /* struct idset; may go on in indented lines */
    CONFIG_USERS,    /* char **, NULL-terminated; may go on in indented lines */
    CONFIG_COMMAND,  /* char **, NULL-terminated: an absolute path, then arguments */
    CONFIG_NAMES,    /* char **, NULL-terminated: of clusters; may go on in indented lines */
    CONFIG_SENTENCE, /* char[size] */
};

/* What holds for the file that a key names. */
enum config_file {
    CONFIG_FILE_EXISTS = 1,      /* it has to be there */
    CONFIG_FILE_TRUSTED = 2,     /* only root and the service's user can change it */
    CONFIG_FILE_RELOADED = 4,    /* its contents count as configuration */
    CONFIG_FILE_CERTIFICATE = 8, /* it holds a certificate, or is a folder of authorities */
};

/* Where a key stands: in a section of which there is one, or in each of those with a name. */
enum config_place { CONFIG_PLAIN, CONFIG_CLUSTER, CONFIG_PROFILE, CONFIG_PLACES };

struct config_key {
    const char *section; /* "cluster": stands for each [cluster "NAME"]; "profile" likewise */
    const char *name;
    enum config_type type;
    const char *initial; /* the default, as it would be written; NULL: unset, and may be empty */
    const char *example; /* for the sample file when there is no default */
    const char *word;    /* NUMBER, DURATION: may stand instead; NULL: none */
    const char *const *choices; /* CHOICE: NULL-terminated */
    const char *sentence;
    const char *older;   /* a name of before, still read; NULL: none */
    const char *subject; /* what others could change at the path: "the ledger" */
    unsigned file;       /* bits of enum config_file */
    bool restart;        /* a reload cannot change it */
    bool host;           /* may differ between brokers of one ledger */
    bool fabric;         /* a change ends connections and login at the fabric manager */
    int64_t min, max;
    size_t offset, size; /* in struct config, or config_cluster, or config_profile */
};

enum { CONFIG_KEYS_MAX = 112 };
const struct config_key *config_keys(size_t *count);

/* The row, by its name or its older one, or NULL. */
const struct config_key *config_key_find(const char *section, const char *name);
size_t config_key_row(const struct config_key *key); /* its index */
enum config_place config_key_place(const struct config_key *key);
/* Where the values of this place's keys are: in config, or in its cluster or profile of this index.
 */
struct config;
void *config_base(struct config *config, enum config_place place, uint32_t index);
/* What a row of one of the path types says, or of TEXT; of a plain section. */
const char *config_key_path(const struct config_key *key, const struct config *config);

/* Writes a page to which tables belong: each "@" that is a line of its own stands for the next of
 * the parts. The texts are *.in files, made part of the program by the build. */
void config_print_page(FILE *out, const char *page, void (*const *parts)(FILE *out));
extern const char usage_page_document[], mcastd_page_document[], conf_page_document[];
