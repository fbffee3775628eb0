/* Cuts the Inserts, Updates and Deletes of one relation out of an Arrow column of messages, into buffers of Arrow columns.

   It skips messages that are malformed, or have binary values, or texts that are not UTF-8. */

#include "_rest.h"

/* A bytearray with room behind the bytes that are written. */
typedef struct {
    PyObject *array;
    char *start;
    Py_ssize_t size, room;
} Buffer;

/* The buffers of an array of texts: where each ends, and the bytes. */
enum { TEXT_ENDS, CONTENT, TEXTS };

/* The buffers of an array of rows: where each ends, the letter of each value, and the texts that are the names and the
   values. */
enum { ENDS, LETTERS, NAMES, VALUES = NAMES + TEXTS, ROWS = VALUES + TEXTS };

/* The buffers that `cut_changes` returns. Rows of unchanged columns have no values. */
enum { PLACES, KINDS, OLD_KINDS, OLD, NEW = OLD + ROWS, UNCHANGED = NEW + ROWS, BUFFERS = UNCHANGED + ROWS };

/* The columns of the relation: their names, where each of them ends, and a byte for each that says whether it is of the
   key. */
typedef struct {
    Py_ssize_t count, size;
    const char *names, *keys;
    const int32_t *ends;
} Columns;

typedef struct {
    char letter;
    const unsigned char *start;
    Py_ssize_t size;
} Value;

typedef struct {
    Value *values;
    int has_unchanged;
} Row;

/* A message taken apart. `old_kind` is 0 for one without an old row. */
typedef struct {
    uint64_t kind, old_kind;
    Row old, new;
} Change;

/* Makes room for so many more bytes. The functions that append, and this one, return 0 with an exception. */
static int
reserve(Buffer *buffer, Py_ssize_t size)
{
    if (size <= buffer->room - buffer->size) {
        return 1;
    }
    if (size > INT32_MAX - buffer->size) {
        PyErr_SetString(PyExc_OverflowError, "an Arrow column of texts holds 2 GB");
        return 0;
    }
    Py_ssize_t needed = buffer->size + size, room = needed > INT32_MAX / 2 ? INT32_MAX : 2 * needed;
    if (PyByteArray_Resize(buffer->array, room) < 0) {
        return 0;
    }
    buffer->start = PyByteArray_AS_STRING(buffer->array);
    buffer->room = room;
    return 1;
}

/* The functions that put something need room that is reserved. */
static inline void
put(Buffer *buffer, const void *bytes, Py_ssize_t size)
{
    memcpy(buffer->start + buffer->size, bytes, size);
    buffer->size += size;
}

static inline void
put_number(Buffer *buffer, Py_ssize_t number)
{
    int32_t result = (int32_t)number;
    put(buffer, &result, sizeof result);
}

/* Most texts are short: calling `memcpy` would take longer than two copies of 8 bytes, which may overlap. */
static inline void
put_text(Buffer *texts, const void *start, Py_ssize_t size)
{
    Buffer *content = &texts[CONTENT];
    char *to = content->start + content->size;
    if (size >= 8 && size <= 16) {
        memcpy(to, start, 8);
        memcpy(to + size - 8, (const char *)start + size - 8, 8);
    } else if (size >= 4 && size < 8) {
        memcpy(to, start, 4);
        memcpy(to + size - 4, (const char *)start + size - 4, 4);
    } else {
        memcpy(to, start, size);
    }
    content->size += size;
    put_number(&texts[TEXT_ENDS], content->size);
}

static inline Py_ssize_t
count(const Buffer *texts)
{
    return texts[TEXT_ENDS].size / (Py_ssize_t)sizeof(int32_t) - 1;
}

static inline void
put_name(Buffer *rows, const Columns *columns, Py_ssize_t column)
{
    int32_t start = column == 0 ? 0 : columns->ends[column - 1];
    put_text(rows + NAMES, columns->names + start, columns->ends[column] - start);
}

static void
put_names(Buffer *rows, const Columns *columns)
{
    Py_ssize_t before = rows[NAMES + CONTENT].size;
    for (Py_ssize_t column = 0; column < columns->count; column++) {
        put_number(&rows[NAMES + TEXT_ENDS], before + columns->ends[column]);
    }
    put(&rows[NAMES + CONTENT], columns->names, columns->size);
}

static int
reserve_row(Buffer *rows, const Columns *columns, Py_ssize_t size)
{
    Py_ssize_t ends = columns->count * (Py_ssize_t)sizeof(int32_t);
    return reserve(&rows[ENDS], sizeof(int32_t)) && reserve(&rows[LETTERS], columns->count) &&
           reserve(&rows[NAMES + TEXT_ENDS], ends) && reserve(&rows[NAMES + CONTENT], columns->size) &&
           reserve(&rows[VALUES + TEXT_ENDS], ends) && reserve(&rows[VALUES + CONTENT], size);
}

/* Appends a row, or none if it is NULL. `size` is not less than that of the texts. */
static int
append_row(Buffer *rows, const Columns *columns, const Row *row, int only_keys, Py_ssize_t size)
{
    if (!reserve_row(rows, columns, size)) {
        return 0;
    }
    int is_whole = row != NULL && !only_keys && !row->has_unchanged;
    if (is_whole) {
        put_names(rows, columns);
    }
    /* Copies, which the compiler keeps in registers. */
    Buffer letters = rows[LETTERS], texts[TEXTS] = {rows[VALUES + TEXT_ENDS], rows[VALUES + CONTENT]};
    for (Py_ssize_t column = 0; row != NULL && column < columns->count; column++) {
        const Value *value = &row->values[column];
        if (!is_whole) {
            if (value->letter == 'u' || (only_keys && !columns->keys[column])) {
                continue;
            }
            put_name(rows, columns, column);
        }
        letters.start[letters.size++] = value->letter;
        put_text(texts, value->start, value->size);
    }
    rows[LETTERS].size = letters.size;
    rows[VALUES + TEXT_ENDS].size = texts[TEXT_ENDS].size;
    rows[VALUES + CONTENT].size = texts[CONTENT].size;
    put_number(&rows[ENDS], count(rows + NAMES));
    return 1;
}

static int
append_unchanged(Buffer *rows, const Columns *columns, const Row *row)
{
    if (!reserve_row(rows, columns, 0)) {
        return 0;
    }
    for (Py_ssize_t column = 0; row->has_unchanged && column < columns->count; column++) {
        if (row->values[column].letter == 'u') {
            put_name(rows, columns, column);
        }
    }
    put_number(&rows[ENDS], count(rows + NAMES));
    return 1;
}

static int
append(Buffer *buffers, const Columns *columns, const Change *change, int64_t place, Py_ssize_t size)
{
    char kind = (char)change->kind, old_kind = (char)change->old_kind;
    if (!reserve(&buffers[PLACES], sizeof place) || !reserve(&buffers[KINDS], 1) || !reserve(&buffers[OLD_KINDS], 1)) {
        return 0;
    }
    put(&buffers[PLACES], &place, sizeof place);
    put(&buffers[KINDS], &kind, 1);
    put(&buffers[OLD_KINDS], &old_kind, 1);
    return append_row(buffers + OLD, columns, old_kind ? &change->old : NULL, old_kind == 'K', size) &&
           append_row(buffers + NEW, columns, kind == 'D' ? NULL : &change->new, 0, size) &&
           append_unchanged(buffers + UNCHANGED, columns, &change->new);
}

static int
is_ascii(const unsigned char *next, const unsigned char *end)
{
    uint64_t eight, all = 0;
    for (; end - next >= 8; next += 8) {
        memcpy(&eight, next, 8);
        all |= eight;
    }
    while (next < end) {
        all |= *next++;
    }
    return !(all & 0x8080808080808080);
}

static int
is_utf8(const unsigned char *next, const unsigned char *end)
{
    while (next < end) {
        unsigned first = *next++;
        if (first < 0x80) {
            continue;
        }
        /* Two to four bytes are a character. Shorter ones have their own forms, and surrogates have none. */
        int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (first < 0xC2 || first > 0xF4 || end - next < more || *next < least || *next > most) {
            return 0;
        }
        for (next++; --more > 0; next++) {
            if ((*next & 0xC0) != 0x80) {
                return 0;
            }
        }
    }
    return 1;
}

/* Whether a row of so many columns follows that are texts, NULL or unchanged; it is taken apart. */
static int
split_row(Rest *whole, Row *row, Py_ssize_t columns)
{
    Rest rest = *whole;
    int all_ascii = is_ascii(rest.next, rest.end);
    row->has_unchanged = 0;
    if (number(&rest, 2) != (uint64_t)columns || rest.is_short) {
        return 0;
    }
    for (Value *value = row->values; value < row->values + columns; value++) {
        uint64_t letter = number(&rest, 1), size = letter == 't' ? number(&rest, 4) : 0;
        if (rest.is_short || size > (uint64_t)left(&rest)) {
            return 0;
        }
        *value = (Value){(char)letter, rest.next, (Py_ssize_t)size};
        rest.next += size;
        if (letter == 'u') {
            row->has_unchanged = 1;
        } else if (letter != 'n' && (letter != 't' || !(all_ascii || is_utf8(value->start, rest.next)))) {
            return 0;
        }
    }
    *whole = rest;
    return 1;
}

/* Whether the bytes are an Insert, Update or Delete, which is taken apart. */
static int
split(Rest *rest, Change *change, Py_ssize_t columns, int in_block)
{
    change->kind = number(rest, 1);
    number(rest, in_block ? 8 : 4); /* the transaction's ID and the relation's OID */
    uint64_t letter = number(rest, 1);
    change->old_kind = change->kind != 'I' && (letter == 'K' || letter == 'O') ? letter : 0;
    change->new.has_unchanged = 0;
    if (change->old_kind) {
        if (!split_row(rest, &change->old, columns)) {
            return 0;
        }
        letter = change->kind == 'U' ? number(rest, 1) : 0;
    }
    if (change->kind == 'D') {
        return change->old_kind && left(rest) == 0;
    }
    return (change->kind == 'I' || change->kind == 'U') && letter == 'N' &&
           split_row(rest, &change->new, columns) && left(rest) == 0;
}

/* Cuts the chosen messages. Offsets are as in Arrow: those of all messages, and the end of the last. */
static int
cut(Buffer *buffers, const Columns *columns, Change *change, const Py_buffer *offsets, const Py_buffer *data,
    const Py_buffer *chosen, int in_block)
{
    int64_t place, bounds[2], messages = offsets->len / (Py_ssize_t)sizeof *bounds - 1;
    const unsigned char *content = data->buf;
    for (Py_ssize_t next = 0; next + (Py_ssize_t)sizeof place <= chosen->len; next += sizeof place) {
        memcpy(&place, (const char *)chosen->buf + next, sizeof place);
        if (place < 0 || place >= messages) {
            PyErr_SetString(PyExc_IndexError, "there is no such message");
            return 0;
        }
        memcpy(bounds, (const char *)offsets->buf + place * (int64_t)sizeof *bounds, sizeof bounds);
        if (bounds[0] < 0 || bounds[0] > bounds[1] || bounds[1] > data->len) {
            PyErr_SetString(PyExc_ValueError, "a message is not within the data");
            return 0;
        }
        Rest rest = {content + bounds[0], content + bounds[1], 0};
        if (split(&rest, change, columns->count, in_block) &&
            !append(buffers, columns, change, place, (Py_ssize_t)(bounds[1] - bounds[0]))) {
            return 0;
        }
    }
    return 1;
}

/* Makes empty buffers, of which those of ends begin with 0. */
static int
begin(Buffer *buffers)
{
    for (int place = 0; place < BUFFERS; place++) {
        buffers[place].array = PyByteArray_FromStringAndSize(NULL, 0);
        if (buffers[place].array == NULL || !reserve(&buffers[place], 64)) {
            return 0;
        }
    }
    for (Buffer *rows = buffers + OLD; rows < buffers + BUFFERS; rows += ROWS) {
        put_number(&rows[ENDS], 0);
        put_number(&rows[NAMES + TEXT_ENDS], 0);
        put_number(&rows[VALUES + TEXT_ENDS], 0);
    }
    return 1;
}

/* A tuple of the bytearrays, without the room behind what is written. */
static PyObject *
finish(Buffer *buffers)
{
    PyObject *result = PyTuple_New(BUFFERS);
    for (int place = 0; result != NULL && place < BUFFERS; place++) {
        if (PyByteArray_Resize(buffers[place].array, buffers[place].size) < 0) {
            Py_CLEAR(result);
        } else {
            PyTuple_SET_ITEM(result, place, Py_NewRef(buffers[place].array));
        }
    }
    return result;
}

static int
describe(Columns *columns, const Py_buffer *names, const Py_buffer *ends, const Py_buffer *keys)
{
    *columns = (Columns){keys->len, names->len, names->buf, keys->buf, ends->buf};
    int fits = ends->len == columns->count * (Py_ssize_t)sizeof(int32_t) && (uintptr_t)ends->buf % sizeof(int32_t) == 0;
    int32_t before = 0;
    for (Py_ssize_t column = 0; fits && column < columns->count; column++) {
        fits = before <= columns->ends[column] && columns->ends[column] <= columns->size;
        before = columns->ends[column];
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "the names of the columns do not end within their bytes");
    }
    return fits;
}

enum { OFFSETS, DATA, CHOSEN, ALL_NAMES, ALL_ENDS, KEYS, ARGUMENTS };

PyObject *
cut_changes(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer views[ARGUMENTS];
    PyObject *result = NULL;
    int in_block;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*y*y*p", &views[OFFSETS], &views[DATA], &views[CHOSEN], &views[ALL_NAMES],
            &views[ALL_ENDS], &views[KEYS], &in_block)) {
        return NULL;
    }
    Buffer buffers[BUFFERS] = {{NULL}};
    Columns columns;
    if (describe(&columns, &views[ALL_NAMES], &views[ALL_ENDS], &views[KEYS]) && begin(buffers)) {
        Value *values = PyMem_New(Value, 2 * columns.count);
        if (values == NULL) {
            PyErr_NoMemory();
        } else {
            Change change = {.old.values = values, .new.values = values + columns.count};
            if (cut(buffers, &columns, &change, &views[OFFSETS], &views[DATA], &views[CHOSEN], in_block)) {
                result = finish(buffers);
            }
        }
        PyMem_Free(values);
    }
    for (int place = 0; place < BUFFERS; place++) {
        Py_XDECREF(buffers[place].array);
    }
    for (int place = 0; place < ARGUMENTS; place++) {
        PyBuffer_Release(&views[place]);
    }
    return result;
}
