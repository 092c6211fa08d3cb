"""Taking one thing that cannot be read out of the tree of a unit."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from relax_lint.sources.dialects.erasing import IsUnsaid, erased
from relax_lint.sources.dialects.rule import Context, keyword, replace_all
from relax_lint.sources.opaque.places import (
    Found,
    Place,
    Point,
    assigned_names,
    functions_of,
    holds,
    innermost,
    read_names,
    spelled,
)
from relax_lint.sources.opaque.values import (
    opaque_value,
    packed_call,
    relax_name,
    unknown_type,
)


@dataclass
class Skip:
    """What was taken out: the function that it belongs to (None for the module as a whole), and whether it
    could not be read only because of what was taken out before.
    """

    function: str | None
    follows: bool = False


@dataclass
class Tree:
    """The tree of a unit, which is changed in place. `touched` are the statements that were replaced, and how
    often; `unread` the names that hold what was not read, by function; `dropped` the functions that are gone.
    """

    context: Context
    touched: dict[Point, int] = field(default_factory=dict)
    unread: dict[str, set[str]] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    @property
    def root(self) -> ast.ClassDef | ast.FunctionDef:
        """The class or function that the unit is."""
        return self.context.root

    def skip(self, at: Place, name: str | None) -> Skip | None:
        """Take out what stands at a place, or mentions `name` there; None where that is all of the unit."""
        for function in functions_of(self.root):
            if holds(function, at):
                return self._in_function(function, at, name)
        return self._of_module(at)

    def _of_module(self, at: Place) -> Skip | None:
        """A statement of the module class that is no function: attributes and infos of the module."""
        if not isinstance(self.root, ast.ClassDef):
            return None
        for statement in self.root.body:
            if holds(statement, at):
                if not _without_entry(statement, at):
                    self.root.body.remove(statement)
                return Skip(None)
        return None

    def _in_function(self, function: ast.FunctionDef, at: Place, name: str | None) -> Skip | None:
        if self.context.is_prim_func(function):
            found = innermost(function, at)
            if found is not None and _is_attributes(found.statement):
                self._attributes(found, at)
                return Skip(function.name)
            return self._drop(function)
        found = innermost(function, at)
        if found is None or isinstance(found.statement, ast.FunctionDef):
            inner = function if found is None else found.function
            done = self._signature(inner, at, name)
            return Skip(function.name) if done else self._drop(function)
        follows = bool(read_names(found.statement) & self.unread.get(function.name, set()))
        follows = follows or _mentions(found.statement, self.dropped)
        if _is_attributes(found.statement):
            self._attributes(found, at)
        elif not self._statement(function, found, at, name):
            return self._drop(function, follows=follows)
        return Skip(function.name, follows)

    def _attributes(self, found: Found, at: Place) -> None:
        if not _without_entry(found.statement, at):
            found.block.remove(found.statement)
            if not found.block:
                found.block.append(ast.copy_location(ast.Pass(), found.statement))

    def _signature(self, function: ast.FunctionDef, at: Place, name: str | None) -> bool:
        """Take parts of a signature out; whether there were any."""
        changed = False
        is_unsaid = _unsaid(at, name)
        for argument in function.args.args:
            if argument.annotation is not None and is_unsaid(argument.annotation):
                argument.annotation = self._left(argument.annotation, is_unsaid)
                changed = True
        if function.returns is not None and is_unsaid(function.returns):
            function.returns = self._left(function.returns, is_unsaid)
            changed = True
        return changed and self._once_more(at)

    def _left(self, type_: ast.expr, is_unsaid: IsUnsaid) -> ast.expr:
        """What can be said of a type."""
        left = erased(self.context, type_, is_unsaid)
        return left or unknown_type(self.context, type_) or type_

    def _once_more(self, at: Place) -> bool:
        self.touched[at[0]] = self.touched.get(at[0], 0) + 1
        return self.touched[at[0]] <= _ATTEMPTS

    # -- statements ----------------------------------------------------------------------------

    def _statement(self, function: ast.FunctionDef, found: Found, at: Place, name: str | None) -> bool:
        """Make what a statement computes opaque; False where it is none that computes a value."""
        statement = found.statement
        place = (statement.lineno, statement.col_offset)
        attempt = self.touched.get(place, 0)
        self.touched[place] = attempt + 1
        is_unsaid = _unsaid(at, name)
        if isinstance(statement, ast.AnnAssign) and is_unsaid(statement.annotation) and attempt == 0:
            statement.annotation = self._left(statement.annotation, is_unsaid)
            if not (statement.value is not None and is_unsaid(statement.value)):
                return True
        if attempt >= _ATTEMPTS:
            return False
        locals_ = self._locals(function)
        made = _Made(self.context, locals_, is_unsaid, typed=attempt == 0)
        if not made.replace(statement, found.block):
            return False
        self.unread.setdefault(function.name, set()).update(assigned_names(statement))
        return True

    def _locals(self, function: ast.FunctionDef) -> set[str]:
        """The names of a function that hold values of Relax, inner functions among them: who calls one may
        write what it captures.
        """
        names = {argument.arg for argument in function.args.args} | assigned_names(function)
        for node in ast.walk(function):
            if isinstance(node, ast.FunctionDef) and node is not function:
                names |= {node.name, *(argument.arg for argument in node.args.args)}
            match node:
                # `cls = Module`
                case ast.Assign(value=ast.Name(id=self.root.name)):
                    names -= assigned_names(node)
        return names - {self.root.name}

    # -- functions -----------------------------------------------------------------------------

    def _drop(self, function: ast.FunctionDef, *, follows: bool = False) -> Skip | None:
        """Take a whole function out: its callers call an unknown one."""
        relax = relax_name(self.context)
        if not isinstance(self.root, ast.ClassDef) or relax is None:
            return None
        self.root.body.remove(function)
        self.dropped.add(function.name)
        is_kernel = self.context.is_prim_func(function)
        result = None if is_kernel else _closed(self.context, function.returns)

        def change(node: ast.expr) -> ast.expr | None:
            if isinstance(node, ast.Call):
                return self._called(node, function.name, result, relax)
            return None

        for other in functions_of(self.root):
            if not self.context.is_prim_func(other):
                for index, statement in enumerate(other.body):
                    holder = ast.Module([statement], [])
                    replace_all(holder, change)
                    other.body[index] = holder.body[0]
        return Skip(function.name, follows)

    def _called(self, call: ast.Call, name: str, result: ast.expr | None, relax: str) -> ast.expr | None:
        """What a call of a function that is gone becomes."""
        if _is_member(call.func, name):
            return packed_call(relax, spelled(call.func), call.args, result, call)
        kind = self.context.relax(call.func)
        if kind not in ("call_tir", "call_tir_with_grad", "call_tir_inplace") or len(call.args) < 2:
            return None
        if not _is_member(call.args[0], name):
            return None
        inputs = call.args[1]
        given = list(inputs.elts) if isinstance(inputs, ast.Tuple | ast.List) else [inputs]
        types = keyword(call, "out_ty") or keyword(call, "out_sinfo")
        what = spelled(call.args[0])
        if kind == "call_tir_inplace":
            return packed_call(relax, what, given, None if types is None else types.value, call)
        plain = packed_call(relax, what, [], None, call)
        assert isinstance(plain, ast.Call)
        assert isinstance(plain.func, ast.Attribute)
        plain.func.attr = "call_dps_packed"
        plain.args.append(inputs)
        plain.args += call.args[2:3]
        plain.keywords = (
            [] if types is None else [ast.copy_location(ast.keyword("out_ty", types.value), call)]
        )
        return plain


# A statement is replaced with its type, then without; what still cannot be read costs the function.
_ATTEMPTS = 2


@dataclass(frozen=True)
class _Made:
    """Puts an opaque value where a statement computes one."""

    context: Context
    locals_: set[str]
    is_unsaid: IsUnsaid
    typed: bool

    def replace(self, statement: ast.stmt, block: list[ast.stmt]) -> bool:
        """Whether the statement is one that computes a value."""
        match statement:
            case ast.Assign(targets=[ast.Name()]) | ast.Return(value=ast.expr()):
                value = self._opaque(statement.value, None)  # type: ignore[arg-type]
                statement.value = value or statement.value
                return value is not None
            case ast.AnnAssign(target=ast.Name(), value=ast.expr()):
                assert statement.value is not None
                value = self._opaque(statement.value, statement.annotation)
                if value is None:
                    return False
                # The value has the type already; where it has none, the annotation would be refused.
                plain = ast.copy_location(ast.Assign([statement.target], value), statement)
                block[block.index(statement)] = plain
                return True
            case ast.Assign(targets=[ast.Tuple(elts=elements) as target]) if _are_names(elements):
                return self._unpacked(statement, target, block)
            case ast.If():
                truth = self._truth(statement.test)
                if truth is not None:
                    statement.test = truth
                return truth is not None
            case ast.Expr():
                value = self._opaque(statement.value, None)
                if value is None:
                    return False
                name = ast.copy_location(ast.Name("_", ast.Store()), statement)
                block[block.index(statement)] = ast.copy_location(ast.Assign([name], value), statement)
                return True
        return False

    def _opaque(self, value: ast.expr, declared: ast.expr | None) -> ast.expr | None:
        return opaque_value(self.context, value, declared, self.locals_, self.is_unsaid, typed=self.typed)

    def _truth(self, test: ast.expr) -> ast.expr | None:
        relax = relax_name(self.context)
        if relax is None:
            return None
        text = f'{relax}.Tensor((), "bool")'
        type_ = ast.parse(text, mode="eval").body
        for node in ast.walk(type_):
            ast.copy_location(node, test)
        return self._opaque(test, type_)

    def _unpacked(self, statement: ast.Assign, target: ast.Tuple, block: list[ast.stmt]) -> bool:
        """`a, b = f(x)` as a tuple of unknown values, and its fields one by one."""
        relax = relax_name(self.context)
        if relax is None or self.typed is False:
            return False
        fields = ", ".join([f"{relax}.Any"] * len(target.elts))
        type_ = ast.parse(f"{relax}.Tuple({fields})", mode="eval").body
        for node in ast.walk(type_):
            ast.copy_location(node, statement.value)
        value = self._opaque(statement.value, type_)
        if value is None:
            return False
        names = [element.id for element in target.elts if isinstance(element, ast.Name)]
        # A name that no unit can have: it would be one of a list of at most these.
        whole = "_".join(["fields", *names])
        text = "\n".join([f"{whole} = 0", *(f"{n} = {whole}[{i}]" for i, n in enumerate(names))])
        statements = ast.parse(text).body
        for made in statements:
            for node in ast.walk(made):
                ast.copy_location(node, statement)
        first = statements[0]
        assert isinstance(first, ast.Assign)
        first.value = value
        at = block.index(statement)
        block[at : at + 1] = statements
        return True


def _are_names(elements: list[ast.expr]) -> bool:
    return all(isinstance(element, ast.Name) for element in elements)


def _unsaid(at: Place, name: str | None) -> IsUnsaid:
    def is_unsaid(part: ast.expr) -> bool:
        return holds(part, at) or (name is not None and name in _words(part))

    return is_unsaid


def _words(node: ast.AST) -> set[str]:
    """The names in a tree, those in strings included."""
    found = read_names(node)
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str) and child.value.isidentifier():
            found.add(child.value)
    return found


def _is_attributes(statement: ast.stmt) -> bool:
    """Whether a statement is `R.func_attr({...})`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="func_attr"))):
            return True
    return False


def _without_entry(statement: ast.stmt, at: Place) -> bool:
    """Take the entry at a place out of the dictionary of a statement; False where it has none there."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Dict):
            for index, value in enumerate(node.values):
                key = node.keys[index]
                if holds(value, at) or (key is not None and holds(key, at)):
                    del node.keys[index], node.values[index]
                    return True
    return False


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(child, ast.Attribute) and child.attr in names for child in ast.walk(node))


def _is_member(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr == name


def _closed(context: Context, type_: ast.expr | None) -> ast.expr | None:
    """A type without what only means something in its own function."""

    def is_open(part: ast.expr) -> bool:
        for node in ast.walk(part):
            if isinstance(node, ast.Tuple | ast.List) and not all(map(_is_number, node.elts)):
                return True
            if isinstance(node, ast.Name) and node.id not in context.imports:
                return True
        return False

    return None if type_ is None else erased(context, type_, is_open)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
