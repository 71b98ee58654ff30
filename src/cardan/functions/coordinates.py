"""A model's vectors in other coordinates, compiled both ways: what representations and peers' conventions share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from cardan import algorithms
from cardan.algorithms import Coordinates
from cardan.errors import MechanismError, ShapeError
from cardan.functions.arguments import is_symbolic, numeric_array
from cardan.functions.function import Function
from cardan.model import Model, economical


class OtherCoordinates(ABC):
    """The model's q, v and what goes along them, in other coordinates "there" (a dash marks them: q', v').

    Methods are compiled on first use and take batches, as every function of cardan. Those that begin with `from_` take
    everything as it is there and return it as it is here. Efforts do the same work: tau' . v' = tau . v. Accelerations
    are time derivatives of the velocities' components.

    Attributes:
        model: the model.
        nq: number of configuration coordinates there.
        nv: number of velocities there.
        followers: names of the joints with coordinates there and none here: mimic joints.
    """

    def __init__(self, model: Model, nq: int, nv: int, followers: tuple[str, ...] = ()) -> None:
        if model.inputs:
            raise MechanismError(
                f"model {model.name!r} has inputs ({', '.join(model.inputs)}): convert with the model without them, "
                "or model.with_values(...)."
            )
        self.model, self.nq, self.nv, self.followers = model, nq, nv, followers
        self._functions: dict[Any, Function] = {}

    # --- what an implementation says ---

    @abstractmethod
    def _there(self, model: Model, q: Sequence[Any]) -> list[Any]:
        """Return q'."""

    @abstractmethod
    def _here(self, model: Model, q: Sequence[Any]) -> list[Any]:
        """Return q from q'."""

    @abstractmethod
    def _coordinates(self, model: Model, q: Sequence[Any], v: Sequence[Any] | None) -> Coordinates:
        """Return the change of velocity coordinates at the state q, v here, without rates if v is None."""

    def _effort_there(self, model: Model, q: Sequence[Any], tau: list[Any]) -> list[Any]:
        """Return tau' from efforts that are already along v'."""
        return tau

    def _effort_here(self, model: Model, q: Sequence[Any], tau: list[Any]) -> list[Any]:
        """Return efforts along v' from tau'."""
        return tau

    # --- states ---

    def configuration(self, q: Any) -> Any:
        """Return q', shape (..., nq'), from q."""
        return self._run("configuration", lambda model, q: self._there(model, q), {})(self.model, q)

    def from_configuration(self, q: Any) -> Any:
        """Return q, shape (..., nq), from q'."""
        return self._run("from_configuration", lambda model, q: self._here(model, q), self._sizes("q"))(self.model, q)

    def velocity(self, q: Any, v: Any) -> Any:
        """Return v', shape (..., nv'), from q and v."""

        def velocity(model: Model, q: Any, v: Any) -> Any:
            return self._coordinates(model, q, None).forward(v)

        return self._run("velocity", velocity, {})(self.model, q, v)

    def from_velocity(self, q: Any, v: Any) -> Any:
        """Return v, shape (..., nv), from q' and v'."""

        def from_velocity(model: Model, q: Any, v: Any) -> Any:
            return self._coordinates(model, self._here(model, q), None).backward(v)

        return self._run("from_velocity", from_velocity, self._sizes("q", "v"))(self.model, q, v)

    def acceleration(self, q: Any, v: Any, a: Any) -> Any:
        """Return dv'/dt, shape (..., nv'), from q, v and a."""

        def acceleration(model: Model, q: Any, v: Any, a: Any) -> Any:
            return self._coordinates(model, q, v).acceleration(v, a)

        return self._run("acceleration", acceleration, {})(self.model, q, v, a)

    def from_acceleration(self, q: Any, v: Any, a: Any) -> Any:
        """Return a, shape (..., nv), from q', v' and dv'/dt."""

        def from_acceleration(model: Model, q: Any, v: Any, a: Any) -> Any:
            q, v = self._state(model, q, v)
            return self._coordinates(model, q, v).acceleration_back(v, a)

        return self._run("from_acceleration", from_acceleration, self._sizes("q", "v", "a"))(self.model, q, v, a)

    def effort(self, q: Any, tau: Any) -> Any:
        """Return tau', shape (..., nv'), of the same work, from q and tau. Followers get none."""

        def effort(model: Model, q: Any, tau: Any) -> Any:
            return self._effort_there(model, q, self._coordinates(model, q, None).backward_transposed(tau))

        return self._run("effort", effort, {})(self.model, q, tau)

    def from_effort(self, q: Any, tau: Any) -> Any:
        """Return tau, shape (..., nv), from q' and tau'. Those on followers are felt by what they follow."""

        def from_effort(model: Model, q: Any, tau: Any) -> Any:
            q = self._here(model, q)
            return self._coordinates(model, q, None).forward_transposed(self._effort_here(model, q, tau))

        return self._run("from_effort", from_effort, self._sizes("q", "tau"))(self.model, q, tau)

    # --- matrices along v ---

    def mass_matrix(self, q: Any, M: Any = None) -> Any:
        """Return M', shape (..., nv', nv'), from q and M, shape (..., nv, nv); by default the model's own M.

        Raises:
            MechanismError: if there are followers: M does not know what M' is.
        """
        self._check_invertible("mass_matrix")

        def mass_matrix(model: Model, q: Any, M: Any = None) -> Any:
            M = algorithms.mass_matrix(economical(model), q) if M is None else M
            return self._coordinates(model, q, None).matrix(M)

        return self._run("mass_matrix", mass_matrix, {"M": ("nv", "nv")})(self.model, q, M)

    def from_mass_matrix(self, q: Any, M: Any) -> Any:
        """Return M, shape (..., nv, nv), from q' and M'."""

        def from_mass_matrix(model: Model, q: Any, M: Any) -> Any:
            return self._coordinates(model, self._here(model, q), None).matrix_back(M)

        sizes = self._sizes("q") | {"M": (self.nv, self.nv)}
        return self._run("from_mass_matrix", from_mass_matrix, sizes)(self.model, q, M)

    def coriolis_matrix(self, q: Any, v: Any) -> Any:
        """Return C', shape (..., nv', nv'), at q and v: C' v' + g' = `bias_forces`, and dM'/dt - 2 C' is skew.

        Raises:
            MechanismError: if there are followers.
        """
        self._check_invertible("coriolis_matrix")

        def coriolis_matrix(model: Model, q: Any, v: Any) -> Any:
            M, C = algorithms.mass_matrix(model, q), algorithms.coriolis_matrix(model, q, v)
            return self._coordinates(model, q, v).coriolis_matrix(M, C)

        return self._run("coriolis_matrix", coriolis_matrix, {})(self.model, q, v)

    def bias_forces(self, q: Any, v: Any) -> Any:
        """Return C' v' + g', shape (..., nv'), at q and v: the efforts tau' at dv'/dt = 0.

        Raises:
            MechanismError: if there are followers.
        """
        self._check_invertible("bias_forces")

        def bias_forces(model: Model, q: Any, v: Any) -> Any:
            found = self._coordinates(model, q, v).bias_forces(economical(model), q, v)
            return self._effort_there(model, q, found)

        return self._run("bias_forces", bias_forces, {})(self.model, q, v)

    def jacobian(self, q: Any, J: Any) -> Any:
        """Return J', shape (..., rows, nv'), from q and J, shape (..., rows, nv): J' v' = J v.

        Raises:
            MechanismError: if there are followers.
        """
        self._check_invertible("jacobian")

        def jacobian(model: Model, q: Any, J: Any) -> Any:
            return self._coordinates(model, q, None).jacobian(J)

        shape = (self._rows("jacobian", J, self.model.nv), "nv")
        return self._run("jacobian", jacobian, {"J": shape})(self.model, q, J)

    def from_jacobian(self, q: Any, J: Any) -> Any:
        """Return J, shape (..., rows, nv), from q' and J', shape (..., rows, nv')."""

        def from_jacobian(model: Model, q: Any, J: Any) -> Any:
            return self._coordinates(model, self._here(model, q), None).jacobian_back(J)

        sizes = self._sizes("q") | {"J": (self._rows("from_jacobian", J, self.nv), self.nv)}
        return self._run("from_jacobian", from_jacobian, sizes)(self.model, q, J)

    # --- help ---

    def _state(self, model: Model, q: Any, v: Any) -> tuple[Any, Any]:
        """Return q and v from q' and v'."""
        q = self._here(model, q)
        return q, self._coordinates(model, q, None).backward(v)

    def _sizes(self, *names: str) -> dict[str, tuple[int, ...]]:
        return {name: (self.nq if name == "q" else self.nv,) for name in names}

    def _run(self, name: str, kernel: Callable[..., Any], shapes: dict[str, Any], key: Any = ()) -> Function:
        """Return the compiled function of a kernel, made once."""
        key = name, *shapes.items(), key
        if key not in self._functions:
            kernel.__name__ = name
            self._functions[key] = Function(kernel, shapes)
        return self._functions[key]

    def _rows(self, where: str, J: Any, columns: int) -> int:
        if is_symbolic(J):
            return len(J)
        array = numeric_array(where, "J", J)
        if array.ndim < 2:
            raise ShapeError(where, "J", got=array.shape, expected=f"(..., rows, {columns})")
        return array.shape[-2]

    def _check_invertible(self, what: str) -> None:
        if self.followers:
            names = ", ".join(map(repr, self.followers))
            raise MechanismError(
                f"{what}: {names} mimic other joints, but have coordinates of their own there, for which this model "
                f"knows no {what}. The other way, from_{what}, is defined where there is one."
            )
