def solve(marks):
    return [2**i for i in range(marks)]
