/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/certificate.h"

#include "base/memory.h"

#include <stdlib.h>

enum { NAME_SIZE = 256, NAMES_SEEN = 64 };

struct certificate {
    gnutls_x509_crt_t chain[CERTIFICATE_CHAIN_MAX]; /* as shown: the holder's own first */
    unsigned length, name_count;
    int64_t begins, expires; /* of all in the chain */
    const char *fault;       /* other than time; NULL: none */
    const char *names[CERTIFICATE_NAMES_MAX + 1];
    char texts[CERTIFICATE_NAMES_MAX][NAME_SIZE];
};

/* ---- DER ---- */

enum { TAG_OCTETS = 0x04, TAG_SEQUENCE = 0x30, CONSTRUCTED = 0x20, LONG_TAG = 0x1f };

struct element {
    unsigned char tag;
    size_t head, content; /* bytes */
};

enum reading { READ_GOOD, READ_CUT, READ_STRANGE };

static enum reading element_read(const unsigned char *bytes, size_t length, struct element *out)
{
    if (length < 2)
        return READ_CUT;
    out->tag = bytes[0];
    out->head = 2;
    out->content = bytes[1];
    if ((out->tag & LONG_TAG) == LONG_TAG || bytes[1] == 0x80 || bytes[1] > 0x84)
        return READ_STRANGE;
    if (bytes[1] > 0x80) {
        size_t more = bytes[1] & 0x7fu;
        if (length < 2 + more)
            return READ_CUT;
        out->content = 0;
        for (size_t i = 0; i < more; i++)
            out->content = out->content << 8 | bytes[2 + i];
        out->head += more;
    }
    return out->content <= length - out->head ? READ_GOOD : READ_CUT;
}

static bool holds_elements(const unsigned char *bytes, const struct element *element)
{
    struct element inner;
    if (element->tag & CONSTRUCTED)
        return true;
    return element->tag == TAG_OCTETS &&
           element_read(bytes + element->head, element->content, &inner) == READ_GOOD &&
           inner.tag == TAG_SEQUENCE && inner.head + inner.content == element->content;
}

size_t der_elements(const unsigned char *bytes, size_t length, size_t max)
{
    size_t count = 0;
    while (length > 0 && count <= max) {
        struct element element;
        enum reading reading = element_read(bytes, length, &element);
        if (reading == READ_STRANGE)
            return max + 1;
        if (reading == READ_CUT)
            break;
        count++;
        size_t step = element.head + (holds_elements(bytes, &element) ? 0 : element.content);
        bytes += step;
        length -= step;
    }
    return count;
}

/* ---- names and times ---- */

/* The next text of names becomes a name, unless it is not fit to be compared and printed. */
static void name_add(struct certificate *certificate, size_t length)
{
    char *text = certificate->texts[certificate->name_count];
    if (length >= NAME_SIZE)
        return;
    text[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
            return;
    certificate->names[certificate->name_count++] = text;
}

enum name_kind { COMMON_NAME, ALTERNATIVE_NAME };

/* Text i of this kind: its length; -1: it is none that counts; -2: there are no more. */
static long name_read(gnutls_x509_crt_t own, enum name_kind kind, unsigned i, char text[NAME_SIZE])
{
    size_t size = NAME_SIZE;
    const int rc =
        kind == COMMON_NAME
            ? gnutls_x509_crt_get_dn_by_oid(own, GNUTLS_OID_X520_COMMON_NAME, i, 0, text, &size)
            : gnutls_x509_crt_get_subject_alt_name(own, i, text, &size, NULL);
    if (rc == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
        return -2;
    return rc == (kind == COMMON_NAME ? 0 : GNUTLS_SAN_DNSNAME) ? (long)size : -1;
}

static void read_names(struct certificate *certificate)
{
    for (int kind = COMMON_NAME; kind <= ALTERNATIVE_NAME; kind++)
        for (unsigned i = 0; i < NAMES_SEEN && certificate->name_count < CERTIFICATE_NAMES_MAX;
             i++) {
            const long length = name_read(certificate->chain[0], (enum name_kind)kind, i,
                                          certificate->texts[certificate->name_count]);
            if (length == -2)
                break;
            if (length > 0)
                name_add(certificate, (size_t)length);
        }
}

static void read_times(struct certificate *certificate)
{
    for (unsigned i = 0; i < certificate->length; i++) {
        int64_t begins = gnutls_x509_crt_get_activation_time(certificate->chain[i]);
        int64_t expires = gnutls_x509_crt_get_expiration_time(certificate->chain[i]);
        if (i == 0 || begins > certificate->begins)
            certificate->begins = begins;
        if (i == 0 || expires < certificate->expires)
            certificate->expires = expires;
    }
}

static bool exponent_is_small(gnutls_x509_crt_t certificate)
{
    gnutls_datum_t modulus = {0}, exponent = {0};
    if (gnutls_x509_crt_get_pk_rsa_raw(certificate, &modulus, &exponent) < 0)
        return false;
    unsigned leading = 0;
    while (leading < exponent.size && exponent.data[leading] == 0)
        leading++;
    bool small = exponent.size - leading <= CERTIFICATE_EXPONENT_MAX;
    gnutls_free(modulus.data);
    gnutls_free(exponent.data);
    return small;
}

static const char *key_unbearable(gnutls_x509_crt_t certificate)
{
    unsigned bits = 0;
    switch (gnutls_x509_crt_get_pk_algorithm(certificate, &bits)) {
    case GNUTLS_PK_ECDSA:
    case GNUTLS_PK_EDDSA_ED25519:
    case GNUTLS_PK_EDDSA_ED448:
        return NULL; /* their curves are known and few */
    case GNUTLS_PK_RSA:
    case GNUTLS_PK_RSA_PSS:
        if (bits > CERTIFICATE_RSA_BITS_MAX)
            return "an RSA key is longer than 8192 bits";
        return exponent_is_small(certificate) ? NULL : "an RSA exponent is longer than 64 bits";
    default:
        return "a key is neither RSA, ECDSA nor EdDSA";
    }
}

/* Before anything of the chain is parsed. */
static const char *chain_unbearable(const gnutls_datum_t *shown, unsigned count)
{
    size_t left = CERTIFICATE_ELEMENTS_MAX;
    if (count > CERTIFICATE_CHAIN_MAX)
        return "the chain has more than 8 certificates";
    for (unsigned i = 0; i < count; i++) {
        size_t more = der_elements(shown[i].data, shown[i].size, left);
        if (more > left)
            return "it has too many parts: more than 1024";
        left -= more;
    }
    return NULL;
}

/* The next one of the chain. */
static const char *import(struct certificate *certificate, const gnutls_datum_t *der)
{
    gnutls_x509_crt_t *next = &certificate->chain[certificate->length];
    if (gnutls_x509_crt_init(next) < 0)
        return "there is no memory for it";
    certificate->length++;
    if (gnutls_x509_crt_import(*next, der, GNUTLS_X509_FMT_DER) < 0)
        return "it is no X.509 certificate";
    return key_unbearable(*next);
}

/* The next vector of the message, whose length takes that many bytes. False: it is cut. */
static bool vector_next(gnutls_datum_t *rest, unsigned length_bytes, gnutls_datum_t *vector)
{
    unsigned length = 0;
    if (rest->size < length_bytes)
        return false;
    for (unsigned i = 0; i < length_bytes; i++)
        length = length << 8 | rest->data[i];
    if (rest->size - length_bytes < length)
        return false;
    *vector = (gnutls_datum_t){.data = rest->data + length_bytes, .size = length};
    rest->data += length_bytes + length;
    rest->size -= length_bytes + length;
    return true;
}

struct certificate *certificate_create(const gnutls_datum_t *shown, unsigned count,
                                       const char **unbearable)
{
    *unbearable = chain_unbearable(shown, count);
    if (*unbearable || count == 0)
        return NULL;
    struct certificate *certificate = memory_zeroed(sizeof *certificate);
    for (unsigned i = 0; i < count && !*unbearable; i++)
        *unbearable = import(certificate, &shown[i]);
    if (*unbearable) {
        certificate_destroy(certificate);
        return NULL;
    }
    certificate->fault = "it has not been looked at yet";
    read_names(certificate);
    read_times(certificate);
    return certificate;
}

struct certificate *certificate_read(const gnutls_datum_t *message, bool tls13,
                                     const char **unbearable)
{
    gnutls_datum_t rest = *message, list, unused, shown[CERTIFICATE_CHAIN_MAX + 1];
    unsigned count = 0;
    *unbearable = "the message is not a whole one";
    if ((tls13 && !vector_next(&rest, 1, &unused)) || !vector_next(&rest, 3, &list))
        return NULL;
    while (list.size > 0 && count <= CERTIFICATE_CHAIN_MAX) {
        if (!vector_next(&list, 3, &shown[count++]) || (tls13 && !vector_next(&list, 2, &unused)))
            return NULL;
    }
    return certificate_create(shown, count, unbearable);
}

void certificate_destroy(struct certificate *certificate)
{
    if (!certificate)
        return;
    for (unsigned i = 0; i < certificate->length; i++)
        gnutls_x509_crt_deinit(certificate->chain[i]);
    free(certificate);
}

const char *const *certificate_names(const struct certificate *certificate)
{
    return certificate->names;
}

static const char *fault_of(unsigned status)
{
    static const struct {
        unsigned bit;
        const char *text;
    } faults[] = {
        {GNUTLS_CERT_SIGNER_NOT_FOUND, "no authority in tls_client_ca has signed it"},
        {GNUTLS_CERT_SIGNER_NOT_CA, "what has signed it is no authority"},
        {GNUTLS_CERT_SIGNATURE_FAILURE, "its signature is wrong"},
        {GNUTLS_CERT_PURPOSE_MISMATCH,
         "it is not meant for clients (extended key usage: TLS web client authentication)"},
        {GNUTLS_CERT_INSECURE_ALGORITHM, "it is signed with an algorithm that is not secure"},
        {GNUTLS_CERT_REVOKED, "it has been revoked"},
        {GNUTLS_CERT_SIGNER_CONSTRAINTS_FAILURE, "its authority may not sign for this name"},
        {GNUTLS_CERT_UNKNOWN_CRIT_EXTENSIONS, "it has a critical extension that is not known"},
        {GNUTLS_CERT_EXPIRED, "it has expired, or an authority above it has"},
        {GNUTLS_CERT_NOT_ACTIVATED, "it is not valid yet, or an authority above it is not"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (status & faults[i].bit)
            return faults[i].text;
    return status ? "it is not valid" : NULL;
}

void certificate_judge(struct certificate *certificate, gnutls_x509_trust_list_t authorities)
{
    static const char purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st wanted = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                    .data = (unsigned char *)(uintptr_t)purpose};
    unsigned status = 0;
    if (!authorities)
        certificate->fault = "the broker knows no authority of clients (tls_client_ca is unset)";
    else if (gnutls_x509_trust_list_verify_crt2(authorities, certificate->chain,
                                                certificate->length, &wanted, 1, 0, &status,
                                                NULL) < 0)
        certificate->fault = "it cannot be verified";
    else
        certificate->fault = fault_of(status);
}

const char *certificate_fault(const struct certificate *certificate, int64_t now)
{
    if (certificate->fault)
        return certificate->fault;
    if (now > certificate->expires)
        return "it has expired";
    return now < certificate->begins ? "it is not valid yet" : NULL;
}
