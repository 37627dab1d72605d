// SPDX-License-Identifier: MIT
//
// The header of a .npy file is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4),
// }
#include "npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct header_text {
    const struct npy_request *request;
    const char *at;
    const char *end;
};

static enum npy_status malformed(const struct header_text *text, const char *expected) {
    int shown = text->end - text->at < 24 ? (int)(text->end - text->at) : 24;
    return npy_complain(NPY_ERROR_HEADER, text->request->option, text->request->path,
                        "header: '%.*s' where %s must stand", shown, text->at, expected);
}

static void skip_spaces(struct header_text *text) {
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n' || *text->at == '\t'))
        ++text->at;
}

static bool take(struct header_text *text, char character) {
    skip_spaces(text);
    if (text->at == text->end || *text->at != character)
        return false;
    ++text->at;
    return true;
}

static bool take_word(struct header_text *text, const char *word) {
    size_t length = strlen(word);
    skip_spaces(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

// A text in quotes, cut to what `value` holds.
static bool take_quoted(struct header_text *text, char *value, size_t size) {
    skip_spaces(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return false;
    char quote = *text->at;
    const char *begin = text->at + 1;
    const char *close = memchr(begin, quote, (size_t)(text->end - begin));
    if (!close)
        return false;
    size_t length = (size_t)(close - begin);
    if (length >= size)
        length = size - 1;
    memcpy(value, begin, length);
    value[length] = '\0';
    text->at = close + 1;
    return true;
}

uint64_t npy_type_size(enum npy_type type) {
    switch (type) {
    case NPY_F32:
    case NPY_I32:
        return 4;
    case NPY_I64:
        return 8;
    default:
        return 2;
    }
}

const char *npy_type_name(enum npy_type type) {
    switch (type) {
    case NPY_F32:
        return "<f4";
    case NPY_F16:
        return "<f2";
    case NPY_U16:
        return "<u2";
    case NPY_I32:
        return "<i4";
    default:
        return "<i8";
    }
}

static enum npy_status check_descr(const struct npy_request *request, const char *descr,
                                   struct npy_header *header) {
    static const enum npy_type types[] = {NPY_F32, NPY_F16, NPY_U16, NPY_I32, NPY_I64};
    char accepted[64] = "";
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        if (!(request->types & types[i]))
            continue;
        if (strcmp(descr, npy_type_name(types[i])) == 0) {
            header->type = types[i];
            return NPY_OK;
        }
        size_t used = strlen(accepted);
        snprintf(accepted + used, sizeof accepted - used, "%s'%s'", used ? " or " : "",
                 npy_type_name(types[i]));
    }
    const char *option = request->option, *path = request->path;
    if (strchr(descr, 'O'))
        return npy_complain(NPY_ERROR_OBJECT, option, path,
                            "descr is '%s', Python objects, which this reader never runs: must be %s", descr,
                            accepted);
    if (*descr == '>')
        return npy_complain(NPY_ERROR_BIG_ENDIAN, option, path,
                            "descr is '%s', big-endian: must be %s (little-endian)", descr, accepted);
    return npy_complain(NPY_ERROR_TYPE, option, path, "descr is '%s': must be %s", descr, accepted);
}

static enum npy_status parse_descr(struct header_text *text, struct npy_header *header) {
    char descr[32];
    skip_spaces(text);
    if (text->at < text->end && *text->at == '[')
        return npy_complain(NPY_ERROR_TYPE, text->request->option, text->request->path,
                            "descr is a list of fields: must be one type of number");
    if (!take_quoted(text, descr, sizeof descr))
        return malformed(text, "the type in quotes");
    return check_descr(text->request, descr, header);
}

static enum npy_status parse_order(struct header_text *text, struct npy_header *header) {
    if (take_word(text, "True"))
        header->fortran_order = true;
    else if (!take_word(text, "False"))
        return malformed(text, "True or False");
    if (header->fortran_order && !text->request->fortran_order)
        return npy_complain(NPY_ERROR_FORTRAN, text->request->option, text->request->path,
                            "fortran_order is True: must be False (numpy.ascontiguousarray makes it so)");
    return NPY_OK;
}

static enum npy_status parse_dimension(struct header_text *text, struct npy_header *header) {
    const char *option = text->request->option, *path = text->request->path;
    if (text->at == text->end || *text->at < '0' || *text->at > '9')
        return malformed(text, "a length of the shape");
    if (header->dims == NPY_MAX_DIMS)
        return npy_complain(NPY_ERROR_DIMS, option, path,
                            "shape has more than %d dimensions: must be at most %d", NPY_MAX_DIMS,
                            NPY_MAX_DIMS);
    uint64_t length = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; ++text->at) {
        uint64_t digit = (uint64_t)(*text->at - '0');
        if (length > ((uint64_t)INT64_MAX - digit) / 10)
            return npy_complain(NPY_ERROR_HUGE, option, path, "shape[%" PRIu32 "] must be at most %" PRId64,
                                header->dims, INT64_MAX);
        length = length * 10 + digit;
    }
    if (text->at < text->end && *text->at == 'L') // as Python 2 wrote it
        ++text->at;
    header->shape[header->dims++] = length;
    return NPY_OK;
}

static enum npy_status parse_shape(struct header_text *text, struct npy_header *header) {
    if (!take(text, '('))
        return malformed(text, "the shape in parentheses");
    while (!take(text, ')')) {
        enum npy_status status = parse_dimension(text, header);
        if (status)
            return status;
        if (!take(text, ',')) {
            if (!take(text, ')'))
                return malformed(text, "a comma or the end of the shape");
            break;
        }
    }
    return NPY_OK;
}

void npy_shape_text(const struct npy_header *header, char *text, size_t size) {
    int used = snprintf(text, size, "(");
    for (uint32_t i = 0; i < header->dims && used >= 0 && (size_t)used < size; ++i)
        used += snprintf(text + used, size - (size_t)used, "%s%" PRIu64, i ? ", " : "", header->shape[i]);
    if (used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, header->dims == 1 ? ",)" : ")");
}

// Zeros do not hide the overflow of the rest: strides are products of the other lengths.
static enum npy_status count_elements(const struct npy_request *request, struct npy_header *header) {
    uint64_t product = npy_type_size(header->type);
    bool is_empty = false;
    for (uint32_t i = 0; i < header->dims; ++i) {
        is_empty |= header->shape[i] == 0;
        if (header->shape[i] && product > (uint64_t)INT64_MAX / header->shape[i]) {
            char shape[200];
            npy_shape_text(header, shape, sizeof shape);
            return npy_complain(NPY_ERROR_HUGE, request->option, request->path,
                                "shape %s needs more than %" PRId64 " bytes, which is the limit", shape,
                                INT64_MAX);
        }
        product *= header->shape[i] ? header->shape[i] : 1;
    }
    header->bytes = is_empty ? 0 : product;
    header->count = header->bytes / npy_type_size(header->type);
    return NPY_OK;
}

static enum npy_status parse_entry(struct header_text *text, struct npy_header *header, unsigned *seen) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    static enum npy_status (*const parsers[])(struct header_text *,
                                              struct npy_header *) = {parse_descr, parse_order, parse_shape};
    char key[32];
    const char *begin = text->at;
    if (!take_quoted(text, key, sizeof key))
        return malformed(text, "a key in quotes");
    for (unsigned i = 0; i < 3; ++i) {
        if (strcmp(key, keys[i]) != 0 || *seen & 1u << i)
            continue;
        *seen |= 1u << i;
        if (!take(text, ':'))
            return malformed(text, "a colon");
        return parsers[i](text, header);
    }
    text->at = begin;
    return malformed(text, "'descr', 'fortran_order' or 'shape', each once,");
}

enum npy_status npy_parse_header(const struct npy_request *request, const char *string, size_t length,
                                 struct npy_header *header) {
    struct header_text text = {request, string, string + length};
    unsigned seen = 0;
    *header = (struct npy_header){0};
    if (!take(&text, '{'))
        return malformed(&text, "'{'");
    while (!take(&text, '}')) {
        enum npy_status status = parse_entry(&text, header, &seen);
        if (status)
            return status;
        if (!take(&text, ',')) {
            if (!take(&text, '}'))
                return malformed(&text, "a comma or '}'");
            break;
        }
    }
    skip_spaces(&text);
    if (text.at != text.end)
        return malformed(&text, "the end of the header");
    if (seen != 7)
        return npy_complain(NPY_ERROR_HEADER, request->option, request->path, "header: %s is missing",
                            !(seen & 1)   ? "'descr'"
                            : !(seen & 2) ? "'fortran_order'"
                                          : "'shape'");
    return count_elements(request, header);
}
