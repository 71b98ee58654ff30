"""`python -m cardan` is `cardan`."""

import sys

from cardan.cli import main

sys.exit(main())
