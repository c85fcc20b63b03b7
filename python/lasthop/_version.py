"""Versions of mechanisms in Python. A version is part of a stored run's key, so that a sweep runs a changed class again."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

_INSTALLED = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))

# Python sets these attributes itself, some of them only when an object is first copied.
_WITHOUT_EFFECT = (
    "__abstractmethods__",
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__slotnames__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
)


def of_strategy(made: object) -> str:
    """Returns the version of a strategy (a Python mechanism): the attribute `version`, or a digest of the source. If
    the object has attributes of its own, a digest of these attributes follows.

    The source covers the classes of the strategy, and the functions, classes and constants of the user's code that the
    methods use, also through closures. An installed package is represented by its name and version.
    """
    given = getattr(type(made), "version", None)
    version = str(given) if given is not None else _digest(type(made))
    state = {name: value for name, value in vars(made).items() if not (value is None or _is_empty_list(value))}
    return f"{version}-{_digest(state)}" if state else version


def _is_empty_list(value: object) -> bool:
    return isinstance(value, list) and not value


def modules_of(made: object) -> list[str]:
    """Returns the names of the user's modules, without the main program, in which the classes of a strategy are."""
    names = {one.__module__ for one in type(made).__mro__}
    return sorted(name for name in names if name in sys.modules and name != "__main__" and not _is_installed(name))


def _digest(value: object) -> str:
    digest = hashlib.sha256()
    for part in _parts(value, set()):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:10]


def _parts(value: object, seen: set[int]) -> Iterator[str]:
    """Yields texts that identify a value."""
    if isinstance(value, str | bytes | int | float | complex | bool | type(None) | type(Ellipsis)):
        yield f"{type(value).__name__} {value!r}"
        return
    if id(value) in seen:
        yield "seen"
        return
    seen.add(id(value))
    match value:
        case MethodType():
            yield from _parts(value.__func__, seen)
            yield from _parts(value.__self__, seen)
        case FunctionType():
            yield from _of_function(value, seen)
        case type():
            yield from _of_class(value, seen)
        case BuiltinFunctionType():
            yield f"builtin {value.__module__}.{value.__qualname__}"
        case ModuleType():
            yield f"module {value.__name__} {getattr(value, '__version__', '')}"
        case Mapping():
            for name, one in value.items():
                yield from _parts(name, seen)
                yield from _parts(one, seen)
        case list() | tuple():
            yield type(value).__name__
            for one in value:
                yield from _parts(one, seen)
        case set() | frozenset():
            yield f"set {sorted(map(repr, value))}"
        case staticmethod() | classmethod():
            yield from _parts(value.__func__, seen)
        case property():
            for function in (value.fget, value.fset):
                yield from _parts(function, seen)
        case CodeType():
            yield f"code {value.co_code.hex()} {value.co_names}"
            for constant in value.co_consts:
                yield from _parts(constant, seen)
        case _:
            yield from _of_object(value, seen)


def _of_class(of: type, seen: set[int]) -> Iterator[str]:
    for one in of.__mro__:
        if one is not of and _is_installed(one.__module__):
            yield f"class {one.__module__}.{one.__qualname__}"
            continue
        yield f"class {one.__qualname__}"
        for name, value in vars(one).items():
            if name not in _WITHOUT_EFFECT:
                yield name
                yield from _parts(value, seen)


def _of_function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    if _is_installed(function.__module__):
        yield f"function {function.__module__}.{function.__qualname__}"
        return
    try:
        yield inspect.getsource(function)
    except (OSError, TypeError):  # The function was typed at a prompt.
        yield from _parts(function.__code__, seen)
    yield from _parts(function.__defaults__, seen)
    yield from _parts(function.__kwdefaults__, seen)
    for cell in function.__closure__ or ():
        try:
            yield from _parts(cell.cell_contents, seen)
        except ValueError:  # The closure's cell is empty.
            yield "empty"
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name
            yield from _parts(function.__globals__[name], seen)


def _of_object(value: object, seen: set[int]) -> Iterator[str]:
    try:
        yield pickle.dumps(value, protocol=4).hex()
    except Exception:
        yield from _parts(type(value), seen)
        yield from _parts(getattr(value, "__dict__", None), seen)


def _names(code: CodeType) -> list[str]:
    """Returns the names that a function and its inner functions use, sorted."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_names(constant))
    return sorted(names)


def _is_installed(module: str | None) -> bool:
    """Whether a module belongs to Python or to an installed package, and not to the user's code."""
    if module is None or module == "__main__":
        return False
    if module.partition(".")[0] in ("lasthop", *sys.builtin_module_names, *sys.stdlib_module_names):
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and file.startswith(_INSTALLED)
