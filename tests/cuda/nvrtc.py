"""Whether NVRTC is here."""

import pytest

from cardan.errors import MissingExtraError, TargetError
from cardan.targets.cuda import compiler

try:
    compiler.version()
    WHY = ""
except (MissingExtraError, TargetError) as error:
    WHY = str(error)
needs_nvrtc = pytest.mark.skipif(bool(WHY), reason=WHY)
