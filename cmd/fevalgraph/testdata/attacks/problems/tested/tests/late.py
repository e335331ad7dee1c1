def check(got, want):
    assert got == want
