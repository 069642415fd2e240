/* The module dask_graphflow.kernels._precompiled: it calls the kernels that precompile.py compiled into this
 * library, and has the functions of Numba's runtime that they call.
 *
 * An entry is a function int32 entry(const int64 *words, int64 *out). The words are the arguments one after
 * another: an array is its address and its shape, a tuple its items, and a number 8 bytes. None has no word.
 * The kinds of the arguments are text, which names the entry: the letter of each dtype in NumPy, for an array
 * followed by its dimensions and by w if it can be written to or r otherwise, n for None, and a tuple in
 * parentheses. An entry returns 0 and its results in out, or 1 and the address and length of a pickled
 * exception. The kinds of results are text, too. The words of an array are the block of memory that it owns,
 * or 0 if it is part of an argument, its address and its shape. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 512, WORDS = 128, ARRAYS = 48, RESULTS = 24, DIMENSIONS = 4 };

typedef struct {
    char kinds[KINDS];
    int64_t words[WORDS];
    Py_buffer arrays[ARRAYS];
    int letters, count, held;
} arguments;

/* The start of Numba's struct MemInfo, of which compiled code reads `refct` and `data`. */
typedef struct {
    size_t refct;
    void *dtor, *dtor_info, *data;
    size_t size;
    void *allocator;
} block;

static int letter(arguments *to, char kind)
{
    if (to->letters == KINDS)
        return 0;
    to->kinds[to->letters++] = kind;
    return 1;
}

static int word(arguments *to, const void *from)
{
    if (to->count == WORDS)
        return 0;
    memcpy(&to->words[to->count++], from, 8);
    return 1;
}

static int number(arguments *to, char kind, const void *at)
{
    int64_t whole;
    double real;
    switch (kind) {
    case 'd': return letter(to, 'd') && word(to, at);
    case 'l': case 'q': return letter(to, 'q') && word(to, at);
    case 'L': case 'Q': return letter(to, 'Q') && word(to, at);
    case 'i': whole = *(const int32_t *)at; break;
    case 'I': whole = *(const uint32_t *)at; break;
    case 'B': whole = *(const uint8_t *)at; break;
    case '?': whole = *(const uint8_t *)at; break;
    case 'f': real = *(const float *)at; return letter(to, 'f') && word(to, &real);
    default: return 0;
    }
    return letter(to, kind) && word(to, &whole);
}

/* Append the kinds and words of a value. Return whether an entry can take it; this may set an error. */
static int flatten(arguments *to, PyObject *value)
{
    if (PyLong_CheckExact(value)) {
        long long whole = PyLong_AsLongLong(value);
        return !(whole == -1 && PyErr_Occurred()) && number(to, 'q', &whole);
    }
    if (value == Py_None)
        return letter(to, 'n');
    if (PyTuple_Check(value)) {
        if (!letter(to, '('))
            return 0;
        for (Py_ssize_t i = 0, size = PyTuple_Size(value); i < size; i++)
            if (!flatten(to, PyTuple_GetItem(value, i)))
                return 0;
        return letter(to, ')');
    }
    if (PyFloat_CheckExact(value)) {
        double real = PyFloat_AsDouble(value);
        return number(to, 'd', &real);
    }
    if (PyBool_Check(value)) {
        int64_t truth = value == Py_True;
        return letter(to, '?') && word(to, &truth);
    }
    if (to->held == ARRAYS)
        return 0;
    Py_buffer *array = &to->arrays[to->held];
    if (PyObject_GetBuffer(value, array, PyBUF_FORMAT | PyBUF_STRIDES))
        return 0;
    to->held++;
    if (array->format[0] == 0 || array->format[1] != 0)
        return 0;
    if (array->ndim == 0)
        return number(to, array->format[0], array->buf);
    if (!PyBuffer_IsContiguous(array, 'C') || (uintptr_t)array->buf % array->itemsize)
        return 0;
    if (!letter(to, array->format[0]) || !letter(to, '0' + array->ndim)
        || !letter(to, array->readonly ? 'r' : 'w') || !word(to, &array->buf))
        return 0;
    for (int i = 0; i < array->ndim; i++)
        if (!word(to, &array->shape[i]))
            return 0;
    return 1;
}

/* Memory of an array that a kernel returned: a block, or part of the memory of an argument. */
typedef struct {
    PyObject_HEAD
    block *made;
    PyObject *owner;
    void *data;
    Py_ssize_t item, shape[DIMENSIONS], strides[DIMENSIONS];
    int dimensions, readonly;
    char format[2];
} memory;

static PyTypeObject *memory_type;

static int expose(PyObject *self, Py_buffer *view, int flags)
{
    memory *of = (memory *)self;
    Py_ssize_t size = of->dimensions ? of->shape[0] * of->strides[0] : of->item;
    if (PyBuffer_FillInfo(view, self, of->data, size, of->readonly, flags))
        return -1;
    view->itemsize = of->item;
    view->ndim = of->dimensions;
    view->format = flags & PyBUF_FORMAT ? of->format : NULL;
    view->shape = flags & PyBUF_ND ? of->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? of->strides : NULL;
    return 0;
}

static void forget(PyObject *self)
{
    memory *of = (memory *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (of->made != NULL && --of->made->refct == 0)
        free(of->made);
    Py_XDECREF(of->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot memory_slots[] = {{Py_bf_getbuffer, expose}, {Py_tp_dealloc, forget}, {0, NULL}};

static PyType_Spec memory_spec = {
    "dask_graphflow.kernels._precompiled.Memory", sizeof(memory), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, memory_slots,
};

static Py_ssize_t bytes_of(char kind)
{
    switch (kind) {
    case 'i': case 'I': case 'f': return 4;
    case 'B': case '?': return 1;
    default: return 8;
    }
}

/* Return an array from its words. An argument that a kernel returns stays the same object, because each
 * round of a loop would otherwise wrap it once more. */
static PyObject *array(const arguments *from, char kind, int dimensions, const int64_t *words)
{
    memory *made = PyObject_New(memory, memory_type);
    if (made == NULL)
        return NULL;
    made->made = (block *)(uintptr_t)words[0];
    made->owner = NULL;
    made->data = (void *)(uintptr_t)words[1];
    made->dimensions = dimensions;
    made->readonly = 0;
    made->format[0] = kind;
    made->format[1] = 0;
    Py_ssize_t size = made->item = bytes_of(kind);
    for (int i = dimensions - 1; i >= 0; i--) {
        made->strides[i] = size;
        size *= made->shape[i] = (Py_ssize_t)words[2 + i];
    }
    for (int i = 0; made->made == NULL && made->owner == NULL && i < from->held; i++) {
        const Py_buffer *whole = &from->arrays[i];
        char *start = whole->buf, *data = made->data;
        if (data < start || data + size > start + whole->len)
            continue;
        made->owner = Py_NewRef(whole->obj);
        made->readonly = whole->readonly;
        if (size == whole->len && kind == whole->format[0] && dimensions == whole->ndim
            && !memcmp(made->shape, whole->shape, dimensions * sizeof(Py_ssize_t))) {
            Py_DECREF(made);
            return Py_NewRef(whole->obj);
        }
    }
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *answer = numpy == NULL ? NULL : PyObject_CallMethod(numpy, "asarray", "O", made);
    Py_XDECREF(numpy);
    Py_DECREF(made);
    return answer;
}

/* Return the next result, and move on in the kinds and words. */
static PyObject *result(const arguments *from, const char **kinds, const int64_t **out)
{
    char kind = *(*kinds)++;
    if (kind == 'n')
        return Py_NewRef(Py_None);
    if (kind == '(') {
        PyObject *list = PyList_New(0);
        while (**kinds != ')') {
            PyObject *item = result(from, kinds, out);
            if (item == NULL || list == NULL || PyList_Append(list, item))
                Py_CLEAR(list);
            Py_XDECREF(item);
        }
        ++*kinds;
        PyObject *tuple = list == NULL ? NULL : PyList_AsTuple(list);
        Py_XDECREF(list);
        return tuple;
    }
    const int64_t *at = *out;
    if (**kinds >= '0' && **kinds <= '9') {
        int dimensions = *(*kinds)++ - '0';
        *out += 2 + dimensions;
        return array(from, kind, dimensions, at);
    }
    double real;
    ++*out;
    switch (kind) {
    case 'd': memcpy(&real, at, 8); return PyFloat_FromDouble(real);
    case 'Q': return PyLong_FromUnsignedLongLong((uint64_t)*at);
    case '?': return PyBool_FromLong((long)(*at & 1));
    default: return PyLong_FromLongLong(*at);
    }
}

/* Raise an exception that a kernel raised: a pickled class and its arguments. */
static PyObject *raise(const int64_t *out)
{
    PyObject *pickle = PyImport_ImportModule("pickle");
    PyObject *made = pickle == NULL ? NULL
        : PyObject_CallMethod(pickle, "loads", "y#", (const char *)(uintptr_t)out[0], (Py_ssize_t)out[1]);
    if (made != NULL)
        PyErr_SetObject(PyTuple_GetItem(made, 0), PyTuple_GetItem(made, 1));
    Py_XDECREF(pickle);
    Py_XDECREF(made);
    return NULL;
}

/* call(entries, arguments): run an entry without the GIL, or return NotImplemented if none has these types. */
static PyObject *call(PyObject *self, PyObject *const *from, Py_ssize_t count)
{
    arguments to;
    to.letters = to.count = to.held = 0;
    PyObject *answer = NULL;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "call takes the entries and the arguments");
        return NULL;
    }
    if (flatten(&to, from[1])) {
        PyObject *kinds = PyBytes_FromStringAndSize(to.kinds, to.letters);
        PyObject *entry = kinds == NULL ? NULL : PyDict_GetItemWithError(from[0], kinds);
        Py_XDECREF(kinds);
        if (entry != NULL) {
            int32_t (*run)(const int64_t *, int64_t *) = PyLong_AsVoidPtr(PyTuple_GetItem(entry, 0));
            const char *returns = PyBytes_AsString(PyTuple_GetItem(entry, 1));
            int64_t out[RESULTS];
            const int64_t *first = out;
            int32_t failed;
            Py_BEGIN_ALLOW_THREADS
            failed = run(to.words, out);
            Py_END_ALLOW_THREADS
            answer = failed ? raise(out) : result(&to, &returns, &first);
        } else if (!PyErr_Occurred())
            answer = Py_NewRef(Py_NotImplemented);
    } else {
        PyErr_Clear();
        answer = Py_NewRef(Py_NotImplemented);
    }
    while (to.held)
        PyBuffer_Release(&to.arrays[--to.held]);
    return answer;
}

/* level(): the highest level of entries that this processor can run, or -1. The levels are x86-64-v2
 * and v3. Other architectures have one. */
static PyObject *level(PyObject *self, PyObject *none)
{
    long highest = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
        highest = -1;
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        highest = 1;
#endif
    return PyLong_FromLong(highest);
}

static PyMethodDef methods[] = {
    {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL},
    {"level", level, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_precompiled", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__precompiled(void)
{
    memory_type = (PyTypeObject *)PyType_FromSpec(&memory_spec);
    return memory_type == NULL ? NULL : PyModule_Create(&module);
}

void *NRT_MemInfo_alloc_aligned(size_t size, unsigned align)
{
    block *made = malloc(sizeof(block) + size + align);
    if (made == NULL)
        return NULL; /* the kernel raises MemoryError */
    uintptr_t data = (uintptr_t)(made + 1);
    made->refct = 1;
    made->dtor = made->dtor_info = made->allocator = NULL;
    made->data = (void *)((data + align - 1) / align * align);
    made->size = size;
    return made;
}

void NRT_MemInfo_call_dtor(void *made) { free(made); }
void NRT_Free(void *made) { free(made); }

double numba_frexp(double x, int *exponent)
{
    *exponent = 0;
    return isfinite(x) && x != 0 ? frexp(x, exponent) : x;
}

double numba_ldexp(double x, int exponent) { return isfinite(x) && x != 0 ? ldexp(x, exponent) : x; }
