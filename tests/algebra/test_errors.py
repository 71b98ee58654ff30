"""Errors: one base, data kept, messages that say what, got, expected and how to mend it."""

import inspect
import pickle

import pytest

import cardan
from cardan import errors

EXAMPLES = [
    errors.ParameterError("axis", got=(0, 0, 0), expected="three numbers, not all zero", hint="Use z."),
    errors.ShapeError("rnea", "q", got=(3,), expected="(..., 7)"),
    errors.DTypeError("rnea", "q", got="text", expected="numbers"),
    errors.UnknownNameError("frame", "tol", ["tool", "base"]),
    errors.DuplicateNameError("body", "arm", "mechanism 'm'"),
    errors.JointError("Knee: its transform cannot be differentiated"),
    errors.MechanismError("a loop"),
    errors.ReachError("Revolute()", 0.5, 1e-7),
    errors.AssemblyError("configuration", "knee", 0.25, 1e-12, rows=[(0,), (3,)]),
    errors.ConfigurationError("mass_matrix", "q", 3, 7, rows=[1]),
    errors.NotFiniteError("mass_matrix", "q", (2, 0), float("inf")),
    errors.ResultError("f", got="a result of shape (2, 3)", expected="(3, 2)"),
    errors.FunctionReferenceError("__main__", "f"),
    errors.TraceError("no scalar"),
    errors.ProgramError("%3 uses %4"),
    errors.TargetError("no fused multiply-add"),
    errors.MissingExtraError("drawing", "plot"),
    errors.DescriptionError(
        [errors.Fault("arm.urdf", 3, "no name"), errors.Fault("arm.urdf", 9, "no link", "warning")]
    ),
    errors.StaleProgramError("height"),
    errors.FunctionReferenceError("tools", "height"),
    errors.ResultError("height", got="a list", expected="one shape for all"),
    errors.NotFiniteError("rnea", "q", (0, 1), float("inf")),
    errors.ConfigurationError("rnea", "q", 3, 7, [0, 2]),
    errors.UnsupportedError("joint 'knee' (Spline)", "MuJoCo", "lock it"),
    errors.DeviceMemoryError("an array of 2 GB"),
    errors.ChunkError("rnea", 400, 500, reason=RuntimeError("killed")),
    errors.OpenLoopError("forward_dynamics", "q", "knee", 0.25, [1]),
    errors.PluginError("cardan.arrays", "dpnp.ndarray", "their-package", "theirs.arrays", ImportError("no dpnp")),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda e: type(e).__name__)
def test_errors_survive_pickling_with_their_data(error):
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert twin.__dict__ == error.__dict__
    assert isinstance(twin, cardan.CardanError)


def test_every_error_has_an_example_here():
    kinds = {c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, cardan.CardanError)}
    assert kinds - {cardan.CardanError} == {type(e) for e in EXAMPLES}


def test_messages():
    texts = [str(e) for e in EXAMPLES]
    assert texts[0] == "axis: got (0, 0, 0), expected three numbers, not all zero. Use z."
    assert texts[1] == "rnea: argument 'q' has shape (3,), expected (..., 7)."
    assert texts[3] == "there is no frame named 'tol'; did you mean 'tool'?"
    assert 'pip install "cardan[plot]"' in texts[16]
    assert texts[17] == "arm.urdf:3: error: no name\narm.urdf:9: warning: no link"
    assert "leaves 'knee' open by 0.25" in texts[8]
    assert "in 2 rows of the batch ((0,), (3,))" in texts[8]
    assert "the names are 'tool', 'base'" in str(errors.UnknownNameError("frame", "qqq", ["tool", "base"]))
