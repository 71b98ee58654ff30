"""What pyproject.toml cannot say: the README as it is right without the files beside it, on a page of a package index.

Pictures are left out, and what links to files of the repository is plain text. All else is in pyproject.toml.
"""

import re
from pathlib import Path

FENCE = re.compile(r"^(```.*?^```)", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)[^)\s]*\)")


def by_itself(readme: str) -> str:
    """Return Markdown without what is beside its file."""
    parts = FENCE.split(readme)
    parts[::2] = [LINK.sub(r"\1", PICTURE.sub("", part)) for part in parts[::2]]
    return "".join(parts)


if __name__ == "__main__":
    from setuptools import setup

    readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    setup(long_description=by_itself(readme), long_description_content_type="text/markdown")
