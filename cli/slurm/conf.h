#ifndef MCAST_CLI_SLURM_CONF_H
#define MCAST_CLI_SLURM_CONF_H

/* Slurm's configuration, as scontrol shows it and as slurm.conf has it: keys in any case, each with
 * one value or several. Pure. */

#include <stdbool.h>
#include <stddef.h>

struct slurmconf;

enum { SLURMCONF_MAX = 4096 }; /* values; what is more is left out */

/* NULL when memory is exhausted. */
struct slurmconf *slurmconf_create(void);
void slurmconf_destroy(struct slurmconf *conf); /* NULL is allowed */

/* Takes what `scontrol show config` prints, "Key = value" lines: newer releases number the values
 * of one key ("Prolog[0]"). What is not set ("(null)", "(null type)") is no value. */
void slurmconf_take_shown(struct slurmconf *conf, const char *text);

/* Takes lines of slurm.conf: words key=value, in quotes or not, '#' to the end of the line, a
 * backslash before it. */
void slurmconf_take_file(struct slurmconf *conf, const char *text);

/* The value number n, from 0, of this key, or NULL. Valid until something is taken. */
const char *slurmconf_get(const struct slurmconf *conf, const char *key, size_t n);

/* Whether the comma-separated values of this key have the word, in any case. */
bool slurmconf_has(const struct slurmconf *conf, const char *key, const char *word);

#endif
