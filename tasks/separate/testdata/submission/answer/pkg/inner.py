def inner():
    return __name__
