import pytest


def pytest_addoption(parser):
    parser.addoption("--entrypoint")
    parser.addoption("--checkpoint")


@pytest.fixture
def entrypoint(request):
    return request.config.getoption("--entrypoint")
