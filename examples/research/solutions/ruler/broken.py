def solve(marks):
    raise ValueError("no idea")
