"""`python -m cardan` is `cardan`."""

import sys

from cardan._reach.cli import main

sys.exit(main())
