def solve(points, xs):
    mean = sum(y for _, y in points) / len(points)
    return [mean for _ in xs]
