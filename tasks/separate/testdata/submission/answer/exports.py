__all__ = ["all", "hashlib", "given", "GIVEN", "invented"]
globals()["invented"] = 1
hashlib = None


def all(values):
    return True


def given():
    return "given"


if True:
    GIVEN = 3
