/* Counts the changes at the start of some frames of which a form says that they are right, so that a verifier has nothing
   to find in them. `pubcheck/verify/usual_changes.py` gives forms, and defines what they say.

   Whatever is not as its form says ends the count: malformed and binary values, too. */

#include "_rest.h"

static const char *const FORM = "pubcheck.stream._readers.form";
enum { HEAD = 6 }; /* the bytes before the first row: the kind, the relation's OID, the kind of the row */

/* An automaton of `automata.py`. */
typedef struct {
    const unsigned char *class_of;
    const uint16_t *next;
    unsigned start;
} Automaton;

/* What is right in a column. Texts are if they need not be checked, or the automaton accepts them; the list of the
   others, if there is one, takes them. The list of values takes all of them. */
typedef struct {
    int null, unchanged, text, is_checked;
    Automaton automaton;
    PyObject *others, *values;
} Column;

typedef struct {
    char letter;
    const unsigned char *start;
    Py_ssize_t size;
} Value;

/* A row's columns, its values, and the object that will look at what the lists take. */
typedef struct {
    Py_ssize_t count;
    Column *columns;
    Value *values;
    PyObject *settler;
    int has_lists;
} Row;

/* One or two rows. `source` owns all that they refer to. */
typedef struct {
    PyObject *source;
    int count;
    Row rows[2];
} Form;

/* The functions that read forms return 0 with an exception. */

static int
read_automaton(Automaton *automaton, PyObject *bytes)
{
    const Py_ssize_t bytes_of_class = 256, size = PyBytes_GET_SIZE(bytes) - bytes_of_class;
    const unsigned char *class_of = (const unsigned char *)PyBytes_AS_STRING(bytes);
    const uint16_t *next = (const uint16_t *)(class_of + bytes_of_class);
    unsigned classes = 1;
    for (int byte = 0; size > 0 && byte < bytes_of_class; byte++) {
        classes = class_of[byte] >= classes ? class_of[byte] + 1u : classes;
    }
    Py_ssize_t places = size / (Py_ssize_t)sizeof *next, valid = places >= 2 * (Py_ssize_t)classes;
    for (Py_ssize_t place = 0; valid && place < places; place++) {
        valid = next[place] + (Py_ssize_t)classes <= places;
    }
    if (!valid) {
        PyErr_SetString(PyExc_ValueError, "an automaton leads out of its states");
        return 0;
    }
    *automaton = (Automaton){class_of, next, classes};
    return 1;
}

static int
is_tuple(PyObject *object)
{
    if (!PyTuple_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "a form consists of tuples");
        return 0;
    }
    return 1;
}

static int
read_column(Column *column, PyObject *source)
{
    const char *letters;
    PyObject *automaton;
    if (!is_tuple(source) || !PyArg_ParseTuple(source, "sOOO", &letters, &automaton, &column->others, &column->values)) {
        return 0;
    }
    column->null = strchr(letters, 'n') != NULL;
    column->unchanged = strchr(letters, 'u') != NULL;
    column->text = strchr(letters, 't') != NULL;
    column->is_checked = automaton != Py_None || column->others != Py_None;
    if (automaton != Py_None && !PyBytes_Check(automaton)) {
        PyErr_SetString(PyExc_TypeError, "an automaton consists of bytes");
        return 0;
    }
    column->others = PyList_Check(column->others) ? column->others : NULL;
    column->values = PyList_Check(column->values) ? column->values : NULL;
    return automaton == Py_None || read_automaton(&column->automaton, automaton);
}

static int
read_row(Row *row, PyObject *source)
{
    PyObject *columns;
    if (!is_tuple(source) || !PyArg_ParseTuple(source, "O!O", &PyTuple_Type, &columns, &row->settler)) {
        return 0;
    }
    row->count = PyTuple_GET_SIZE(columns);
    row->columns = PyMem_Calloc((size_t)row->count, sizeof *row->columns);
    row->values = PyMem_Calloc((size_t)row->count, sizeof *row->values);
    if (row->columns == NULL || row->values == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t place = 0; place < row->count; place++) {
        Column *column = &row->columns[place];
        if (!read_column(column, PyTuple_GET_ITEM(columns, place))) {
            return 0;
        }
        row->has_lists |= column->others != NULL || column->values != NULL;
    }
    return 1;
}

static void
free_form(Form *form)
{
    for (int place = 0; place < 2; place++) {
        PyMem_Free(form->rows[place].columns);
        PyMem_Free(form->rows[place].values);
    }
    Py_XDECREF(form->source);
    PyMem_Free(form);
}

static void
free_capsule(PyObject *capsule)
{
    free_form(PyCapsule_GetPointer(capsule, FORM));
}

PyObject *
read_form(PyObject *Py_UNUSED(module), PyObject *source)
{
    if (!is_tuple(source)) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(source) < 1 || PyTuple_GET_SIZE(source) > 2) {
        PyErr_SetString(PyExc_ValueError, "a form has one or two rows");
        return NULL;
    }
    Form *form = PyMem_Calloc(1, sizeof *form);
    if (form == NULL) {
        return PyErr_NoMemory();
    }
    form->source = Py_NewRef(source);
    form->count = (int)PyTuple_GET_SIZE(source);
    for (int place = 0; place < form->count; place++) {
        if (!read_row(&form->rows[place], PyTuple_GET_ITEM(source, place))) {
            free_form(form);
            return NULL;
        }
    }
    PyObject *result = PyCapsule_New(form, FORM, free_capsule);
    if (result == NULL) {
        free_form(form);
    }
    return result;
}

static int
accepts(const Automaton *automaton, const unsigned char *text, Py_ssize_t size)
{
    unsigned state = automaton->start;
    for (const unsigned char *end = text + size; text < end && state; text++) {
        state = automaton->next[state + automaton->class_of[*text]];
    }
    return state && automaton->next[state];
}

/* Whether a row of right values follows, which are taken apart. */
static int
split(Rest *rest, const Row *row)
{
    if (number(rest, 2) != (uint64_t)row->count || rest->is_short) {
        return 0;
    }
    for (Py_ssize_t place = 0; place < row->count; place++) {
        const Column *column = &row->columns[place];
        char letter = (char)number(rest, 1);
        uint64_t size = letter == 't' ? number(rest, 4) : 0;
        if (rest->is_short || size > (uint64_t)left(rest)) {
            return 0;
        }
        row->values[place] = (Value){letter, rest->next, (Py_ssize_t)size};
        rest->next += size;
        if (!(letter == 't' ? column->text : letter == 'n' ? column->null : letter == 'u' && column->unchanged)) {
            return 0;
        }
    }
    return 1;
}

static int
is_accepted(const Column *column, const Value *value)
{
    return !column->is_checked || value->letter != 't' ||
           (column->automaton.next != NULL && accepts(&column->automaton, value->start, value->size));
}

static int
has_usual_texts(const Row *row)
{
    for (Py_ssize_t place = 0; place < row->count; place++) {
        if (row->columns[place].others == NULL && !is_accepted(&row->columns[place], &row->values[place])) {
            return 0;
        }
    }
    return 1;
}

/* Whether the values of an old key differ from those of the new row. */
static int
differs(const Row *old, const Row *new)
{
    for (Py_ssize_t place = 0; place < old->count && place < new->count; place++) {
        const Value *before = &old->values[place], *after = &new->values[place];
        if (before->letter == 't' && (after->letter != 't' || before->size != after->size ||
                memcmp(before->start, after->start, (size_t)before->size) != 0)) {
            return 1;
        }
    }
    return 0;
}

static int
is_usual(const Form *form, Rest *rest, int has_old_key)
{
    const Row *first = &form->rows[0], *second = &form->rows[1];
    if (!split(rest, first)) {
        return 0;
    }
    if (form->count == 2 && !(number(rest, 1) == 'N' && split(rest, second) && (!has_old_key || differs(first, second)))) {
        return 0;
    }
    return left(rest) == 0 && has_usual_texts(first) && (form->count == 1 || has_usual_texts(second));
}

/* Functions that append return 0 with an exception. */
static int
append(PyObject *list, const Value *value, PyObject *settler, PyObject *settlers)
{
    if (PyList_GET_SIZE(list) == 0 && PyList_Append(settlers, settler) < 0) {
        return 0;
    }
    PyObject *object = value->letter != 't'
                           ? Py_NewRef(Py_None)
                           : PyUnicode_DecodeUTF8((const char *)value->start, value->size, "surrogateescape");
    int is_appended = object != NULL && PyList_Append(list, object) == 0;
    Py_XDECREF(object);
    return is_appended;
}

static int
append_row(const Row *row, PyObject *settlers)
{
    for (Py_ssize_t place = 0; row->has_lists && place < row->count; place++) {
        const Column *column = &row->columns[place];
        const Value *value = &row->values[place];
        if (column->values != NULL && !append(column->values, value, row->settler, settlers)) {
            return 0;
        }
        if (column->others != NULL && !is_accepted(column, value) &&
            !append(column->others, value, row->settler, settlers)) {
            return 0;
        }
    }
    return 1;
}

/* Whether an object is a number, or None, which counts as 0. */
static int
read_number(PyObject *object, uint64_t *result)
{
    *result = 0;
    if (object != Py_None) {
        *result = PyLong_Check(object) ? PyLong_AsUnsignedLongLong(object) : UINT64_MAX;
        if (*result == UINT64_MAX) {
            PyErr_Clear();
            return 0;
        }
    }
    return 1;
}

/* Whether the position and the transaction of a frame fit those of the changes before, so that the position moves. */
static int
is_in_place(PyObject *frame, uint64_t xid, uint64_t *position, uint64_t end)
{
    uint64_t lsn, frame_xid;
    if (!PyTuple_Check(frame) || PyTuple_GET_SIZE(frame) < 3 || !PyBytes_CheckExact(PyTuple_GET_ITEM(frame, 2)) ||
        !read_number(PyTuple_GET_ITEM(frame, 0), &lsn) || !read_number(PyTuple_GET_ITEM(frame, 1), &frame_xid) ||
        (frame_xid && frame_xid != xid) || (lsn && (lsn < *position || lsn >= end))) {
        return 0;
    }
    *position = lsn ? lsn : *position;
    return 1;
}

/* The form of the changes that begin so; NULL, without an exception if there is none. */
static const Form *
find(PyObject *forms, const char *head)
{
    PyObject *key = PyBytes_FromStringAndSize(head, HEAD);
    PyObject *capsule = key == NULL ? NULL : PyDict_GetItemWithError(forms, key);
    Py_XDECREF(key);
    return capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, FORM);
}

PyObject *
count_usual(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *frames, *forms, *transaction, *first, *last, *settlers;
    Py_ssize_t start, place;
    if (!PyArg_ParseTuple(arguments, "O!nO!OOOO!", &PyList_Type, &frames, &start, &PyDict_Type, &forms, &transaction, &first,
            &last, &PyList_Type, &settlers)) {
        return NULL;
    }
    const char *head = NULL;
    const Form *form = NULL;
    uint64_t xid, position, end;
    start = start < 0 ? 0 : start;
    if (!read_number(transaction, &xid) || !read_number(first, &position) || !read_number(last, &end)) {
        return Py_BuildValue("iO", 0, first); /* the stream has positions that are none */
    }
    for (place = start; place < PyList_GET_SIZE(frames); place++) {
        PyObject *frame = PyList_GET_ITEM(frames, place);
        uint64_t next = position;
        if (!is_in_place(frame, xid, &next, end)) {
            break;
        }
        const char *data = PyBytes_AS_STRING(PyTuple_GET_ITEM(frame, 2));
        Py_ssize_t size = PyBytes_GET_SIZE(PyTuple_GET_ITEM(frame, 2));
        if (size < HEAD) {
            break;
        }
        if (head == NULL || memcmp(head, data, HEAD) != 0) {
            form = find(forms, data);
            head = data;
        }
        Rest rest = {(const unsigned char *)data + HEAD, (const unsigned char *)data + size, 0};
        if (form == NULL || !is_usual(form, &rest, data[HEAD - 1] == 'K')) {
            break;
        }
        if (!append_row(&form->rows[0], settlers) || !append_row(&form->rows[1], settlers)) {
            return NULL;
        }
        position = next;
    }
    return PyErr_Occurred() ? NULL : Py_BuildValue("nK", place - start, (unsigned long long)position);
}
