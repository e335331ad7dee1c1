import solution
from solution import LIMIT as L


def twice():
    return 2 * L, solution.LIMIT
