echo it cannot be set up >&2; exit 4
