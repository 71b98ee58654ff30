import os
import tempfile

# A generated program's cache, a picture library's settings: all in a folder that goes away.
_TEMPORARY = tempfile.TemporaryDirectory(prefix="cardan-tests-")
os.environ["XDG_CACHE_HOME"] = os.environ["CARDAN_CACHE_DIR"] = os.environ["MPLCONFIGDIR"] = _TEMPORARY.name
