"""Classes that say what was meant by an attribute they do not have, or a keyword they are not made with.

Nothing is looked up before there is something to say.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABCMeta
from collections.abc import Callable, Collection
from dataclasses import FrozenInstanceError, fields
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

SUGGESTIONS: list[Callable[..., str]] = []
"""What ends messages about missing names: functions of the class, or the module's name, and the missing name.

Of a keyword, the third argument holds the names that the class, or a function of that name, takes.
"""


def meant(owner: type | str, word: str, names: Collection[str] | None = None) -> str:
    """Return the end of a message about a missing name: what was meant."""
    return "".join(suggest(owner, word, names) for suggest in SUGGESTIONS)


class UnknownAttributeError(AttributeError):
    """An attribute that does not exist, of an object of a class, a class, or a module.

    What was meant is looked up when the message is read: probing for a name, as `hasattr` does, costs nothing.
    """

    def __init__(self, owner: type | str, name: str, whose: str = "object") -> None:
        super().__init__(owner, name, whose)
        self.owner = owner
        self.name = name
        self.word = name
        self.whose = whose

    def __str__(self) -> str:
        if isinstance(self.owner, str):
            asked = f"module {self.owner!r}"
        else:
            name = repr(self.owner.__name__)
            asked = f"{name} object" if self.whose == "object" else f"{self.whose} {name}"
        end = "" if self.word.startswith("_") else meant(self.owner, self.word)
        return f"{asked} has no attribute {self.word!r}{end}"


def _with_meaning(
    error: TypeError, owner: type | str, signature: inspect.Signature, keywords: Collection[str]
) -> TypeError:
    known = signature.parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
    unknown = next((name for name in keywords if not takes_any and name not in known), "")
    return TypeError(f"{error}{meant(owner, unknown, known)}")


def explained_keywords(method: Callable[P, R]) -> Callable[P, R]:
    """Return a method that says what was meant by a keyword that it does not take."""

    @functools.wraps(method)
    def of_known_keywords(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # of the method's own lines
                raise
            raise _with_meaning(error, method.__qualname__, inspect.signature(method), kwargs) from None

    return of_known_keywords


def _refuse(self: Any, name: str, *value: Any) -> None:
    """Stand for `__setattr__` and `__delattr__` of what does not change; what a plain subclass has more may."""
    kind = type(self)
    if name not in [field.name for field in fields(self) if field.init]:
        if "__dataclass_params__" in vars(kind):
            raise UnknownAttributeError(kind, name)
        return object.__setattr__(self, name, *value) if value else object.__delattr__(self, name)
    raise FrozenInstanceError(f"{kind.__name__} does not change: make another, dataclasses.replace(it, {name}=...)")


class _SaysNames(type):
    """The type of `ExplainedNames`: a class says itself what was meant, as in `cardan.SE3.Identity()`."""

    if not TYPE_CHECKING:

        def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
            super().__init__(name, bases, namespace)
            own = namespace.get("__dataclass_params__")
            if own is not None and own.frozen:  # the class with slots, whose `super()` is still that without them
                cls.__setattr__ = cls.__delattr__ = _refuse

        def __getattr__(cls, name: str) -> Any:
            raise UnknownAttributeError(cls, name, "type")


class _SaysKeywords(_SaysNames):
    """The type of `Explained`. A call takes 0.3 us longer."""

    if not TYPE_CHECKING:

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            try:
                return super().__call__(*args, **kwargs)
            except TypeError as error:
                if error.__traceback__.tb_next is not None:  # of the constructor's own lines: it was called rightly
                    raise
                raise _with_meaning(error, cls, cls.__signature__, kwargs) from None

        @property
        def __signature__(cls) -> inspect.Signature:
            """That of the constructor: `inspect` would find the arguments of `__call__`."""
            signature = inspect.signature(cls.__init__)
            return signature.replace(parameters=list(signature.parameters.values())[1:])


class _SaysKeywordsABC(_SaysKeywords, ABCMeta):
    """The type of `ExplainedABC`."""


class ExplainedNames(metaclass=_SaysNames):
    """A class that says what was meant by an attribute that it, or an instance, does not have.

    Such are values that are made by the thousand while a function is traced.
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # to which there is no such attribute

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):  # a property, which failed: its own error is what counts
                return object.__getattribute__(self, name)
            raise UnknownAttributeError(type(self), name)


class Explained(ExplainedNames, metaclass=_SaysKeywords):
    """A class that says what was meant by a keyword that it is not made with, too."""

    __slots__ = ()


class ExplainedABC(Explained, metaclass=_SaysKeywordsABC):
    """The same of a class with abstract methods."""

    __slots__ = ()


class _Settles(_SaysKeywordsABC):
    """The type of `ExplainedSettings`: what is made has all its attributes."""

    if not TYPE_CHECKING:

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            made = super().__call__(*args, **kwargs)
            vars(made)["_is_made"] = True
            return made


class ExplainedSettings(ExplainedABC, metaclass=_Settles):
    """The same of a class with attributes to set, which says so of one that is set and that nobody would read."""

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            own, kind = vars(self), type(self)
            if "_is_made" in own and name not in own and name[:1] != "_" and not hasattr(kind, name):
                raise UnknownAttributeError(kind, name)
            super().__setattr__(name, value)
