"""Whether NVRTC is here."""

import pytest

from cardan._compiler.targets.cuda import compiler
from cardan.errors import MissingExtraError, TargetError

try:
    compiler.version()
    WHY = ""
except (MissingExtraError, TargetError) as error:
    WHY = str(error)
needs_nvrtc = pytest.mark.skipif(bool(WHY), reason=WHY)
