"""Parameters found from measurements."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return list(__all__)
