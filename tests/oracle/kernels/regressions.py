"""Bodies of which something was once said that is not so."""

from __future__ import annotations

from tests.oracle.kernels.bodies import Body, Do, Inside

_INIT_AT_A_REDUCED_ELEMENT = Inside(
    'with T.sblock("b1"):',
    (
        Do("v1i = T.axis.spatial(64, i)"),
        Do("v1j = T.axis.reduce(64, j)"),
        Inside("with T.init():", (Do("y[v1j // m, v1j % m] = T.float32(2)"),)),
        Do("y[v1j // m, v1j % m] = y[v1j // m, v1j % m] + x[v1i, v1j]"),
    ),
)

FOUND = {
    "an element initialised for the first step only": Body(
        "n, m",
        "n, m",
        (Inside("for i in range(n):", (Inside("for j in range(m):", (_INIT_AT_A_REDUCED_ELEMENT,)),)),),
    ),
    "an index in front of the buffer in a loop without a step": Body(
        "n, m", "n, m", (Inside("for i in T.serial(1, m, step=3):", (Do("y[i, i] = x[n - 1 - 0, 0]"),)),)
    ),
    "the greater of two elements may be the same one": Body(
        "n",
        "n",
        (Inside("for i in range(n):", (Do("y[0] = x[i]"), Do("y[i] = T.max(x[i], x[n - 1 - i])"))),),
    ),
    "contents decide which element is taken": Body(
        "8",
        "8",
        (
            Inside(
                "for i in range(8):",
                (Do("y[i] = T.if_then_else(x[i] > T.float32(0), x[i // 2], y[i])"),),
            ),
        ),
    ),
    "contents decide which of two equal numbers is taken": Body(
        "n, m",
        "n, m",
        (
            Inside(
                "for i in range(n):",
                (Do("y[i, 0] = T.if_then_else(x[i, 0] > T.float32(0), z[i], z[0])"),),
            ),
        ),
    ),
    "both elements are one where there is one column": Body(
        "n, m",
        "n, m",
        (
            Inside(
                "for j in range(m):",
                (Do("y[j // m, j % m] = T.if_then_else(x[0, 0] > T.float32(0), y[j // m, j % m], y[j, 0])"),),
            ),
        ),
    ),
    "the last steps of a loop of more than three": Body(
        "n, 4",
        "n, 4",
        (
            Inside("for i in range(1, 4):", (Do("y[0, 0] = x[0, i] + x[i, 0]"),)),
            Inside(
                "for i in range(n - 1):",
                (Do("y[0, 0] = T.if_then_else(i < 2, x[i // 4, i % 4], y[0, i])"),),
            ),
        ),
    ),
    "what one step of a reduction initialises, and two do not": Body(
        "n * m",
        "n, m",
        (
            Do("y[0, 0] = y[0, 0] + y[0, 0]"),
            Inside(
                "for i in range(n - 1):",
                (
                    Inside(
                        'with T.sblock("b1"):',
                        (
                            Do("v1i = T.axis.reduce(64, i)"),
                            Inside("with T.init():", (Do("y[0, v1i] = T.float32(2)"),)),
                            Do("y[0, v1i] = y[0, v1i] + x[v1i]"),
                        ),
                    ),
                ),
            ),
        ),
    ),
    "a condition decides about a loop without a step": Body(
        "n, m",
        "n, m",
        (
            Inside(
                "for i in range(n - 1):",
                (
                    Inside(
                        "if x[i, i] > T.float32(0):",
                        (Inside("for j in range(n - 2):", (Do("y[i, j] = T.float32(2)"), Do("continue"))),),
                    ),
                ),
            ),
        ),
    ),
    "a way out in front of an inner loop": Body(
        "n, m",
        "n",
        (
            Inside(
                "for i in T.serial(1, 3, step=3):",
                (Do("continue"), Inside("for j in range(n - 1):", ()), Do("y[i] = T.float32(2)")),
            ),
        ),
    ),
    "a size seems to decide what another one decides": Body(
        "m",
        "n",
        (
            Inside("if m >= n:", (Do("y[n - 1] = x[0]"),)),
            Do("c[0] = T.float32(2)"),
            Inside('while c[0] < T.Cast("int64", x[0]) % 2:', (Do("y[0] = T.float32(2)"),)),
        ),
    ),
    "the last element is read in the first step of the loop that fills all": Body(
        "n, 4",
        "n * 4",
        (
            Inside(
                "for i in range(n * 4):",
                (Do("y[i] = T.float32(2)"), Do("y[n * 4 - 1 - 0] = y[n * 4 - 1 - 0] + x[0, 0]")),
            ),
        ),
    ),
    "the numbers of one run are the same by chance": Body(
        "8, 3",
        "8, 3",
        (
            Inside("for i in range(8):", (Inside("for j in range(3):", (Do("y[0, j] = z[i] + x[i, j]"),)),)),
            Inside(
                "for i in range(8):",
                (Inside("for j in range(3):", (Do("y[i, 0] = x[i, j] - z[i] * T.float32(3)"),)),),
            ),
        ),
    ),
    "stored anew before a way out that skips nothing": Body(
        "n, 4",
        "n, 4",
        (
            Do("y[0, 0] = y[0, 0] + x[0, 0]"),
            Inside(
                "for j in range(n):",
                (Inside("for k in range(4):", (Do("y[j, k] = T.float32(2)"), Do("continue"))),),
            ),
        ),
    ),
    "a loop with a step has fewer steps than its extent": Body(
        "n, m",
        "n, m",
        (
            Inside(
                "for i in T.serial(1, m, step=3):",
                (
                    Inside("for j in range(n):", (Do("y[j, 0] = s[0]"),)),
                    Do("s[0] = y[0, i]"),
                ),
            ),
        ),
    ),
    "an index of an own buffer that nobody reads": Body(
        "n",
        "n",
        (Do("z[T.Cast('int64', x[0]) % 4] = T.float32(2)"), Do("y[0] = T.float32(3)")),
    ),
    "a parameter in which nothing is stored at one size": Body(
        "n",
        "n",
        (
            Inside("for i in range(n - 1):", (Do("x[i] = x[i] + T.float32(3)"),)),
            Inside("for i in range(n):", (Do("y[i] = T.float32(2)"),)),
        ),
    ),
    "an index that has one value only at one size, behind long loops": Body(
        "m", "n", (Do("s[0] = T.float32(2)"), Do("y[T.Cast('int64', x[0]) % T.max(n, 1)] = T.float32(2)"))
    ),
    "reads of no use in what is not left at few sizes only": Body(
        "n",
        "m",
        (
            Inside(
                "for i in range(n - 1):",
                (
                    Do(
                        "x[i] = (x[i] * T.float32(2) - x[i] - x[i]) + "
                        "T.Cast('float32', T.Cast('int64', x[0 + 1]) * 2 % 2)"
                    ),
                ),
            ),
            Inside(
                "for i in range(m):",
                (Inside("for j in range(3):", (Do("s[0] = s[0] + x[i * 4 + j]"),)),),
            ),
        ),
    ),
    "an index that leaves the memory, or stores what is there": Body(
        "n",
        "n",
        (
            Inside("for i in range(n):", (Do("y[i] = T.float32(2)"),)),
            Do("s[0] = T.float32(2)"),
            Do("y[T.Cast('int64', x[0]) % 4] = T.float32(2)"),
        ),
    ),
    "contents that matter where they are a multiple of a size": Body(
        "n, m",
        "n, m",
        (
            Do(
                "x[0, 0] = T.if_then_else(T.Cast('int64', x[0, 0]) % T.max(n, 1) == 0, x[0, 0], "
                "T.Cast('float32', T.Cast('int64', x[0, 0]) * 2 % 2))"
            ),
        ),
    ),
    "contents that say how often the same is stored, where one size is small and the other one is not": Body(
        "m",
        "n",
        (
            Inside(
                "for i in range(T.max(n - m - 2, 0)):",
                (
                    Inside(
                        "while c[0] < T.Cast('int64', x[i]) % 3 + 1:",
                        (Do("y[i] = T.float32(2)"), Do("c[0] = c[0] + T.int64(1)")),
                    ),
                ),
            ),
            Inside(
                "for i in T.serial(1, m, step=3):",
                (
                    Do("y[i] = y[i] + x[i] - x[i] * T.float32(3)"),
                    Do("y[0] = x[0] * T.float32(2)"),
                    Inside(
                        "if n >= m + 3:",
                        (
                            Inside("for j in range(m):", (Do("s[0] = s[0] + x[i * m + j]"),)),
                            Do("y[0] = T.float32(0)"),
                        ),
                    ),
                ),
            ),
        ),
    ),
    "what comes to the same at one size, and takes much work at a larger one": Body(
        "n",
        "n",
        (
            Do("y[0] = x[0] * T.float32(2)"),
            Inside(
                "for i in range(n):",
                (
                    Inside(
                        "for j in T.serial(0, n, step=1):",
                        (
                            Do(
                                "y[T.max(n - 1 - 1, 0)] = y[T.max(n - 1 - 1, 0)] + x[T.min(3, n - 1)]"
                                " - x[(j * 5) % n] * T.float32(3)"
                            ),
                        ),
                    ),
                ),
            ),
        ),
    ),
}
