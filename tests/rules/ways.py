"""The ways in which one function gets another name `v` of a tensor `w`, on a storage `s` of 512 bytes.

`T8` stands for the type of `w`, eight elements; `e` has one element, `g` is a condition.
"""

from __future__ import annotations

FILL_AND_SUM = """
@T.prim_func(private=True, s_tir=True)
def fill(b: T.handle):
    n = T.int64()
    q = T.match_buffer(b, (n,), "float32", offset_factor=1)
    for i in range(n):
        q[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def add_up(b: T.handle, c: T.handle):
    n = T.int64()
    p = T.match_buffer(b, (n,), "float32", offset_factor=1)
    q = T.match_buffer(c, (1,), "float32", offset_factor=1)
    q[0] = T.float32(0)
    for j in range(n):
        q[0] = q[0] + p[j]
"""
KERNELS = f"""{FILL_AND_SUM}
@T.prim_func(private=True, s_tir=True)
def half(b: T.handle):
    q = T.match_buffer(b, (8,), "float32", offset_factor=1)
    for i in range(4):
        q[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def increase(b: T.handle):
    q = T.match_buffer(b, (8,), "float32", offset_factor=1)
    for i in range(8):
        with T.sblock("increase"):
            vi = T.axis.spatial(8, i)
            q[vi] = q[vi] + T.float32(1)

@T.prim_func(private=True, s_tir=True)
def at_start(b: T.Buffer((8,), "float32"), c: T.Buffer((1,), "float32")):
    c[0] = b[0]
"""
FUNCTIONS = """
@R.function(private=True, pure=False)
def same(a: T8) -> T8:
    return a

@R.function(private=True, pure=False)
def seen(a: T8) -> T8:
    o = R.memory.view(a, R.shape([8]), "float32", 0)
    return o

@R.function(private=True, pure=False)
def twice(a: T8) -> R.Tuple(T8, T8):
    return (a, a)

@R.function(private=True, pure=False)
def nested(a: T8, b: R.Tensor((1,), "float32")) -> R.Tuple(R.Tensor((1,), "float32"), R.Tuple(T8, T8)):
    return (b, (a, a))

@R.function(private=True, pure=False)
def of_tuple(t: R.Tuple(R.Tensor((1,), "float32"), T8)) -> T8:
    o = t[1]
    return o

@R.function(private=True, pure=False)
def either(a: T8, b: T8, g: R.Tensor((), "bool")) -> T8:
    if g:
        o = a
    else:
        o = b
    return o

@R.function(private=True, pure=False)
def again(a: T8, g: R.Tensor((), "bool")) -> T8:
    if g:
        o = Module.again(a, g)
    else:
        o = a
    return o

@R.function(private=True, pure=False)
def packs(a: T8) -> T8:
    o = R.call_packed("tests.same", a, ty_args=T8)
    return o
"""
INNER = ["@R.function(pure=False)", "def inner(a: R.Tensor((1,), 'float32')) -> T8:"]
KNOWN = {
    "a name": ["v = w"],
    "a cast": ["v = R.match_cast(w, T8)"],
    "a view": ["v = R.memory.view(w, R.shape([8]), 'float32', 0)"],
    "a reshape": ["v = R.call_packed('vm.builtin.reshape', w, R.shape([8]), ty_args=T8)"],
    "a copy of the reference": ["v = R.call_packed('vm.builtin.copy', w, ty_args=T8)"],
    "a field": ["t = (e, (w, e))", "t1 = t[1]", "v = t1[0]"],
    "a tuple of the machine": [
        "t = R.call_packed('vm.builtin.make_tuple', e, w, ty_args=R.Tuple(R.Tensor((1,), 'float32'), T8))",
        "v = t[1]",
    ],
    "a field by the machine": [
        "t = (w, w)",
        "v = R.call_packed('vm.builtin.tuple_getitem', t, 0, ty_args=T8)",
    ],
    "branches": ["if g:", "    va = w", "    v = va", "else:", "    vb = Module.same(w)", "    v = vb"],
    "a function": ["v = Module.same(w)"],
    "a view by a function": ["v = Module.seen(w)"],
    "a field by a function": ["t = Module.twice(w)", "v = t[1]"],
    "a field of a field by a function": ["t = Module.nested(w, e)", "t1 = t[1]", "v = t1[0]"],
    "a function of a tuple": ["v = Module.of_tuple((e, w))"],
    "a function of a tuple with a name": ["t = (e, w)", "v = Module.of_tuple(t)"],
    "a function of two": ["v = Module.either(w, w, g)"],
    "a recursion": ["v = Module.again(w, g)"],
    "a name of a function": ["f = Module.same", "v = f(w)"],
    "a function in a tuple": ["t = (w, Module.same)", "f = t[1]", "v = f(w)"],
    "a closure": ["c = R.make_closure(Module.same, ())", "v = R.invoke_closure(c, (w,), ty_args=T8)"],
    "a closure that holds it": [
        "c = R.make_closure(Module.same, (w,))",
        "v = R.invoke_closure(c, (), ty_args=T8)",
    ],
    "a function inside": [
        "@R.function(pure=False)",
        "def inner(a: T8) -> T8:",
        "    return a",
        "v = inner(w)",
    ],
    "captured": [*INNER, "    return w", "v = inner(e)"],
    "captured and given to a function": [*INNER, "    o = Module.same(w)", "    return o", "v = inner(e)"],
    "captured by what a branch chooses": [
        *INNER,
        "    return w",
        "if g:",
        "    fa = inner",
        "    f = fa",
        "else:",
        "    fb = inner",
        "    f = fb",
        "v = f(e)",
    ],
    "captured by what is called inside": [
        *INNER,
        "    return w",
        "@R.function(pure=False)",
        "def outer(a: R.Tensor((1,), 'float32')) -> T8:",
        "    o = inner(a)",
        "    return o",
        "v = outer(e)",
    ],
}
"""Ways of which all is known: what is said of `w` is said of `v`."""
UNKNOWN = {
    "a packed function": ["v = R.call_packed('tests.same', w, ty_args=T8)"],
    "a pure packed function": ["v = R.call_pure_packed('tests.same', w, ty_args=T8)"],
    "a function that calls a packed one": ["v = Module.packs(w)"],
    "kept and given back": [
        "k = R.call_packed('tests.keep', w, ty_args=R.Tuple)",
        "v = R.call_packed('tests.kept', ty_args=T8)",
    ],
}
"""Ways of which nothing is known: `v` may be `w`."""
